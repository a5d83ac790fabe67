// The heads of a group share their keys, so a group is one product: its queries are the rows of one
// matrix, and neither keys nor values are repeated.
#include "tenon/onnx/convert/scaled_dot_product.h"

#include <cmath>
#include <limits>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/attention.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using Dims = std::vector<Dim>;

Expr Call(const Expr& op, const Expr& a, const Expr& b) { return ir::Call::Make(op, {a, b}); }

struct Extents {
  Dim batch, heads, groups, queries, keys, size, value_size;
  std::int64_t heads_per_group = 1;
  Dims Scores() const { return {batch, heads, queries, keys}; }
  Dims Result() const { return {batch, heads, queries, value_size}; }
};

Extents ExtentsOf(const ScaledDotProduct& of) {
  const Dims q = DimsOf(of.query), k = DimsOf(of.key), v = DimsOf(of.value);
  const bool fits = q.size() == 4 && k.size() == 4 && v.size() == 4 && k[0] == q[0] &&
                    v[0] == q[0] && v[1] == k[1] && k[3] == q[3] && v[2] == k[2] &&
                    q[1].is_static() && k[1].is_static() && k[1].value() > 0 &&
                    q[1].value() % k[1].value() == 0 && q[3].is_static() && v[3].is_static();
  if (!fits)
    throw InvalidArgument(StrCat("query, key and value have the shapes ", ir::ToText(q), ", ",
                                 ir::ToText(k), " and ", ir::ToText(v),
                                 " by heads, which do not fit together"));
  return {q[0], q[1], k[1], q[2], k[2], q[3], v[3], q[1].value() / k[1].value()};
}

// [batch, heads, length, size] as one matrix for each group, [batch * groups, heads of a group *
// length, size].
Expr ByGroup(const Node& node, const Expr& x, const Extents& of, const Dim& length,
             const Dim& size) {
  const Dim each = of.heads_per_group;
  Expr y = x;
  if (of.heads_per_group != 1)
    y = node.Typed(ReshapeTo(node.extents(), y, {of.batch, of.groups, each, length, size}));
  return node.Typed(ReshapeTo(node.extents(), y, {of.batch * of.groups, each * length, size}));
}

// And back.
Expr ByHead(const Node& node, const Expr& x, const Extents& of, const Dim& length,
            const Dim& size) {
  Expr y = x;
  if (of.heads_per_group != 1)
    y = node.Typed(
        ReshapeTo(node.extents(), y, {of.batch, of.groups, Dim(of.heads_per_group), length, size}));
  return node.Typed(ReshapeTo(node.extents(), y, {of.batch, of.heads, length, size}));
}

Expr Merged(const Node& node, const Expr& x, const Extents& of, const Dim& size) {
  return node.Typed(ReshapeTo(node.extents(), x, {of.batch * of.groups, of.keys, size}));
}

Expr Scores(const Node& node, const ScaledDotProduct& of, const Extents& extents) {
  const double scale = of.scale.value_or(1 / std::sqrt(static_cast<double>(extents.size.value())));
  const Expr scores =
      ScaledScores(node, ByGroup(node, of.query, extents, extents.queries, extents.size),
                   Merged(node, of.key, extents, extents.size), scale);
  return ByHead(node, scores, extents, extents.queries, extents.keys);
}

// Which keys queries see, in a shape that broadcasts to the scores; undefined for all.
class Mask {
 public:
  Mask(const Node& node, const ScaledDotProduct& of, const Extents& extents, const Expr& scores)
      : node_(node), extents_(extents) {
    And(of.seen);
    if (of.causal_offset) AddCausal(of, scores);
    if (of.lengths) And(Call(ops::Known().less, Place(3, extents_.keys), OfBatch(of.lengths)));
  }
  const Expr& seen() const { return seen_; }

 private:
  void And(const Expr& more) {
    if (!more) return;
    const Expr typed = node_.Typed(more);
    seen_ = seen_ ? node_.Typed(Call(ops::Known().logical_and, seen_, typed)) : typed;
  }

  // 0, 1, ... along one axis of the scores.
  Expr Place(std::size_t axis, const Dim& extent) const {
    return PlacesAlong(node_, 4, axis, extent);
  }

  // A number for all sequences or for each of the batch.
  Expr OfBatch(const Expr& x) const {
    const Expr wide = node_.Typed(ops::Cast(x, Int64));
    return node_.Typed(ops::ReshapeToExtents(wide, {-1, 1, 1, 1}));
  }

  void AddCausal(const ScaledDotProduct& of, const Expr& scores) {
    const auto& known = ops::Known();
    const bool is_known = extents_.queries.is_static() && extents_.keys.is_static();
    if (!is_known && RankOf(of.causal_offset) == 0 && of.window < 0) {
      const Expr ones = node_.Typed(ir::Call::Make(known.ones_like, {scores}));
      const Expr lower = ir::Call::Make(known.trilu, {ones, of.causal_offset},
                                        attrs::Attrs::Make(ops::TriluAttrs{.upper = false}));
      And(ops::Cast(lower, Bool));
      return;
    }
    const Expr key = Place(3, extents_.keys);
    const Expr last = node_.Typed(ops::Add(Place(2, extents_.queries), OfBatch(of.causal_offset)));
    And(Call(known.less_equal, key, last));
    if (of.window >= 0)
      And(Call(known.greater, key,
               ops::Subtract(last, ops::Scalar(static_cast<double>(of.window), Int64))));
  }

  const Node& node_;
  const Extents& extents_;
  Expr seen_;
};

// Scores, or a result, with a mask or bias have extents of both. Where variables decide whether it
// broadcasts to them, a run refuses values for which it does not. The extents become those of
// `like`, which are `wanted`, one at a time, since kernels then read elements at the places that
// they have.
Expr WithExtents(const Node& node, Expr masked, const Expr& like, const Dims& wanted,
                 const Extents& of) {
  const auto refuse = [&] {
    throw InvalidArgument(StrCat("a mask or bias does not broadcast to the scores, ",
                                 ir::ToText(of.Scores()), " (batch, heads, queries, keys)"));
  };
  const Dims given = DimsOf(masked);
  if (given.size() != wanted.size()) refuse();
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    if (given[d] == wanted[d]) continue;
    if ((given[d] - wanted[d]).is_static()) refuse();
    const auto axis = static_cast<std::int64_t>(d);
    const ops::ReshapeLikeAttrs one_axis = {
        .lhs_begin = axis, .lhs_end = axis + 1, .rhs_begin = axis, .rhs_end = axis + 1};
    masked = node.Typed(ops::CallOp("reshape_like", {masked, like}, attrs::Attrs::Make(one_axis)));
  }
  return masked;
}

// The result, with zeros for queries that see no key, whose softmax is 0 / 0. A causal mask alone
// lets each query see one.
Expr WithoutUnseen(const Node& node, const ScaledDotProduct& of, const Extents& extents,
                   const Expr& seen, const Expr& result) {
  if (!of.bias && !of.seen && !of.lengths) return result;
  const auto& known = ops::Known();
  Expr counts = seen;
  if (of.bias) {
    const double lowest = -std::numeric_limits<double>::infinity();
    const Expr adds =
        node.Typed(Call(known.not_equal, of.bias, ops::Scalar(lowest, DataTypeOf(of.bias))));
    counts = counts ? node.Typed(Call(known.logical_and, counts, adds)) : adds;
  }
  const Expr any = node.Typed(ops::CallOp(
      "any", {counts}, attrs::Attrs::Make(ops::ReduceAttrs{.axis = Ints{-1}, .keepdims = true})));
  const Expr zeroed = node.Typed(ops::Where(any, result, ops::Scalar(0, DataTypeOf(result))));
  return WithExtents(node, zeroed, result, extents.Result(), extents);
}

// The softmax of each row, of which a sink takes its share.
Expr Weights(const Node& node, const ScaledDotProduct& of, const Extents& extents,
             const Expr& scores) {
  if (!of.sinks) return node.Typed(ops::Softmax(scores));
  const DataType type = DataTypeOf(scores);
  Dims shape = extents.Scores();
  shape.back() = 1;
  const Expr sinks = node.Typed(ops::ReshapeToExtents(of.sinks, {1, -1, 1, 1}));
  const Expr column =
      node.Typed(BroadcastTo(node.extents(), node.Typed(ops::Cast(sinks, type)), shape));
  const Expr all = node.Typed(ops::Softmax(node.Typed(ops::Concatenate({scores, column}, 3))));
  return node.Typed(
      ops::StridedSlice(all, {.begin = {0}, .end = {-1}, .strides = {1}, .axes = Ints{3}}));
}

}  // namespace

AttentionStages Attended(const Node& node, const ScaledDotProduct& of) {
  const Extents extents = ExtentsOf(of);
  const DataType type = DataTypeOf(of.query);
  AttentionStages stages;
  stages.scores = Scores(node, of, extents);
  stages.capped = stages.scores;
  if (of.softcap != 0) {
    const Expr cap = ops::Scalar(of.softcap, type);
    stages.capped = node.Typed(ops::Multiply(ops::Tanh(ops::Divide(stages.scores, cap)), cap));
  }
  stages.masked = stages.capped;
  if (of.bias) stages.masked = node.Typed(ops::Add(stages.masked, of.bias));
  const Mask mask(node, of, extents, stages.scores);
  if (mask.seen()) {
    const Expr lowest = ops::Scalar(-std::numeric_limits<double>::infinity(), type);
    stages.masked = node.Typed(ops::Where(mask.seen(), stages.masked, lowest));
  }
  stages.masked = WithExtents(node, stages.masked, stages.scores, extents.Scores(), extents);
  const DataType precision = of.precision.is_void() ? type : of.precision;
  const auto as_type = [&](const Expr& x, DataType to) {
    return DataTypeOf(x) == to ? x : node.Typed(ops::Cast(x, to));
  };
  stages.weights = as_type(Weights(node, of, extents, as_type(stages.masked, precision)), type);
  const Expr rows = ByGroup(node, stages.weights, extents, extents.queries, extents.keys);
  const Expr y = node.Typed(ops::BatchMatmul(
      rows, Merged(node, of.value, extents, extents.value_size), {.transpose_b = false}));
  stages.result = WithoutUnseen(node, of, extents, mask.seen(),
                                ByHead(node, y, extents, extents.queries, extents.value_size));
  return stages;
}

}  // namespace tenon::onnx_import
