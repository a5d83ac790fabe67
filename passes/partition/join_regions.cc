// Every value gets a level that never falls along an edge and rises where the edge enters or leaves
// a region, so that no path leads out of a region and back into it. A region is a set of values
// that edges within one target and one level connect.
//
// First, each value takes the lowest level that its inputs allow. That may separate a value from a
// reader that is higher because of another input. So then, readers first, a region rises to the
// lowest readers of its target as far as its other readers permit, and a value without a target
// rises as far as it can.
//
// Values that are computed in different bodies of lets, or in different branches of ifs, count as
// those of different targets: what one of them reads may not be bound where the other is read.
#include "tenon/passes/partition/join_regions.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/node_table.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/fusion/let_homes.h"
#include "tenon/passes/partition/union_find.h"

namespace tenon::passes {
namespace {

using ir::Expr;

constexpr std::size_t kNoTarget = static_cast<std::size_t>(-1);
constexpr int kAnyLevel = std::numeric_limits<int>::max();

class RegionJoiner {
 public:
  RegionJoiner(const Expr& function, const TargetOf& target_of) {
    Number(function);
    FindEdges();
    const LetHomes homes = LetHomesOf(function);
    std::map<std::pair<std::string, ir::ScopeTree::Scope>, std::size_t> numbers;
    for (const Expr& value : values_) {
      const std::string target = target_of(value);
      target_.push_back(
          target.empty()
              ? kNoTarget
              : numbers.try_emplace({target, homes.at(value)}, numbers.size()).first->second);
      sets_.Add();
    }
  }

  std::vector<std::vector<Expr>> Join() {
    Sink();
    Rise();
    std::vector<std::vector<Expr>> regions;
    std::unordered_map<std::size_t, std::size_t> region_of_set;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      if (target_[i] == kNoTarget) continue;
      const auto [known, is_new] = region_of_set.emplace(sets_.Find(i), regions.size());
      if (is_new) regions.emplace_back();
      regions[known->second].push_back(values_[i]);
    }
    return regions;
  }

 private:
  // Producers first. The variable of a let comes after the value to which it is bound.
  void Number(const Expr& function) {
    const auto add = [&](const Expr& e) {
      number_.TryEmplace(e, values_.size());
      values_.push_back(e);
    };
    const auto add_with_variables = [&](const Expr& e) {
      add(e);
      const auto bound = bound_.find(e);
      if (bound != bound_.end()) std::for_each(bound->second.begin(), bound->second.end(), add);
    };
    std::unordered_set<Expr, ir::ExprHash> variables;
    ir::VisitPostOrder(
        function,
        [&](const Expr& e) {
          if (e.kind() != ir::ExprKind::kOp && !variables.contains(e)) add_with_variables(e);
        },
        [&](const Expr& e) {
          if (const auto* let = e.As<ir::LetNode>()) {
            variables.insert(let->var);
            bound_[let->value].push_back(let->var);
            if (number_.Get(let->value) != nullptr) add(let->var);
          }
          return e == function || e.kind() != ir::ExprKind::kFunction;
        });
  }

  void FindEdges() {
    readers_.resize(values_.size());
    inputs_.resize(values_.size());
    const auto connect = [&](const Expr& from, const Expr& to) {
      const std::size_t* source = number_.Get(from);
      const std::size_t* target = number_.Get(to);
      if (source == nullptr || target == nullptr) return;
      readers_[*source].push_back(*target);
      inputs_[*target].push_back(*source);
    };
    for (const Expr& e : values_) {
      if (e.kind() == ir::ExprKind::kFunction) continue;
      for (const Expr& child : ir::Children(e)) {
        const auto* let = e.As<ir::LetNode>();
        if (let == nullptr || !(child == let->var)) connect(child, e);
      }
    }
    for (const auto& [value, variables] : bound_) {
      for (const Expr& variable : variables) connect(value, variable);
    }
  }

  bool SameTarget(std::size_t a, std::size_t b) const { return target_[a] == target_[b]; }

  // The lowest levels, and the regions that they make.
  void Sink() {
    level_.resize(values_.size(), 0);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      for (const std::size_t input : inputs_[i])
        level_[i] = std::max(level_[i], level_[input] + (SameTarget(input, i) ? 0 : 1));
      for (const std::size_t input : inputs_[i]) {
        if (target_[i] != kNoTarget && SameTarget(input, i) && level_[input] == level_[i])
          sets_.Join(input, i);
      }
    }
  }

  void Rise() {
    std::vector<std::size_t> order(values_.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<std::vector<std::size_t>> members(values_.size());
    for (const std::size_t i : order) members[sets_.Find(i)].push_back(i);
    std::vector<std::size_t> units;  // by their last members
    for (const std::size_t i : order) {
      if (members[sets_.Find(i)].back() == i) units.push_back(sets_.Find(i));
    }
    // Readers first: they have higher levels or, without targets, higher numbers.
    std::stable_sort(units.begin(), units.end(),
                     [&](std::size_t a, std::size_t b) { return level_[a] < level_[b]; });
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) RiseUnit(members[*unit]);
  }

  void RiseUnit(const std::vector<std::size_t>& members) {
    const std::size_t any = members.front();
    const auto is_inside = [&](std::size_t i) { return sets_.Find(i) == sets_.Find(any); };
    int highest = kAnyLevel;
    int lowest_neighbour = kAnyLevel;
    std::vector<std::size_t> neighbours;
    for (const std::size_t member : members) {
      for (const std::size_t reader : readers_[member]) {
        if (is_inside(reader)) continue;
        const int level = level_[sets_.Find(reader)];
        const bool is_neighbour = SameTarget(reader, member);
        highest = std::min(highest, is_neighbour ? level : level - 1);
        if (!is_neighbour) continue;
        neighbours.push_back(reader);
        lowest_neighbour = std::min(lowest_neighbour, level);
      }
    }
    if (target_[any] == kNoTarget) {
      if (highest != kAnyLevel) level_[any] = highest;
      return;
    }
    if (neighbours.empty() || lowest_neighbour > highest) return;
    for (const std::size_t neighbour : neighbours) {
      if (level_[sets_.Find(neighbour)] != lowest_neighbour) continue;
      sets_.Join(any, neighbour);
      level_[sets_.Find(any)] = lowest_neighbour;
    }
  }

  std::vector<Expr> values_;
  ir::NodeTable<std::size_t> number_;
  std::unordered_map<Expr, std::vector<Expr>, ir::ExprHash> bound_;  // values, variables
  std::vector<std::vector<std::size_t>> readers_, inputs_;
  std::vector<std::size_t> target_;
  UnionFind sets_;
  std::vector<int> level_;  // final for the value that stands for a set
};

}  // namespace

std::vector<std::vector<Expr>> JoinRegions(const Expr& function, const TargetOf& target_of) {
  return RegionJoiner(function, target_of).Join();
}

}  // namespace tenon::passes
