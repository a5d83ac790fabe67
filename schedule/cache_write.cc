// C[i] = f(i) becomes C.local[x] = f(roots(x)) and C[i] = C.local[leaves(i)], where x are the data
// loops that the stage has now and roots and leaves go up and down its relations
// (schedule/relation.h). Without any split that is C[i] = C.local[i].
#include <algorithm>
#include <optional>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/schedule/rewrite.h"
#include "tenon/schedule/schedule.h"
#include "tenon/schedule/split_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

using loop::Expr;

namespace {

// Why a stage cannot be cached, and the axis to blame for it; null for none.
struct Refusal {
  const IterVar* axis;
  std::string reason;
};

std::optional<Refusal> WhyNoCompute(const te::OperationNode& op) {
  if (op.kind == te::OperationKind::kExtern || op.kind == te::OperationKind::kScan)
    return Refusal{nullptr,
                   "it is an external operation or a scan; only what computes can be cached"};
  if (op.is_placeholder())
    return Refusal{nullptr,
                   "a placeholder is given, not computed; only computed tensors are allowed"};
  return std::nullopt;
}

std::optional<Refusal> WhyAxesAreCut(const Stage& stage) {
  const auto is_cut = [&](const IterVar& axis) {
    return std::none_of(stage.leaves().begin(), stage.leaves().end(),
                        [&](const IterVar& leaf) { return leaf.var.same_as(axis.var); });
  };
  for (const IterVar& axis : stage.op()->reduce_axes) {
    if (is_cut(axis))
      return Refusal{&axis,
                     "the reduce axis has been split or fused; only data axes may be before "
                     "cache_write"};
  }
  for (const IterVar& axis : stage.op()->axes) {
    if (!stage.op()->target.empty() && is_cut(axis))
      return Refusal{&axis,
                     "the axis has been split or fused, and terms go to computed indices of it; "
                     "call cache_write before"};
  }
  return std::nullopt;
}

std::optional<Refusal> WhyBlocksDoNotFit(const Stage& stage, const ByVar& extents) {
  for (const Relation& relation : stage.relations()) {
    const auto* split = std::get_if<SplitRelation>(&relation);
    if (split == nullptr || split->tail != Tail::kShiftInwards) continue;
    const Expr &extent = extents.at(split->parent.var), &width = extents.at(split->inner.var);
    if (!BlockFits(width, extent))
      return Refusal{&split->parent,
                     StrCat("it has been split with Tail::kShiftInwards, and its extent ",
                            loop::Print(extent), " may be less than the factor ",
                            loop::Print(split->factor), "; use Tail::kGuard")};
  }
  return std::nullopt;
}

ByVar ExtentsOf(const Stage& stage) {
  ByVar extents;
  for (const IterVar& axis : stage.op()->axes) extents[axis.var] = axis.extent;
  for (const IterVar& axis : stage.op()->reduce_axes) extents[axis.var] = axis.extent;
  InferExtents(stage.relations(), &extents);
  return extents;
}

// The axes of the cache: the data loops of the stage.
struct CacheAxes {
  std::vector<IterVar> axes;
  ByVar up;                   // what the cache computes: the stage's axes in its own
  std::vector<Expr> indices;  // what the stage reads: the cache's index of each of its elements
};
CacheAxes CacheAxesOf(const Stage& stage, const ByVar& extents) {
  CacheAxes cache;
  ByVar down;
  for (const IterVar& axis : stage.op()->axes) down[axis.var] = axis.var;
  InferLeaves(stage.relations(), extents, &down);
  for (const IterVar& leaf : stage.leaves()) {
    if (leaf.is_reduce) continue;
    cache.axes.push_back(FreshAxis(leaf.var.name(), extents.at(leaf.var), false));
    cache.axes.back().starts_only = leaf.starts_only;
    cache.up[leaf.var] = cache.axes.back().var;
    cache.indices.push_back(loop::Simplify(down.at(leaf.var)));
  }
  for (const IterVar& axis : stage.op()->reduce_axes) cache.up[axis.var] = axis.var;
  InferRoots(stage.relations(), extents, &cache.up);
  return cache;
}

// Where the terms go in the cache, for an operation whose terms go to computed indices. Its axes
// are whole, but maybe in another order, and there may be loops of one iteration.
std::vector<Expr> TargetOf(const Stage& stage, const ByVar& up) {
  const te::OperationNode& op = *stage.op();
  std::vector<Expr> target;
  if (op.target.empty()) return target;
  for (const IterVar& leaf : stage.leaves()) {
    if (leaf.is_reduce) continue;
    target.push_back(up.at(leaf.var));
    for (std::size_t d = 0; d < op.axes.size(); ++d) {
      if (op.axes[d].var.same_as(leaf.var)) target.back() = loop::Substitute(op.target[d], up);
    }
  }
  return target;
}

}  // namespace

Tensor Schedule::CacheWrite(const Tensor& tensor, std::string_view scope) {
  return CacheWrite(std::vector<Tensor>{tensor}, scope)[0];
}

std::vector<Tensor> Schedule::CacheWrite(const std::vector<Tensor>& outputs,
                                         std::string_view scope) {
  if (outputs.empty()) throw InvalidArgument("cache_write: no tensor is given");
  Stage& stage = (*this)[outputs[0]];
  const loop::Memory memory = stage.ParseScope("cache_write", scope);
  const auto refuse = [&](const std::optional<Refusal>& refusal) {
    if (refusal) stage.Refuse("cache_write", refusal->axis, refusal->reason);
  };
  refuse(WhyNoCompute(*stage.op()));
  std::vector<bool> given(stage.op()->outputs.size(), false);
  for (const Tensor& output : outputs) {
    if (&(*this)[output] != &stage)
      refuse(
          {{nullptr, StrCat("tensor ", output.name(),
                            " is not of the same operation; one call takes the outputs of one")}});
    given[static_cast<std::size_t>(output.index())] = true;
  }
  if (std::find(given.begin(), given.end(), false) != given.end())
    refuse({{nullptr, StrCat("the operation has ", given.size(),
                             " outputs, which are computed together; give all of them")}});
  refuse(WhyAxesAreCut(stage));
  RequireRewritable("cache_write", stage);
  const ByVar extents = ExtentsOf(stage);
  refuse(WhyBlocksDoNotFit(stage, extents));

  const te::Operation former = stage.op();
  const CacheAxes axes = CacheAxesOf(stage, extents);
  const NewOperation cache =
      NewLike(*former, FreshName(StrCat(former->name, ".", scope)), axes.axes);
  CopyReduction(*former, former->reduce_axes, axes.up, cache.node);
  cache.node->target = TargetOf(stage, axes.up);
  const NewOperation copy = NewLike(*former, former->name, PlainAxes(former->axes));
  copy.node->label = former->label;
  copy.node->outputs = former->outputs;
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < former->outputs.size(); ++i) {
    copy.node->body.push_back(ReadOutput(cache.handle, i, axes.indices));
    result.emplace_back(cache.handle, static_cast<int>(i));
  }

  Stage& cached = AddStage(cache.handle, PositionOf(stage));
  cached.marks_.memory = memory;
  cached.guard_ = OverhangGuard(stage.relations(), extents, axes.up, /*with_reduce=*/false);
  if (stage.guard_.defined())
    cached.guard_ = cached.guard_ && loop::Substitute(stage.guard_, axes.up);
  stage.guard_ = Expr();
  if (stage.time_.defined()) cached.time_ = loop::Substitute(stage.time_, axes.up);
  Rewrite(stage, copy.handle);
  stage.Reset(copy.handle);
  CacheWriteStep step{{}, std::string(scope)};
  for (const Tensor& output : outputs) step.outputs.push_back(RefTo(output));
  record_->emplace_back(std::move(step));
  return result;
}

}  // namespace tenon::schedule
