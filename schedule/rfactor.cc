// C[i] = reduce over k of f(i, k), where k has the leaf r among its parts, becomes
//   C.rf[r, i] = reduce over the other parts of k of f(i, k)
//   C[i] = reduce over r of C.rf[r, i]
// (Suriana, Adams and Kamil, "Parallel Associative Reductions in Halide", 2017). Terms past the end
// of a split reduce axis are left out of C.rf, whose elements start as the identity. Where terms go
// to computed indices, they go there in their own part of C.rf.
#include <algorithm>

#include "tenon/schedule/mixed_fusion.h"
#include "tenon/schedule/rewrite.h"
#include "tenon/schedule/schedule.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/reducer_laws.h"

namespace tenon::schedule {

using loop::Expr;

namespace {

bool IsOfReduction(const Relation& relation) {
  if (const auto* split = std::get_if<SplitRelation>(&relation)) return split->parent.is_reduce;
  if (const auto* fuse = std::get_if<FuseRelation>(&relation)) return fuse->fused.is_reduce;
  return false;
}

// The axes of the factored tensor, and what it leaves out.
struct Factored {
  IterVar factor;              // the new data axis
  std::vector<IterVar> axes;   // of data, `factor` among them
  std::vector<IterVar> terms;  // the other parts of the reduce axes
  ByVar values;                // the stage's axes in these
  Expr guard;
};
Factored FactoredOf(const Stage& stage, const IterVar& axis, int factor_axis) {
  const te::OperationNode& op = *stage.op();
  std::vector<Relation> relations;
  std::copy_if(stage.relations().begin(), stage.relations().end(), std::back_inserter(relations),
               IsOfReduction);
  ByVar extents;
  for (const IterVar& root : op.reduce_axes) extents[root.var] = root.extent;
  InferExtents(relations, &extents);

  Factored made{.factor = FreshAxis(axis.var.name(), extents.at(axis.var), false)};
  ByVar& values = made.values;
  for (const IterVar& data : op.axes) {
    made.axes.push_back(FreshAxis(data.var.name(), data.extent, false));
    made.axes.back().starts_only = data.starts_only;
    values[data.var] = made.axes.back().var;
  }
  values[axis.var] = made.factor.var;
  made.axes.insert(made.axes.begin() + factor_axis, made.factor);
  for (const IterVar& other : stage.leaves()) {
    if (!other.is_reduce || other.var.same_as(axis.var)) continue;
    made.terms.push_back(FreshAxis(other.var.name(), extents.at(other.var), true));
    values[other.var] = made.terms.back().var;
  }
  InferRoots(relations, extents, &values);
  made.guard = OverhangGuard(relations, extents, values, /*with_reduce=*/true);
  for (const IterVar& root : op.reduce_axes) values[root.var] = root.min + values.at(root.var);
  if (stage.guard().defined()) made.guard = made.guard && loop::Substitute(stage.guard(), values);
  return made;
}

}  // namespace

std::vector<Tensor> Schedule::RFactor(const Tensor& tensor, const IterVar& axis, int factor_axis) {
  Stage& stage = (*this)[tensor];
  const std::size_t leaf = stage.Position("rfactor", axis);
  if (!stage.leaves()[leaf].is_reduce)
    stage.Refuse("rfactor", &axis, "this is a data axis; only reduce axes are allowed");
  if (const FuseRelation* mixed = FindMixedFusion(stage.relations()))
    stage.Refuse(
        "rfactor", &mixed->fused,
        StrCat("it is fused of ", mixed->outer.var.name(), " and ", mixed->inner.var.name(),
               ", of which one is a data and one a reduce axis; call rfactor before "
               "fuse"));
  const te::Operation former = stage.op();
  if (const auto why = te::WhyOrderCounts(*former->combiner, former->body))
    stage.Refuse("rfactor", &axis, StrCat(*why, "; rfactor joins terms in another order"));
  const auto rank = static_cast<int>(former->axes.size());
  if (factor_axis < 0 || factor_axis > rank) {
    stage.Refuse("rfactor", &axis,
                 StrCat("the factor axis is ", factor_axis, "; it must be one of 0 to ", rank));
  }
  RequireRewritable("rfactor", stage);

  const Factored parts = FactoredOf(stage, axis, factor_axis);
  const NewOperation factored = NewLike(*former, FreshName(former->name + ".rf"), parts.axes);
  CopyReduction(*former, parts.terms, parts.values, factored.node);
  factored.node->initial.clear();  // which the joined terms start from, once
  if (!former->target.empty())
    factored.node->target.insert(factored.node->target.begin() + factor_axis, parts.factor.var);

  // The reduction of it.
  const IterVar rest = FreshAxis(axis.var.name(), parts.factor.extent, true);
  std::vector<Expr> indices;
  for (const IterVar& data : former->axes) indices.push_back(data.var);
  indices.insert(indices.begin() + factor_axis, rest.var);
  const NewOperation joined = NewLike(*former, former->name, PlainAxes(former->axes));
  joined.node->outputs = former->outputs;
  joined.node->initial = former->initial;
  joined.node->combiner = former->combiner;
  joined.node->reduce_axes = {rest};
  std::vector<Tensor> result;
  for (std::size_t i = 0; i < former->outputs.size(); ++i) {
    joined.node->body.push_back(ReadOutput(factored.handle, i, indices));
    result.emplace_back(factored.handle, static_cast<int>(i));
  }

  record_->emplace_back(RFactorStep{RefTo(tensor), stage.RefTo(axis), factor_axis});
  Stage& partial = AddStage(factored.handle, PositionOf(stage));
  partial.guard_ = parts.guard;
  if (stage.time_.defined()) partial.time_ = loop::Substitute(stage.time_, parts.values);
  // Start values must not be read for elements that are left out.
  if (former->initial.empty()) stage.guard_ = Expr();
  Rewrite(stage, joined.handle);
  stage.Reset(joined.handle);
  return result;
}

}  // namespace tenon::schedule
