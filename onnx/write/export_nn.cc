// Matrix products, biases, normalisations and softmax.
#include "tenon/onnx/write/exporters.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/norm/norm_attrs.h"

namespace tenon::onnx_export {
namespace {

// The last two axes swapped.
std::string Swapped(CallToWrite& call, std::size_t i) {
  Ints order;
  for (std::size_t axis = 0; axis < call.rank(i); ++axis)
    order.push_back(static_cast<std::int64_t>(axis));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return call.graph.AddNode("Transpose", {call.input(i)}, {{"perm", order}});
}

Names Product(CallToWrite& call, bool transpose_a, bool transpose_b) {
  call.Require(call.result_dtype() == call.dtype(0), "an out_dtype other than the operands'");
  if (call.rank(0) == 2 && call.rank(1) == 2 && call.dtype(0).is_float())
    return {call.graph.AddNode(
        "Gemm", {call.input(0), call.input(1)},
        {{"transA", std::int64_t{transpose_a}}, {"transB", std::int64_t{transpose_b}}})};
  const std::string a = transpose_a ? Swapped(call, 0) : call.input(0);
  const std::string b = transpose_b ? Swapped(call, 1) : call.input(1);
  return {call.graph.AddNode("MatMul", {a, b})};
}

Names Dense(CallToWrite& call) { return Product(call, false, true); }
Names Matmul(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::MatmulAttrs>();
  return Product(call, attrs.transpose_a, attrs.transpose_b);
}
Names BatchMatmul(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::BatchMatmulAttrs>();
  return Product(call, attrs.transpose_a, attrs.transpose_b);
}

// A bias that exists before the product becomes its input, when nothing else reads the bare
// product.
Names BiasAdd(CallToWrite& call) {
  const std::int64_t axis = call.Axis(call.attrs<ops::BiasAddAttrs>().axis);
  const bool is_early =
      call.arg(1).kind() == ir::ExprKind::kConstant || call.arg(1).kind() == ir::ExprKind::kVar;
  if (axis == 1 && is_early && call.only_reader() &&
      call.graph.AddBias(call.input(0), call.input(1)))
    return {call.input(0)};
  std::string bias = call.input(1);
  const std::int64_t trailing = static_cast<std::int64_t>(call.rank(0)) - 1 - axis;
  if (trailing > 0) {
    Ints axes;
    for (std::int64_t i = 1; i <= trailing; ++i) axes.push_back(i);
    bias = call.graph.AddNode("Unsqueeze", {bias, call.graph.AddInts(axes)});
  }
  return {call.graph.AddNode("Add", {call.input(0), bias})};
}

// `value` everywhere, in the type of argument `like`.
std::string Filled(CallToWrite& call, std::size_t like, float value) {
  const Shape shape = call.shape(like);
  call.Require(call.dtype(like) == Float32, "a normalisation that is not of float32");
  return call.graph.AddConstant(NDArray::FromVector<float>(
      shape, std::vector<float>(static_cast<std::size_t>(NumElements(shape)), value)));
}

Names BatchNorm(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::BatchNormAttrs>();
  call.Require(call.Axis(attrs.axis) == 1, "an axis other than 1");
  const std::string gamma = attrs.scale ? call.input(1) : Filled(call, 1, 1);
  const std::string beta = attrs.center ? call.input(2) : Filled(call, 2, 0);
  return {call.graph.AddNode("BatchNormalization",
                             {call.input(0), gamma, beta, call.input(3), call.input(4)},
                             {{"epsilon", attrs.epsilon}}),
          "", ""};
}

Names LayerNorm(CallToWrite& call) {
  const auto& attrs = call.attrs<ops::LayerNormAttrs>();
  call.Require(call.Axis(attrs.axis) + 1 == static_cast<std::int64_t>(call.rank(0)),
               "an axis other than the last");
  Names inputs = {call.input(0), attrs.scale ? call.input(1) : Filled(call, 1, 1)};
  if (attrs.center) inputs.push_back(call.input(2));
  return {call.graph.AddNode("LayerNormalization", inputs,
                             {{"axis", std::int64_t{-1}}, {"epsilon", attrs.epsilon}})};
}

Exporter Softmax(const char* type) {
  return [type](CallToWrite& call) {
    return Names{call.graph.AddNode(type, {call.input(0)},
                                    {{"axis", call.Axis(call.attrs<ops::SoftmaxAttrs>().axis)}})};
  };
}

}  // namespace

void AddNnExporters(ExporterTable* table) {
  const auto& known = ops::Known();
  ExporterTable& t = *table;
  t[known.dense] = Dense;
  t[known.matmul] = Matmul;
  t[known.batch_matmul] = BatchMatmul;
  t[known.bias_add] = BiasAdd;
  t[known.batch_norm] = BatchNorm;
  t[known.layer_norm] = LayerNorm;
  t[known.softmax] = Softmax("Softmax");
  t[known.log_softmax] = Softmax("LogSoftmax");
  // Nothing is dropped when a model runs.
  t[known.dropout] = [](CallToWrite& call) { return Names{call.input(0), ""}; };
}

}  // namespace tenon::onnx_export
