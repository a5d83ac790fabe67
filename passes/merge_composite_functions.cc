// Calls are visited producers first, as in Relax's pass of the name. A call may join the region of
// an argument when none of its other inputs depends on that region; the search for such a
// dependency goes up from those inputs, through whole regions, and stops above the region's first
// member.
#include "tenon/passes/merge_composite_functions.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/outline_groups.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::FunctionNode;

// The composite function that is called, or null.
Expr CompositeOf(const ir::Module& module, const Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  const auto* global = call == nullptr ? nullptr : call->callee.As<ir::GlobalVarNode>();
  const Expr callee = global == nullptr ? Expr() : module.Find(global->name);
  return callee && callee.As<FunctionNode>()->HasAttr("Composite") ? callee : Expr();
}

std::string CodegenOf(const Expr& composite) {
  const auto* name = composite.As<FunctionNode>()->attrs.at("Composite").As<std::string>();
  return name == nullptr ? std::string() : name->substr(0, name->find('.'));
}

class RegionFinder {
 public:
  explicit RegionFinder(const ir::Module& module) : module_(module) {}

  // Regions of composite calls, producers first.
  std::vector<std::vector<Expr>> Find(const Expr& function) {
    ir::VisitPostOrder(
        function,
        [&](const Expr& e) {
          position_.emplace(e, position_.size());
          if (const Expr composite = CompositeOf(module_, e)) Place(e, CodegenOf(composite));
        },
        [&](const Expr& e) { return e == function || e.kind() != ir::ExprKind::kFunction; });
    std::vector<std::vector<Expr>> found;
    for (Region& region : regions_) {
      if (region.members.empty()) continue;
      std::sort(region.members.begin(), region.members.end(),
                [&](const Expr& a, const Expr& b) { return position_.at(a) < position_.at(b); });
      found.push_back(std::move(region.members));
    }
    return found;
  }

 private:
  struct Region {
    std::string codegen;
    std::vector<Expr> members;
    std::size_t first = 0;  // position of the first member
  };

  void Place(const Expr& call, const std::string& codegen) {
    std::size_t own = regions_.size();
    regions_.push_back({codegen, {call}, position_.at(call)});
    region_of_[call] = own;
    for (const Expr& arg : call.As<ir::CallNode>()->args) {
      const auto found = region_of_.find(arg);
      if (found == region_of_.end() || found->second == own ||
          regions_[found->second].codegen != codegen)
        continue;
      const std::size_t other = found->second;
      if (DependsFromOutside(own, other) || DependsFromOutside(other, own)) continue;
      // The smaller one moves.
      const bool keep_other = regions_[other].members.size() >= regions_[own].members.size();
      const std::size_t to = keep_other ? other : own;
      Region& from = regions_[keep_other ? own : other];
      for (const Expr& member : from.members) region_of_[member] = to;
      regions_[to].members.insert(regions_[to].members.end(), from.members.begin(),
                                  from.members.end());
      regions_[to].first = std::min(regions_[to].first, from.first);
      from.members.clear();
      own = to;
    }
  }

  // Whether `region` reads something, made by neither of both, that depends on `target`.
  bool DependsFromOutside(std::size_t region, std::size_t target) const {
    std::vector<Expr> stack;
    std::unordered_set<Expr, ir::ExprHash> seen;
    const auto push_inputs = [&](const Expr& e) {
      for (const Expr& child : ir::Children(e)) {
        const auto at = position_.find(child);
        // What comes before the target cannot depend on it, unless it is part of a region.
        const auto in = region_of_.find(child);
        if (in == region_of_.end() &&
            (at == position_.end() || at->second < regions_[target].first))
          continue;
        if (in != region_of_.end() && in->second == region) continue;
        if (seen.insert(child).second) stack.push_back(child);
      }
    };
    // The region's direct reads of the target become inner edges.
    for (const Expr& member : regions_[region].members) {
      for (const Expr& child : ir::Children(member)) {
        const auto in = region_of_.find(child);
        if (in != region_of_.end() && (in->second == region || in->second == target)) continue;
        if (seen.insert(child).second) stack.push_back(child);
      }
    }
    while (!stack.empty()) {
      const Expr e = stack.back();
      stack.pop_back();
      const auto in = region_of_.find(e);
      if (in == region_of_.end()) {
        push_inputs(e);
        continue;
      }
      if (in->second == target) return true;
      for (const Expr& member : regions_[in->second].members) push_inputs(member);
    }
    return false;
  }

  const ir::Module& module_;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> position_;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> region_of_;
  std::vector<Region> regions_;
};

// A call of the composite as a literal of its own, without the mark of a kernel.
Expr CallLiteral(const ir::Module& module, const Expr& member) {
  const auto& call = *member.As<ir::CallNode>();
  const Expr composite = module.Get(call.callee.As<ir::GlobalVarNode>()->name);
  ir::FunctionAttrs attrs = composite.As<FunctionNode>()->attrs;
  attrs.erase("Primitive");
  return ir::Call::Make(WithFreshVariables(WithAttrs(composite, std::move(attrs))), call.args,
                        call.attrs, member.span(), member.checked_type());
}

}  // namespace

ir::Module MergeCompositeFunctions(const ir::Module& input) {
  const ir::Module module = InferType(input);
  FunctionAdder adder(module);
  for (const auto& [name, function] : module.functions()) {
    const auto& node = *function.As<FunctionNode>();
    if (node.is_primitive() || node.HasAttr("Composite") || node.HasAttr("Codegen")) continue;
    OutlineRequest request;
    request.groups = RegionFinder(module).Find(function);
    if (request.groups.empty()) continue;
    request.rewrite_member = [&](const Expr& member) { return CallLiteral(module, member); };
    request.callee = [&](std::size_t group, const Expr& body) {
      const std::string codegen = CodegenOf(CompositeOf(module, request.groups[group].front()));
      std::vector<std::string> operators;
      for (const Expr& member : request.groups[group]) {
        const auto of = OperatorsOf(CompositeOf(module, member).As<FunctionNode>()->body);
        operators.insert(operators.end(), of.begin(), of.end());
      }
      const std::string stem = adder.Unique(NameOfOperators(operators));
      const std::string symbol = adder.Unique(stem, "_" + codegen);
      adder.module() =
          adder.module().With(symbol, WithAttrs(body, {{"Codegen", attrs::Value(codegen)},
                                                       {"global_symbol", attrs::Value(symbol)}}));
      return ir::GlobalVar::Make(symbol, body.span(), body.checked_type());
    };
    const Expr outlined = OutlineGroups(function, request);
    adder.module() = adder.module().With(name, outlined);
  }
  return WithoutUnnamedComposites(adder.module());
}

}  // namespace tenon::passes
