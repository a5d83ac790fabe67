#include "tenon/passes/partition/partition_graph.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <utility>

#include "tenon/ir/visit.h"
#include "tenon/passes/fusion/groups.h"
#include "tenon/passes/fusion/outline_groups.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/partition/marked_regions.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Expr;
using ir::ExprKind;

// The text in a form that a linker accepts as part of a symbol.
std::string AsSymbol(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) == 0 && c != '_'; },
      '_');
  return text;
}

struct Group {
  std::string target;
  std::vector<Expr> members;  // producers first
};

// Takes tuples out of their regions when nothing inside reads them.
void FreeTuples(const Expr& function, MarkedRegions* regions) {
  std::vector<Expr> order;
  ir::VisitPostOrder(
      function, [&](const Expr& e) { order.push_back(e); }, ir::OutsideLiterals(function));
  std::unordered_set<Expr, ir::ExprHash> read_inside;
  for (auto e = order.rbegin(); e != order.rend(); ++e) {
    const auto region = regions->region_of.find(*e);
    if (region == regions->region_of.end()) continue;
    if (e->kind() == ExprKind::kTuple && !read_inside.contains(*e)) {
      regions->region_of.erase(region);
      continue;
    }
    for (const Expr& child : ir::Children(*e)) {
      const auto source = regions->region_of.find(child);
      if (source != regions->region_of.end() && source->second == region->second)
        read_inside.insert(child);
    }
  }
}

std::vector<Group> GroupsOf(const MarkedRegions& regions) {
  std::vector<Group> groups(regions.targets.size());
  ir::VisitPostOrder(
      regions.function,
      [&](const Expr& e) {
        const auto region = regions.region_of.find(e);
        if (region != regions.region_of.end()) groups[region->second].members.push_back(e);
      },
      ir::OutsideLiterals(regions.function));
  for (std::size_t i = 0; i < groups.size(); ++i) groups[i].target = regions.targets[i];
  std::erase_if(groups, [](const Group& group) {
    return group.target == kDefaultTarget ||
           std::none_of(group.members.begin(), group.members.end(),
                        [](const Expr& e) { return e.kind() == ExprKind::kCall; });
  });
  return groups;
}

class Partitioner {
 public:
  Partitioner(ir::Module module, const PartitionOptions& options)
      : module_(std::move(module)), options_(options) {
    for (const auto& [name, function] : module_.functions()) names_.insert(name);
  }

  ir::Module Partition() {
    for (const auto& [name, function] : module_.functions()) {
      if (!IsMarked(function)) continue;
      const Expr partitioned = PartitionFunction(name, function);
      changed_.emplace_back(name, partitioned);
    }
    ir::ModuleBuilder result(module_);
    for (const auto& [name, function] : changed_) result.Set(name, function);
    return WithoutUnnamedComposites(result.Build());
  }

  static bool IsMarked(const Expr& function) {
    return !IsGroup(*function.As<ir::FunctionNode>()) && HasMarks(function);
  }

 private:
  Expr PartitionFunction(const std::string& name, const Expr& function) {
    MarkedRegions regions = ReadMarks(function);
    FreeTuples(regions.function, &regions);
    const std::vector<Group> groups = GroupsOf(regions);
    OutlineRequest request;
    for (const Group& group : groups) request.groups.push_back(group.members);
    request.bind_constants = options_.bind_constants;
    request.rewrite_member = [&](const Expr& member) { return CallAsLiteral(module_, member); };
    request.callee = [&](std::size_t group, const Expr& body) {
      const std::string& target = groups[group].target;
      const std::string symbol =
          UniqueSymbol(StrCat("tvmgen_", options_.mod_name, "_", target, "_", name, "_", group));
      const attrs::Value set(std::int64_t{1});
      changed_.emplace_back(symbol, WithAttrs(body, {{"Compiler", attrs::Value(target)},
                                                     {"Inline", set},
                                                     {"Primitive", set},
                                                     {"global_symbol", attrs::Value(symbol)}}));
      return ir::GlobalVar::Make(symbol, body.span(), body.checked_type());
    };
    return OutlineGroups(regions.function, request);
  }

  std::string UniqueSymbol(const std::string& text) {
    const std::string symbol = AsSymbol(text);
    std::string unique = symbol;
    for (int i = 1; !names_.insert(unique).second; ++i) unique = StrCat(symbol, "_", i);
    return unique;
  }

  const ir::Module module_;
  const PartitionOptions& options_;
  std::unordered_set<std::string> names_;
  std::vector<std::pair<std::string, Expr>> changed_;  // and new ones
};

}  // namespace

ir::Module PartitionGraph(const ir::Module& module, const PartitionOptions& options) {
  const auto& functions = module.functions();
  const bool is_marked = std::any_of(functions.begin(), functions.end(), [](const auto& entry) {
    return Partitioner::IsMarked(entry.second);
  });
  return is_marked ? Partitioner(InferType(module), options).Partition() : module;
}

}  // namespace tenon::passes
