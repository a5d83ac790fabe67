// Attention and what stands around it in the standard, from opset 23 on: rotated positions and
// caches of keys and values. Softcap comes before the mask, as the standard says since its errata
// of 2026 (onnx pull requests 7867 and 7913) for all opsets.
#include <limits>
#include <optional>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/attention.h"
#include "tenon/onnx/convert/cache_write.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/count_within.h"
#include "tenon/onnx/convert/rotary.h"
#include "tenon/onnx/convert/scaled_dot_product.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// [batch, heads, length, size] of a tensor that has this form, or [batch, length, heads * size].
Expr ByHeads(Node& node, std::size_t i, const char* attribute) {
  const Expr& x = node.input(i);
  const std::vector<Dim> shape = DimsOf(x);
  const std::int64_t heads = node.Int(attribute, 0);
  if (shape.size() == 4) {
    if (heads != 0 && shape[1] != Dim(heads))
      throw InvalidArgument(StrCat(attribute, " is ", heads, ", and input ", i, " has the shape ",
                                   ir::ToText(shape), " (batch, heads, length, size)"));
    return x;
  }
  if (shape.size() != 3)
    throw InvalidArgument(StrCat("input ", i, " has rank ", shape.size(), "; it must be 3 or 4"));
  if (heads < 1)
    throw InvalidArgument(
        StrCat("the attribute ", attribute, " must be given, and positive, for inputs of rank 3"));
  const std::optional<Dim> size = ExactQuotient(shape[2], heads);
  if (!size)
    throw InvalidArgument(StrCat("input ", i, " has ", shape[2].ToString(), " elements, which are ",
                                 shape[2].is_static() ? "not" : "not known to be",
                                 " divided by the ", heads, " heads of ", attribute));
  const Expr parts =
      node.Typed(ReshapeTo(node.extents(), x, {shape[0], shape[1], Dim(heads), *size}));
  return node.Typed(ops::Transpose(parts, Ints{0, 2, 1, 3}));
}

// The past followed by the present.
Expr AfterPastAt(const Node& node, std::size_t i, const Expr& x) {
  const Expr& past = node.input(i);
  RequirePast(i, DimsOf(past), DimsOf(x));
  return node.Typed(ops::Concatenate({past, x}, 2));
}

// A mask may have fewer keys than there are: those without a value are not seen.
Expr PaddedMask(const Node& node, const Expr& mask, const Dim& keys) {
  const std::vector<Dim> shape = DimsOf(mask);
  if (shape.empty() || shape.size() > 4)
    throw InvalidArgument(StrCat("input 3, the mask, has rank ", shape.size(),
                                 "; it must be 1 to 4 and broadcast to (batch, heads, queries, "
                                 "keys)"));
  const Dim& given = shape.back();
  const bool broadcasts = node.opset() < 24 && given == Dim(1);
  if (given == keys || broadcasts) return mask;
  const DataType type = DataTypeOf(mask);
  const double unseen = type.is_bool() ? 0 : -std::numeric_limits<double>::infinity();
  if (!given.is_static() || !keys.is_static()) {
    // A run says how many keys have a value, and before opset 24 whether one is that of all.
    const auto& known = ops::Known();
    const Expr count = CountWithin(node, given, keys);
    const Expr places = node.Typed(Places(node.extents(), keys));
    Expr is_given = node.Typed(ir::Call::Make(known.less, {places, count}));
    if (node.opset() < 24)
      is_given = node.Typed(ir::Call::Make(
          known.logical_or, {is_given, ir::Call::Make(known.equal, {count, Integer(1)})}));
    const Expr inside = node.Typed(ops::Minimum(places, ops::Subtract(count, Integer(1))));
    const auto axis = static_cast<std::int64_t>(shape.size()) - 1;
    return node.Typed(ops::Where(is_given, node.Typed(ops::Take(mask, inside, {.axis = axis})),
                                 ops::Scalar(unseen, type)));
  }
  if (given.value() > keys.value())
    throw InvalidArgument(
        StrCat("input 3, the mask, has ", given.value(), " keys; there are ", keys.value()));
  std::vector<Ints> width(shape.size(), Ints{0, 0});
  width.back()[1] = keys.value() - given.value();
  return node.Typed(ops::Pad(mask, width, unseen, type));
}

void SetMask(const Node& node, ScaledDotProduct* of) {
  if (!node.has_input(3)) return;
  const Expr mask = PaddedMask(node, node.input(3), DimsOf(of->key)[2]);
  const DataType type = DataTypeOf(mask), wanted = DataTypeOf(of->query);
  if (type.is_bool()) {
    of->seen = mask;
  } else if (type.is_float()) {
    of->bias = type == wanted ? mask : node.Typed(ops::Cast(mask, wanted));
  } else {
    throw InvalidArgument(StrCat("input 3, the mask, has the type ", type.ToString(),
                                 "; it must be bool or a float"));
  }
}

// How many keys come before the first query.
Expr CausalOffset(const Node& node, const ScaledDotProduct& of) {
  if (node.has_input(4)) return node.Typed(ExtentValue(node.input(4), 2));
  if (!of.lengths) return node.Typed(ops::Scalar(0, Int64));
  return node.Typed(ops::Subtract(of.lengths, ExtentValue(of.query, 2)));
}

Expr StageOf(const AttentionStages& stages, std::int64_t mode) {
  switch (mode) {
    case 0:
      return stages.scores;
    case 1:
      return stages.capped;
    case 2:
      return stages.masked;
    case 3:
      return stages.weights;
    default:
      throw InvalidArgument(StrCat("qk_matmul_output_mode is ", mode, "; it may be 0 to 3"));
  }
}

std::vector<Expr> Attention(Node& node) {
  ScaledDotProduct of{.query = ByHeads(node, 0, "q_num_heads"),
                      .key = ByHeads(node, 1, "kv_num_heads"),
                      .value = ByHeads(node, 2, "kv_num_heads"),
                      .softcap = node.Float("softcap", 0)};
  if (node.Has("scale")) of.scale = node.Float("scale", 0);
  const std::int64_t rank = RankOf(node.input(0));
  if (RankOf(node.input(1)) != rank || RankOf(node.input(2)) != rank)
    throw InvalidArgument("query, key and value must have one rank");
  if (node.has_input(4) != node.has_input(5))
    throw InvalidArgument("past_key and past_value must be given together");
  if (node.has_input(4)) {
    of.key = AfterPastAt(node, 4, of.key);
    of.value = AfterPastAt(node, 5, of.value);
  }
  if (node.has_input(6)) {
    of.lengths = node.Typed(ops::Cast(node.input(6), Int64));
    if (RankOf(of.lengths) != 1)
      throw InvalidArgument("input 6, nonpad_kv_seqlen, must have the shape (batch)");
  }
  SetMask(node, &of);
  if (node.Int("is_causal", 0) != 0) of.causal_offset = CausalOffset(node, of);
  if (const std::int64_t type = node.Int("softmax_precision", 0); type != 0)
    of.precision = ToDataType(static_cast<int>(type), "the attribute softmax_precision");
  const std::int64_t mode = node.Int("qk_matmul_output_mode", 0);
  const AttentionStages stages = Attended(node, of);
  Expr y = stages.result;
  if (rank == 3) {
    const std::vector<Dim> shape = DimsOf(y);
    y = node.Typed(ops::Transpose(y, Ints{0, 2, 1, 3}));
    y = node.Typed(ReshapeTo(node.extents(), y, {shape[0], shape[2], shape[1] * shape[3]}));
  }
  return {y, of.key, of.value, StageOf(stages, mode)};
}

std::vector<Expr> RotaryEmbedding(Node& node) {
  const Expr& x = node.input(0);
  const std::vector<Dim> shape = DimsOf(x);
  if (shape.size() != 3 && shape.size() != 4)
    throw InvalidArgument(StrCat("input 0 has rank ", shape.size(), "; it must be 3 or 4"));
  const std::int64_t heads = node.Int("num_heads", 0);
  if (!shape.back().is_static())
    throw Unimplemented("the last extent of input 0 must be known when the model is imported");
  std::int64_t size = shape.back().value();
  if (shape.size() == 3) {
    if (heads < 1 || size % heads != 0)
      throw InvalidArgument(StrCat("num_heads is ", heads,
                                   "; for an input of rank 3 it must "
                                   "divide the ",
                                   size, " elements"));
    size /= heads;
  }
  const std::int64_t given = node.Int("rotary_embedding_dim", 0);
  const auto cache = [&](std::size_t i) {
    if (!node.has_input(3)) return node.input(i);
    if (RankOf(node.input(i)) != 2)
      throw InvalidArgument(StrCat("input ", i, " has rank ", RankOf(node.input(i)),
                                   "; with position_ids it must be a matrix"));
    return node.Typed(ops::Take(node.input(i), node.input(3), {.axis = 0}));
  };
  return {Rotated(
      node, x,
      {.cosine = cache(1), .sine = cache(2), .interleaved = node.Int("interleaved", 0) != 0}, size,
      given > 0 ? given : size)};
}

std::vector<Expr> TensorScatter(Node& node) {
  const Expr& cache = node.input(0);
  const std::string mode = node.String("mode", "linear");
  if (mode != "linear" && mode != "circular")
    throw InvalidArgument(StrCat("mode is ", mode, "; it may be linear or circular"));
  const std::int64_t axis = AxisOf(node, -2);
  if (axis == 0) throw InvalidArgument("axis is 0, which is the batch; it must be another one");
  const Expr begins = node.has_input(2)
                          ? node.input(2)
                          : node.Typed(BroadcastTo(node.extents(), Integer(0), {DimsOf(cache)[0]}));
  return {WrittenAt(node, cache, node.input(1), begins,
                    {.axis = axis, .circular = mode == "circular"})};
}

}  // namespace

void AddAttentionConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["Attention"] = Converter(Attention).With(
      {.other = "masks that depend on places need known numbers of queries and keys, except a "
                "causal one"});
  t["RotaryEmbedding"] = RotaryEmbedding;
  t["TensorScatter"] = TensorScatter;
}

}  // namespace tenon::onnx_import
