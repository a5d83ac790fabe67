// C[i] = f(i) becomes C.local[x] = f(roots(x)) and C[i] = C.local[leaves(i)], where x are the data
// loops that the stage has now and roots and leaves go up and down its relations
// (schedule/relation.h). Without any split that is C[i] = C.local[i].
#include <algorithm>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/schedule/rewrite.h"
#include "tenon/schedule/schedule.h"
#include "tenon/schedule/split_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

using loop::Expr;

Tensor Schedule::CacheWrite(const Tensor& tensor, std::string_view scope) {
  return CacheWrite(std::vector<Tensor>{tensor}, scope)[0];
}

std::vector<Tensor> Schedule::CacheWrite(const std::vector<Tensor>& outputs,
                                         std::string_view scope) {
  if (outputs.empty()) throw InvalidArgument("cache_write: no tensor is given");
  Stage& stage = (*this)[outputs[0]];
  const loop::Memory memory = stage.ParseScope("cache_write", scope);
  if (stage.op()->kind == te::OperationKind::kExtern ||
      stage.op()->kind == te::OperationKind::kScan)
    stage.Refuse("cache_write", nullptr,
                 "it is an external operation or a scan; only what computes can be cached");
  if (stage.op()->is_placeholder())
    stage.Refuse("cache_write", nullptr,
                 "a placeholder is given, not computed; only computed tensors are allowed");
  std::vector<bool> given(stage.op()->outputs.size(), false);
  for (const Tensor& output : outputs) {
    if (&(*this)[output] != &stage) {
      stage.Refuse("cache_write", nullptr,
                   StrCat("tensor ", output.name(),
                          " is not of the same operation; one call takes the outputs of one"));
    }
    given[static_cast<std::size_t>(output.index())] = true;
  }
  if (std::find(given.begin(), given.end(), false) != given.end()) {
    stage.Refuse("cache_write", nullptr,
                 StrCat("the operation has ", given.size(),
                        " outputs, which are computed together; give all of them"));
  }
  for (const IterVar& axis : stage.op()->reduce_axes) {
    if (!stage.IsLeaf(axis)) {
      stage.Refuse("cache_write", &axis,
                   "the reduce axis has been split or fused; only data axes may be before "
                   "cache_write");
    }
  }
  for (const IterVar& axis : stage.op()->axes) {
    if (!stage.op()->target.empty() && !stage.IsLeaf(axis)) {
      stage.Refuse("cache_write", &axis,
                   "the axis has been split or fused, and terms go to computed indices of it; call "
                   "cache_write before");
    }
  }
  RequireRewritable("cache_write", stage);

  const te::Operation former = stage.op();
  ByVar extents;
  for (const IterVar& axis : former->axes) extents[axis.var] = axis.extent;
  for (const IterVar& axis : former->reduce_axes) extents[axis.var] = axis.extent;
  InferExtents(stage.relations(), &extents);

  for (const Relation& relation : stage.relations()) {
    const auto* split = std::get_if<SplitRelation>(&relation);
    if (split == nullptr || split->tail != Tail::kShiftInwards) continue;
    const Expr &extent = extents.at(split->parent.var), &width = extents.at(split->inner.var);
    if (!BlockFits(width, extent))
      stage.Refuse("cache_write", &split->parent,
                   StrCat("it has been split with Tail::kShiftInwards, and its extent ",
                          loop::Print(extent), " may be less than the factor ",
                          loop::Print(split->factor), "; use Tail::kGuard"));
  }

  ByVar down;  // what C reads: the cached tensor's index of each of its elements
  for (const IterVar& axis : former->axes) down[axis.var] = axis.var;
  InferLeaves(stage.relations(), extents, &down);
  ByVar up;  // what the cache computes: the root axes in its own
  std::vector<IterVar> cache_axes, reduce_axes;
  std::vector<Expr> indices;
  for (const IterVar& leaf : stage.leaves()) {
    if (leaf.is_reduce) continue;
    cache_axes.push_back(FreshAxis(leaf.var.name(), extents.at(leaf.var), false));
    cache_axes.back().starts_only = leaf.starts_only;
    up[leaf.var] = cache_axes.back().var;
    indices.push_back(loop::Simplify(down.at(leaf.var)));
  }
  for (const IterVar& axis : former->reduce_axes) up[axis.var] = axis.var;
  InferRoots(stage.relations(), extents, &up);

  const NewOperation cache =
      NewLike(*former, FreshName(StrCat(former->name, ".", scope)), cache_axes);
  CopyReduction(*former, former->reduce_axes, up, cache.node);
  if (!former->target.empty()) {
    // The axes are whole, but maybe in another order, and there may be loops of one iteration.
    cache.node->target.clear();
    for (const IterVar& leaf : stage.leaves()) {
      if (leaf.is_reduce) continue;
      Expr index = up.at(leaf.var);
      for (std::size_t d = 0; d < former->axes.size(); ++d) {
        if (former->axes[d].var.same_as(leaf.var)) index = loop::Substitute(former->target[d], up);
      }
      cache.node->target.push_back(index);
    }
  }
  const NewOperation copy = NewLike(*former, former->name, PlainAxes(former->axes));
  copy.node->label = former->label;
  copy.node->outputs = former->outputs;
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < former->outputs.size(); ++i) {
    copy.node->body.push_back(ReadOutput(cache.handle, i, indices));
    result.emplace_back(cache.handle, static_cast<int>(i));
  }

  Stage& cached = AddStage(cache.handle, PositionOf(stage));
  cached.marks_.memory = memory;
  cached.guard_ = OverhangGuard(stage.relations(), extents, up, /*with_reduce=*/false);
  if (stage.guard_.defined()) cached.guard_ = cached.guard_ && loop::Substitute(stage.guard_, up);
  stage.guard_ = Expr();
  if (stage.time_.defined()) cached.time_ = loop::Substitute(stage.time_, up);
  Rewrite(stage, copy.handle);
  stage.Reset(copy.handle);
  CacheWriteStep step{{}, std::string(scope)};
  for (const Tensor& output : outputs) step.outputs.push_back(RefTo(output));
  record_->emplace_back(std::move(step));
  return result;
}

}  // namespace tenon::schedule
