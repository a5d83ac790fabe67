// The operators before attention in models of ONNX Runtime's domain com.microsoft: sums of
// embeddings, rotated positions, and normalisation by the root of the mean square.
#include <algorithm>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/onnx/convert/rms_norm.h"
#include "tenon/onnx/convert/rotary.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// --- EmbedLayerNormalization

Expr RowsOf(const Node& node, const Expr& table, const Expr& indices) {
  return node.Typed(ops::Take(table, indices, {.axis = 0}));
}

Expr Positions(const Node& node, const Dim& length) {
  const Expr& table = node.input(3);
  if (node.has_input(8)) return RowsOf(node, table, node.input(8));
  const Dim rows = DimsOf(table)[0];
  if (rows.is_static() && length.is_static() && rows.value() < length.value())
    throw InvalidArgument(StrCat("there are ", rows.ToString(), " positions for sequences of ",
                                 length.ToString(), " tokens"));
  if (rows.is_static() && length.is_static())
    return RowsOf(node, table, PlacesAlong(node, 1, 0, length));
  return rows == length ? table : node.Typed(FirstOf(node.extents(), table, length, 0));
}

// How many tokens of each sequence count.
Expr MaskIndex(const Node& node, const Dim& batch) {
  if (!node.has_input(7)) {
    const Expr zero = ir::Constant::Make(NDArray::Scalar<std::int32_t>(0));
    return node.Typed(BroadcastTo(node.extents(), zero, {batch}));
  }
  const Expr& mask = node.input(7);
  const Expr one = node.Typed(ops::Scalar(1, DataTypeOf(mask)));
  const Expr counts = ops::Cast(ir::Call::Make(ops::Known().equal, {mask, one}), Int32);
  return node.Typed(ops::Sum(counts, {.axis = Ints{1}}));
}

std::vector<Expr> EmbedLayerNormalization(Node& node) {
  node.Ignore("mask_index_type");  // only for type inference
  const Expr& tokens = node.input(0);
  if (RankOf(tokens) != 2) throw InvalidArgument("input_ids must have the shape (batch, length)");
  for (const std::size_t i : {2U, 3U}) {
    if (RankOf(node.input(i)) != 2) throw InvalidArgument("embeddings must be matrices");
  }
  Expr sum = ops::Add(RowsOf(node, node.input(2), tokens), Positions(node, DimsOf(tokens)[1]));
  if (node.has_input(1)) sum = ops::Add(sum, RowsOf(node, node.input(4), node.input(1)));
  sum = node.Typed(sum);
  const Expr y = node.Typed(
      ops::LayerNorm(sum, node.input(5), node.input(6), {.epsilon = node.Float("epsilon", 1e-12)}));
  std::vector<Expr> results = {y};
  if (node.num_outputs() > 1)
    results.push_back(node.WantsOutput(1) ? MaskIndex(node, DimsOf(tokens)[0]) : Expr());
  if (node.num_outputs() > 2) results.push_back(sum);
  return results;
}

// --- RotaryEmbedding

std::vector<Expr> RotaryEmbedding(Node& node) {
  if (node.Float("scale", 1) != 1) throw Unimplemented("a scale other than 1 is not supported");
  if (node.Int("is_packed_batching", 0) != 0)
    throw Unimplemented("the attribute is_packed_batching is not supported");
  const bool interleaved = node.Int("interleaved", 0) != 0;
  const Expr& x = node.input(0);
  const std::vector<Dim> shape = DimsOf(x), table = DimsOf(node.input(2));
  if (shape.size() != 3 && shape.size() != 4)
    throw InvalidArgument("the input must have rank 3 or 4");
  if (table.size() != 2 || DimsOf(node.input(3)) != table)
    throw InvalidArgument("cos_cache and sin_cache must be matrices of one shape");
  if (!shape.back().is_static() || !table[1].is_static())
    throw Unimplemented(
        "the last extents of input 0 and of the caches must be known when the model is imported");
  const std::int64_t given = node.Int("rotary_embedding_dim", 0), heads = node.Int("num_heads", 0);
  if (given > 0 && heads <= 0 && shape.size() == 3)
    throw InvalidArgument("num_heads must be given where rotary_embedding_dim is");
  const std::int64_t size = shape.size() == 4 ? shape[3].value()
                            : given > 0       ? shape[2].value() / heads
                                              : 2 * table[1].value();
  Expr positions = node.input(1);
  if (RankOf(positions) == 1) {
    const Dim& length = shape[shape.size() == 4 ? 2 : 1];
    const Expr steps =
        node.Typed(ops::Cast(PlacesAlong(node, 1, 0, length), DataTypeOf(positions)));
    positions = node.Typed(ops::ExpandDims(ops::Add(positions, steps), 0));
  }
  const auto of_positions = [&](std::size_t i) { return RowsOf(node, node.input(i), positions); };
  return {Rotated(node, x,
                  {.cosine = of_positions(2), .sine = of_positions(3), .interleaved = interleaved},
                  size, given > 0 ? given : size)};
}

// --- normalisation of a sum; the sum is the fourth result

// The sum of the inputs 0 and 1, plus the bias where there is one.
Expr SumOfSkip(const Node& node, std::size_t bias) {
  for (int i = 1; i < std::min(node.num_outputs(), 3); ++i) {
    if (node.WantsOutput(i))
      throw Unimplemented(StrCat("output ", i, ", which only training reads, is not supported"));
  }
  const Expr sum = ops::Add(node.input(0), node.input(1));
  return node.Typed(node.has_input(bias) ? ops::Add(sum, node.input(bias)) : sum);
}

std::vector<Expr> SkipLayerNormalization(Node& node) {
  const Expr sum = SumOfSkip(node, 4);
  const bool center = node.has_input(3);
  const Expr y =
      node.Typed(ops::LayerNorm(sum, node.input(2), center ? node.input(3) : node.input(2),
                                {.epsilon = node.Float("epsilon", 1e-12), .center = center}));
  return {y, Expr(), Expr(), sum};
}

std::vector<Expr> SkipSimplifiedLayerNormalization(Node& node) {
  const Expr sum = SumOfSkip(node, 3);
  const Expr y = ScaledByRms(node, sum, node.input(2), {-1}, node.Float("epsilon", 1e-12));
  return {y, Expr(), Expr(), sum};
}

}  // namespace

void AddMicrosoftEmbeddingConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["EmbedLayerNormalization"] = EmbedLayerNormalization;
  t["RotaryEmbedding"] =
      Converter(RotaryEmbedding).With({.other = "no scale, no is_packed_batching"});
  t["SkipLayerNormalization"] = InFloat32(SkipLayerNormalization)
                                    .With({.other = "inference: the normalised value and the sum"});
  t["SkipSimplifiedLayerNormalization"] =
      InFloat32(SkipSimplifiedLayerNormalization).With({.other = "as SkipLayerNormalization"});
}

}  // namespace tenon::onnx_import
