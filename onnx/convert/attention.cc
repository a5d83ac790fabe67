#include "tenon/onnx/convert/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The maximum of queries times keys for which masks are made.
constexpr std::int64_t kMaxScores = std::int64_t{1} << 28;

using Dims = std::vector<Dim>;

struct Extents {
  Dim batch, heads, queries, keys;
  Dims Scores() const { return {batch, heads, queries, keys}; }
};

Expr Compare(const Expr& op, const Expr& a, const Expr& b) { return ir::Call::Make(op, {a, b}); }

// Which keys lie beyond the lengths of the keys, [batch, keys].
Expr BeyondLengths(const Node& node, const Expr& lengths, const Extents& of) {
  const auto& known = ops::Known();
  const Expr place = node.Typed(ops::Cast(PlacesAlong(node, 2, 1, of.keys), Int32));
  const Expr given = node.Typed(ops::Cast(lengths, Int32));
  const bool has_begin = DimsOf(lengths)[0] != of.batch;
  const Expr rows = node.Typed(ReshapeTo(node.extents(), given, {has_begin ? 2 : 1, of.batch, 1}));
  const Expr is_after =
      node.Typed(Compare(known.greater_equal, place, node.Typed(ElementAlong(rows, 0, 0))));
  if (!has_begin) return is_after;
  return ir::Call::Make(
      known.logical_or,
      {is_after, Compare(known.less, place, node.Typed(ElementAlong(rows, 1, 0)))});
}

// What the mask adds to the scores, in a shape that broadcasts to them; undefined for nothing.
Expr Addend(const Node& node, const AttentionOptions& options, const Extents& of, DataType type) {
  if (!options.mask) return Expr();
  const Dims shape = DimsOf(options.mask);
  const auto refuse = [&]() -> Expr {
    throw Unimplemented(StrCat("a mask of the shape ", ir::ToText(shape),
                               " is not supported; (batch), (2 * batch), (batch, keys) and (batch, "
                               "queries, keys) are, here for a batch of ",
                               of.batch.ToString(), ", ", of.queries.ToString(), " queries and ",
                               of.keys.ToString(), " keys"));
  };
  // A placeholder by which exporters say that there is no mask.
  const bool is_dummy = shape.size() == 2 && shape[1] == Dim(1) && of.keys != Dim(1) &&
                        (shape[0] == of.batch || shape[0] == Dim(1));
  if (is_dummy) return Expr();
  Expr is_masked;
  if (shape.size() == 1) {
    if (shape[0] != of.batch && shape[0] != of.batch * 2) return refuse();
    is_masked = BeyondLengths(node, options.mask, of);
  } else {
    if (shape != Dims{of.batch, of.keys} && shape != Dims{of.batch, of.queries, of.keys})
      return refuse();
    const Expr zero = node.Typed(ops::Scalar(0, DataTypeOf(options.mask)));
    is_masked = Compare(ops::Known().less_equal, options.mask, zero);
  }
  const Dim rows = shape.size() == 3 ? of.queries : 1;
  const Expr added =
      ops::Where(node.Typed(is_masked), ops::Scalar(options.masked, type), ops::Scalar(0, type));
  return node.Typed(ReshapeTo(node.extents(), node.Typed(added), {of.batch, 1, rows, of.keys}));
}

// Which keys come after a query, [queries, keys]. The last query sees all of them.
Expr AfterQuery(const Node& node, const Expr& queries, const Extents& of, const Expr& past) {
  const auto& known = ops::Known();
  const Expr query = PlacesAlong(node, 2, 0, of.queries), key = PlacesAlong(node, 2, 1, of.keys);
  const Expr last =
      node.Typed(ops::Subtract(node.Typed(ExtentValue(queries, 2)), ops::Scalar(1, Int64)));
  const Expr self = past ? node.Typed(ops::Add(query, past)) : query;
  return node.Typed(
      ir::Call::Make(known.logical_and, {node.Typed(Compare(known.less, query, last)),
                                         node.Typed(Compare(known.greater, key, self))}));
}

}  // namespace

std::int64_t NumHeads(Node& node) {
  const std::int64_t heads = node.Int("num_heads", 0);
  if (heads <= 0) throw InvalidArgument("the attribute num_heads must be given, and positive");
  return heads;
}

Expr SplitHeads(const Node& node, const Expr& x, std::int64_t heads) {
  const std::vector<Dim> shape = DimsOf(x);
  if (shape.size() != 3)
    throw InvalidArgument("a tensor must have the shape (batch, length, size)");
  if (!shape[2].is_static())
    throw Unimplemented(StrCat("tensors of ", shape[2].ToString(),
                               " elements are divided by heads; their number must be known when "
                               "the model is imported"));
  const std::int64_t size = shape[2].value();
  if (size % heads != 0)
    throw InvalidArgument(StrCat(size, " elements are not divided by ", heads, " heads"));
  const Expr parts =
      node.Typed(ReshapeTo(node.extents(), x, {shape[0], shape[1], heads, size / heads}));
  return node.Typed(ops::Transpose(parts, Ints{0, 2, 1, 3}));
}

void RequirePast(std::size_t input, const Dims& past, const Dims& made) {
  if (past.size() != 4 || past[0] != made[0] || past[1] != made[1] || past[3] != made[3])
    throw InvalidArgument(StrCat("input ", input, ", the past, has the shape ", ir::ToText(past),
                                 ", which does not fit ", ir::ToText(made),
                                 " (batch, heads, length, size); only the lengths may differ"));
}

Expr AfterPast(const Node& node, const Expr& past, const Expr& x) {
  if (!past) return x;
  const Dims before = DimsOf(past), shape = DimsOf(x);
  if (before.size() != 4 || before[0] != shape[0] || before[1] != shape[1] || before[3] != shape[3])
    throw InvalidArgument(StrCat("the past of the shape ", ir::ToText(before),
                                 " does not fit the present of ", ir::ToText(shape),
                                 "; except for the length they must be equal"));
  return node.Typed(ops::Concatenate({past, x}, 2));
}

Expr ScaledScores(const Node& node, const Expr& queries, const Expr& keys, double scale) {
  const DataType type = DataTypeOf(queries);
  const bool is_before = type.is_half() && scale >= 0;
  const auto times = [&](const Expr& x, double factor) {
    return node.Typed(ops::Multiply(x, ops::Scalar(factor, type)));
  };
  const auto operand = [&](const Expr& x) { return is_before ? times(x, std::sqrt(scale)) : x; };
  const Expr scores =
      node.Typed(ops::BatchMatmul(operand(queries), operand(keys), {.transpose_b = true}));
  return is_before ? scores : times(scores, scale);
}

Expr Attend(const Node& node, const Heads& heads, const AttentionOptions& options) {
  const Dims query = DimsOf(heads.query), key = DimsOf(heads.key), value = DimsOf(heads.value);
  if (key.size() != 4 || value.size() != 4 || key[0] != query[0] || key[1] != query[1] ||
      key[3] != query[3] || value[0] != query[0] || value[1] != query[1] || value[2] != key[2])
    throw InvalidArgument(StrCat("query, key and value have the shapes ", ir::ToText(query), ", ",
                                 ir::ToText(key), " and ", ir::ToText(value),
                                 " by heads, which do not fit together"));
  const Extents of{query[0], query[1], query[2], key[2]};
  if (of.queries.is_static() && of.keys.is_static() && of.keys.value() > 0 &&
      std::max<std::int64_t>(of.queries.value(), 1) > kMaxScores / of.keys.value())
    throw InvalidArgument(StrCat("attention of ", of.queries.ToString(), " queries to ",
                                 of.keys.ToString(), " keys is asked for; at most ", kMaxScores,
                                 " scores are supported"));
  const DataType type = DataTypeOf(heads.query);
  const auto flat = [&](const Expr& x, const Dim& length, const Dim& size) {
    return node.Typed(ReshapeTo(node.extents(), x, {of.batch * of.heads, length, size}));
  };
  const double scale =
      options.scale != 0 ? options.scale : 1 / std::sqrt(static_cast<double>(query[3].value()));
  Expr scores = ScaledScores(node, flat(heads.query, of.queries, query[3]),
                             flat(heads.key, of.keys, query[3]), scale);
  scores = node.Typed(ReshapeTo(node.extents(), scores, of.Scores()));
  Expr addend = Addend(node, options, of, type);
  if (options.unidirectional && of.queries != Dim(1)) {
    const Expr lowest = ops::Scalar(std::numeric_limits<float>::lowest(), type);
    const Expr other = addend ? addend : ops::Scalar(0, type);
    addend = node.Typed(ops::Where(AfterQuery(node, heads.query, of, options.past), lowest, other));
  }
  if (addend && options.bias) {
    addend = node.Typed(ops::Add(options.bias, addend));
  } else if (options.bias) {
    addend = options.bias;
  }
  if (addend) scores = node.Typed(ops::Add(scores, addend));
  if (DimsOf(scores) != of.Scores())
    throw InvalidArgument(
        "what is added to the scores does not broadcast to (batch, heads, queries, "
        "keys)");
  const Expr weights = flat(node.Typed(ops::Softmax(scores)), of.queries, of.keys);
  Expr y = node.Typed(
      ops::BatchMatmul(weights, flat(heads.value, of.keys, value[3]), {.transpose_b = false}));
  y = node.Typed(ReshapeTo(node.extents(), y, {of.batch, of.heads, of.queries, value[3]}));
  y = node.Typed(ops::Transpose(y, Ints{0, 2, 1, 3}));
  return node.Typed(ReshapeTo(node.extents(), y, {of.batch, of.queries, of.heads * value[3]}));
}

}  // namespace tenon::onnx_import
