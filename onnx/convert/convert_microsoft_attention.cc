// Attention of ONNX Runtime's domain com.microsoft: with its projections (Attention), with these in
// integers (QAttention), and over values that are already projected (MultiHeadAttention).
#include "tenon/onnx/convert/attention.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/matmul.h"
#include "tenon/onnx/convert/quantize.h"
#include "tenon/onnx/convert/symbolic_shapes.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

AttentionOptions OptionsOf(Node& node) {
  return {.scale = node.Float("scale", 0),
          .masked = node.Float("mask_filter_value", -10000),
          .unidirectional = node.Int("unidirectional", 0) != 0};
}

// Refuses modes of kernels that rotate positions or write into their own input.
void RefuseModes(Node& node, std::size_t shared_length) {
  for (const char* name : {"do_rotary", "past_present_share_buffer"}) {
    if (node.Int(name, 0) != 0)
      throw Unimplemented(StrCat("the attribute ", name, " is not supported"));
  }
  node.Ignore("rotary_embedding_dim");  // for do_rotary
  if (node.has_input(shared_length))
    throw Unimplemented(StrCat("input ", shared_length,
                               ", the length of a past that shares its memory, is not supported"));
}

// Attention over projections [batch, length, sizes of query, key and value]. Returns the result,
// and the keys and values of past and present.
std::vector<Expr> SelfAttention(Node& node, const Expr& projected, const Ints& sizes,
                                const Expr& past, AttentionOptions options) {
  const std::int64_t heads = NumHeads(node);
  const std::vector<Expr> parts = PartsAlong(node, projected, {sizes[0], sizes[0] + sizes[1]}, 2);
  Heads of{SplitHeads(node, parts[0], heads), SplitHeads(node, parts[1], heads),
           SplitHeads(node, parts[2], heads)};
  if (past) {
    const std::vector<Dim> shape = DimsOf(past);
    if (shape.size() != 5 || shape[0] != Dim(2))
      throw InvalidArgument("past must have the shape (2, batch, heads, length, size)");
    options.past = node.Typed(ExtentValue(past, 3));
    of.key = AfterPast(node, node.Typed(ElementAlong(past, 0, 0)), of.key);
    of.value = AfterPast(node, node.Typed(ElementAlong(past, 1, 0)), of.value);
  }
  std::vector<Expr> results = {Attend(node, of, options)};
  if (node.WantsOutput(1)) {
    if (DimsOf(of.key) != DimsOf(of.value))
      throw InvalidArgument("keys and values of different sizes have no present in one tensor");
    results.push_back(node.Typed(ops::Stack({of.key, of.value}, 0)));
  }
  return results;
}

// The sizes of query, key and value in a projection.
Ints SizesOf(Node& node, const Expr& weights) {
  if (RankOf(weights) != 2) throw InvalidArgument("the weights must be a matrix");
  const std::int64_t columns = ShapeOf(weights)[1];
  const Ints sizes = node.IntsOr("qkv_hidden_sizes", {});
  if (sizes.empty()) {
    if (columns % 3 != 0)
      throw InvalidArgument(
          StrCat("the weights have ", columns, " columns, which are not three parts of one size"));
    return {columns / 3, columns / 3, columns / 3};
  }
  if (sizes.size() != 3 || sizes[0] != sizes[1] || sizes[0] <= 0 || sizes[2] <= 0 ||
      2 * sizes[0] + sizes[2] != columns)
    throw InvalidArgument(StrCat("qkv_hidden_sizes is [", StrJoin(sizes, ", "),
                                 "]; it must be three values, the first two equal, that sum up to "
                                 "the ",
                                 columns, " columns of the weights"));
  return sizes;
}

std::vector<Expr> Attention(Node& node) {
  RefuseModes(node, 6);
  const Expr &x = node.input(0), &weights = node.input(1);
  const Ints sizes = SizesOf(node, weights);
  Expr projected = ProductOfAnyRank(node, x, weights);
  if (node.has_input(2)) projected = node.Typed(ops::Add(projected, node.input(2)));
  AttentionOptions options = OptionsOf(node);
  options.mask = node.optional_input(3);
  options.bias = node.optional_input(5);
  return SelfAttention(node, projected, sizes, node.optional_input(4), options);
}

std::vector<Expr> QAttention(Node& node) {
  RefuseModes(node, 9);
  const Expr &x = node.input(0), &weights = node.input(1);
  const Ints sizes = SizesOf(node, weights);
  const Expr product = IntegerProduct(node, {x, SingleZeroPointAt(node, 6, DataTypeOf(x))},
                                      {weights, ZeroPointAt(node, 7, DataTypeOf(weights))});
  const Expr projected =
      ScaledProduct(node, product, ParameterAt(node, 4), ParameterAt(node, 3), node.input(2));
  AttentionOptions options = OptionsOf(node);
  options.mask = node.optional_input(5);
  return SelfAttention(node, projected, sizes, node.optional_input(8), options);
}

std::vector<Expr> MultiHeadAttention(Node& node) {
  const std::int64_t heads = NumHeads(node);
  for (const std::size_t i : {8U, 9U}) {
    if (node.has_input(i))
      throw Unimplemented(
          StrCat("input ", i, ", of a past that shares its memory, is not supported"));
  }
  if (node.WantsOutput(3)) throw Unimplemented("output 3, the scores, is not supported");
  if (!node.has_input(1) || !node.has_input(2) || RankOf(node.input(0)) != 3 ||
      RankOf(node.input(1)) == 5)
    throw Unimplemented("query, key and value packed into one tensor are not supported");
  std::vector<Expr> inputs = {node.input(0), node.input(1), node.input(2)};
  const bool by_heads = RankOf(inputs[1]) == 4;
  if (by_heads != (RankOf(inputs[2]) == 4))
    throw InvalidArgument("key and value must have one rank");
  const Expr past_key = node.optional_input(6), past_value = node.optional_input(7);
  if (by_heads && (node.has_input(3) || past_key || past_value))
    throw Unimplemented("a bias or a past with keys and values of rank 4 is not supported");
  if (static_cast<bool>(past_key) != static_cast<bool>(past_value))
    throw InvalidArgument("past_key and past_value must be given together");
  if (node.has_input(3)) {
    const Dim whole = DimsOf(inputs[0])[2];
    if (!whole.is_static())
      throw Unimplemented("the size of the query must be known when the model is imported");
    const std::int64_t size = whole.value();
    const std::vector<Expr> biases = PartsAlong(node, node.input(3), {size, 2 * size}, 0);
    for (std::size_t i = 0; i < 3; ++i) inputs[i] = node.Typed(ops::Add(inputs[i], biases[i]));
  }
  AttentionOptions options = OptionsOf(node);
  options.mask = node.optional_input(4);
  options.bias = node.optional_input(5);
  Heads of{SplitHeads(node, inputs[0], heads), inputs[1], inputs[2]};
  if (!by_heads) {
    of.key = AfterPast(node, past_key, SplitHeads(node, inputs[1], heads));
    of.value = AfterPast(node, past_value, SplitHeads(node, inputs[2], heads));
  }
  if (past_key) options.past = node.Typed(ExtentValue(past_key, 2));
  return {Attend(node, of, options), of.key, of.value};
}

}  // namespace

void AddMicrosoftAttentionConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["Attention"] = Converter(Attention).With(
      {.other = "masks of one to three axes; no do_rotary and no past that shares its memory"});
  t["MultiHeadAttention"] =
      Converter(MultiHeadAttention)
          .With({.other = "as Attention; query, key and value are separate tensors"});
  t["QAttention"] = Converter(QAttention).With({.other = "as Attention; int8 and uint8"});
}

}  // namespace tenon::onnx_import
