// Before anything is rewritten, a group of branches grows along the chains of calls after them.
// Then slices of the wide value replace the last calls of the chains, and everything in between
// loses its only reader.
#include "tenon/passes/combine/combine_branches.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/combine/argument_joiner.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

Shape ShapeOf(const Expr& e) { return ir::StaticShape(e.checked_type(), "a branch"); }

// Elements [first, first + size) along an axis of a value of this rank.
Expr SliceAxis(const Expr& e, std::size_t axis, std::int64_t first, std::int64_t size) {
  ops::StridedSliceAttrs slice{.begin = ops::Ints(axis + 1, 0),
                               .end = ops::Ints(axis + 1, -1),
                               .strides = ops::Ints(axis + 1, 1),
                               .slice_mode = "size"};
  slice.begin[axis] = first;
  slice.end[axis] = size;
  return ops::StridedSlice(e, std::move(slice));
}

// The axis of the channels that the second argument has one value each of. Nothing for operators
// without such an argument.
std::optional<std::int64_t> ChannelAxisOf(const CallNode& call) {
  const auto& known = ops::Known();
  if (call.callee == known.bias_add) return call.attrs.As<ops::BiasAddAttrs>().axis;
  if (call.callee == known.prelu) return call.attrs.As<ops::PReluAttrs>().axis;
  return std::nullopt;
}

// Branches and what follows all of them.
struct Group {
  Branches heads;
  Branches ends;
  std::optional<std::size_t> axis;  // of the joined value; none: stacked
  // Makes the wide value of one more call from the wide value before it.
  std::vector<std::function<Expr(const Expr& wide)>> steps;
};

class Combiner {
 public:
  Combiner(const Expr& function, const BranchRule& rule, int min_branches)
      : rule_(rule), readers_(ir::CountReaders(function)) {
    std::unordered_map<Expr, std::vector<Branches>, ir::ExprHash> by_data;
    std::vector<Expr> data_in_order;
    bool is_graph = true;
    ir::VisitPostOrder(function, [&](const Expr& e) {
      is_graph = is_graph && e.kind() != ir::ExprKind::kLet &&
                 (e.kind() != ir::ExprKind::kFunction || e == function);
      bool depends = false;
      for (const Expr& child : ir::Children(e)) depends = depends || dependents_.contains(child);
      const auto* call = e.As<CallNode>();
      if (call != nullptr) {
        for (const Expr& arg : call->args) reader_.insert_or_assign(arg, e);
      }
      const bool is_branch = call != nullptr && call->callee == rule_.op;
      if (depends || is_branch) dependents_.insert(e);
      if (!is_branch || dependents_.contains(call->args[1]) || !rule_.is_supported(*call)) return;
      std::vector<Branches>& groups = by_data[call->args[0]];
      if (groups.empty()) data_in_order.push_back(call->args[0]);
      for (Branches& group : groups) {
        if (!rule_.are_alike(*group[0].As<CallNode>(), *call)) continue;
        group.push_back(e);
        return;
      }
      groups.push_back({e});
    });
    if (!is_graph) return;
    for (const Expr& data : data_in_order) {
      for (const Branches& heads : by_data.at(data)) {
        if (heads.size() >= static_cast<std::size_t>(min_branches)) AddGroup(heads);
      }
    }
  }

  Expr Combine(const Expr& original, const Expr& rebuilt) {
    if (const auto head = head_.find(original); head != head_.end())
      data_.emplace(head->second, rebuilt.As<CallNode>()->args[0]);
    const auto end = end_.find(original);
    if (end == end_.end()) return rebuilt;
    if (!replaced_.contains(original)) {
      // The first chain that the walk reaches. What the other chains read does not depend on any
      // branch.
      const Group& group = groups_[end->second];
      const std::vector<Expr> parts = PartsOf(group, data_.at(end->second));
      for (std::size_t i = 0; i < parts.size(); ++i) replaced_.emplace(group.ends[i], parts[i]);
    }
    return replaced_.at(original);
  }

 private:
  void AddGroup(const Branches& heads) {
    Group group{
        .heads = heads, .ends = heads, .axis = rule_.axis(*heads[0].As<CallNode>()), .steps = {}};
    while (Extend(&group)) {
    }
    for (const Expr& head : group.heads) head_.emplace(head, groups_.size());
    for (const Expr& end : group.ends) end_.emplace(end, groups_.size());
    groups_.push_back(std::move(group));
  }

  // The only reader of `e`, which reads it once.
  const CallNode* OnlyReader(const Expr& e, Expr* reader) const {
    const auto found = reader_.find(e);
    const auto count = readers_.find(e);
    if (found == reader_.end() || count == readers_.end() || count->second != 1) return nullptr;
    *reader = found->second;
    return reader->As<CallNode>();
  }

  // Moves the ends of all branches forward by one call. Returns false when they cannot be moved.
  bool Extend(Group* group) const {
    Branches next(group->ends.size());
    std::size_t place = 0;
    for (std::size_t i = 0; i < next.size(); ++i) {
      const CallNode* call = OnlyReader(group->ends[i], &next[i]);
      if (call == nullptr || call->op() == nullptr ||
          !ir::IsStaticTensor(group->ends[i].checked_type()) ||
          !ir::IsStaticTensor(next[i].checked_type()) ||
          ShapeOf(next[i]) != ShapeOf(group->ends[i]))
        return false;
      const auto pattern = ops::OpOf(*call)->pattern;
      if (!pattern || *pattern > ops::OpPattern::kBroadcast) return false;
      const auto at = static_cast<std::size_t>(
          std::find(call->args.begin(), call->args.end(), group->ends[i]) - call->args.begin());
      const CallNode& first = *next[0].As<CallNode>();
      if (i == 0) place = at;
      if (at != place || !(call->callee == first.callee) || !(call->attrs == first.attrs) ||
          call->args.size() != first.args.size())
        return false;
      for (std::size_t a = 0; a < call->args.size(); ++a) {
        if (a != place && dependents_.contains(call->args[a])) return false;
      }
    }
    const auto step = StepOf(*group, next, place);
    if (!step) return false;
    group->steps.push_back(*step);
    group->ends = std::move(next);
    return true;
  }

  static std::optional<std::function<Expr(const Expr&)>> StepOf(const Group& group,
                                                                const Branches& next,
                                                                std::size_t place) {
    const CallNode& first = *next[0].As<CallNode>();
    const ArgumentJoiner joiner(group.ends, group.axis);
    const std::optional<std::int64_t> channels = ChannelAxisOf(first);
    const bool is_bias = first.callee == ops::Known().bias_add;
    const bool is_joinable = channels ? place == 0 && (is_bias || group.axis)
                                      : ops::OpOf(first)->Column<ops::IgnoresPlaces>() != nullptr;
    if (!is_joinable) return std::nullopt;
    std::vector<Expr> args = first.args;
    for (std::size_t a = 0; a < args.size(); ++a) {
      if (a == place) continue;
      Branches column;
      for (const Expr& call : next) column.push_back(call.As<CallNode>()->args[a]);
      if (channels) {
        const std::size_t rank = ShapeOf(next[0]).size();
        const auto channel = static_cast<std::size_t>(ops::NormalAxis(*channels, rank));
        if (channel != group.axis.value_or(rank - 1)) return std::nullopt;
        args[a] = joiner.JoinChannels(column);
        continue;
      }
      const auto joined = joiner.Join(column);
      if (!joined) return std::nullopt;
      args[a] = *joined;
    }
    // Stacked branches each have their own bias.
    if (is_bias && !group.axis)
      return [bias = args[1]](const Expr& wide) { return ops::Add(wide, bias); };
    return [first = next[0], args, place](const Expr& wide) {
      std::vector<Expr> all = args;
      all[place] = wide;
      const CallNode& call = *first.As<CallNode>();
      return ir::Call::Make(call.callee, std::move(all), call.attrs);
    };
  }

  std::vector<Expr> PartsOf(const Group& group, const Expr& data) const {
    std::vector<const CallNode*> calls;
    for (const Expr& head : group.heads) calls.push_back(head.As<CallNode>());
    Expr wide = rule_.combine(calls, data);
    for (const auto& step : group.steps) wide = step(wide);
    std::vector<Expr> parts;
    if (!group.axis) {
      const Expr split =
          ops::Split(wide, {.indices_or_sections = static_cast<std::int64_t>(calls.size())});
      for (int i = 0; i < static_cast<int>(calls.size()); ++i)
        parts.push_back(ops::Squeeze(ir::TupleGetItem::Make(split, i), ops::Ints{0}));
      return parts;
    }
    std::int64_t begin = 0;
    for (const Expr& end : group.ends) {
      // The weight tells the extent, even where others are unknown.
      const std::int64_t size =
          end.checked_type().As<ir::TensorTypeNode>()->shape[*group.axis].value();
      parts.push_back(SliceAxis(wide, *group.axis, begin, size));
      begin += size;
    }
    return parts;
  }

  const BranchRule& rule_;
  const ir::ReaderCounts readers_;
  ir::ExprMap reader_;                                 // of values with one reader: that call
  std::unordered_set<Expr, ir::ExprHash> dependents_;  // what depends on calls of the operator
  std::vector<Group> groups_;
  std::unordered_map<Expr, std::size_t, ir::ExprHash> head_, end_;  // their group
  std::unordered_map<std::size_t, Expr> data_;                      // by group, rewritten
  ir::ExprMap replaced_;
};

}  // namespace

ir::Module CombineBranches(const ir::Module& module, const BranchRule& rule, int min_branches) {
  if (min_branches < 2)
    throw InvalidArgument(StrCat("min_num_branches is ", min_branches, "; it must be at least 2"));
  const ir::Module result = module.Map([&](const Expr& function) {
    Combiner combiner(function, rule, min_branches);
    return ir::RewritePostOrder(function, [&](const Expr& original, const Expr& rebuilt) {
      return combiner.Combine(original, rebuilt);
    });
  });
  return result == module ? result : InferType(result);
}

Expr Stack(std::vector<Expr> fields) {
  return ir::Call::Make(ops::Known().stack, {ir::Tuple::Make(std::move(fields))},
                        attrs::Attrs::Make(ops::StackAttrs{}));
}

bool IsStaticWeight(const CallNode& call) {
  return ir::IsStaticTensor(call.args[1].checked_type());
}
Shape WeightShape(const CallNode& call) {
  return ir::StaticShape(call.args[1].checked_type(), "a weight");
}
// Bytes may be multiplied by signed and by unsigned ones.
bool HaveOneWeightType(const CallNode& a, const CallNode& b) {
  const auto type = [](const CallNode& call) {
    return call.args[1].checked_type().As<ir::TensorTypeNode>()->dtype;
  };
  return type(a) == type(b);
}

}  // namespace tenon::passes
