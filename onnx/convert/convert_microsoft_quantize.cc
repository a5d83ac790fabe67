// Quantised operators of ONNX Runtime's domain com.microsoft, as its document of contributed
// operators defines them. Elementwise ones calculate in float32 and round once.
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/quantize.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The inputs i, i + 1 and i + 2 are a quantised tensor, its scale and its zero point.
Expr DequantizedAt(const Node& node, std::size_t i) {
  const Expr& x = node.input(i);
  return node.Typed(ops::QnnDequantize(x, ParameterAt(node, i + 1),
                                       ZeroPointAt(node, i + 2, DataTypeOf(x)),
                                       {.out_dtype = DataTypeOf(node.input(i + 1))}));
}
// Quantises by the scale and zero point at the inputs i and i + 1. Without a zero point the result
// has the type `otherwise`.
Expr Quantized(const Node& node, const Expr& x, std::size_t i, DataType otherwise) {
  const Expr zero_point = ZeroPointAt(node, i + 1, otherwise);
  return node.Typed(ops::QnnQuantize(node.Typed(x), ParameterAt(node, i), zero_point,
                                     {.out_dtype = DataTypeOf(zero_point)}));
}

using Function1 = std::function<Expr(Node& node, const Expr& x)>;
using Function2 = std::function<Expr(const Expr& a, const Expr& b)>;

Converter Unary(const Function1& function) {
  return [function](Node& node) {
    return std::vector<Expr>{
        Quantized(node, function(node, DequantizedAt(node, 0)), 3, DataTypeOf(node.input(0)))};
  };
}

Converter Binary(const Function2& function) {
  return [function](Node& node) {
    return std::vector<Expr>{Quantized(node,
                                       function(DequantizedAt(node, 0), DequantizedAt(node, 3)), 6,
                                       DataTypeOf(node.input(0)))};
  };
}

// The standard operator of this name over the float tensor; it reads the attributes.
Expr Standard(Node& node, const char* type, const Expr& x) {
  if (node.Int("channels_last", 0) != 0)
    throw Unimplemented("channels_last is not supported; channels are the second axis");
  Node floats = node.Over({x});
  const Expr y = Converters().at(type)(floats).at(0);
  for (const char* name : {"auto_pad", "ceil_mode", "count_include_pad", "dilations",
                           "kernel_shape", "pads", "strides"})
    node.Ignore(name);
  return y;
}

std::vector<Expr> QLinearConcat(Node& node) {
  if (node.num_inputs() < 5 || node.num_inputs() % 3 != 2)
    throw InvalidArgument(StrCat(node.num_inputs(),
                                 " inputs are given; it takes a scale, a zero point and three for "
                                 "each tensor"));
  std::vector<Expr> fields;
  for (std::size_t i = 2; i < node.num_inputs(); i += 3) fields.push_back(DequantizedAt(node, i));
  if (!node.Has("axis")) throw InvalidArgument("the attribute axis is missing");
  return {Quantized(node, ops::Concatenate(std::move(fields), node.Int("axis", 0)), 0,
                    DataTypeOf(node.input(2)))};
}

// --- matrix products

std::vector<Expr> DynamicQuantizeMatMul(Node& node) {
  const DynamicallyQuantized a = QuantizeDynamically(node, node.input(0));
  const Expr& b = node.input(1);
  const Expr product =
      IntegerProduct(node, {a.data, a.zero_point}, {b, ZeroPointAt(node, 3, DataTypeOf(b))});
  return {ScaledProduct(node, product, a.scale, ParameterAt(node, 2), node.optional_input(4))};
}

std::vector<Expr> MatMulIntegerToFloat(Node& node) {
  const Expr &a = node.input(0), &b = node.input(1);
  const Expr product = IntegerProduct(node, {a, SingleZeroPointAt(node, 4, DataTypeOf(a))},
                                      {b, ZeroPointAt(node, 5, DataTypeOf(b))});
  // Several would be taken for scales of the columns of the product.
  if (RankOf(ParameterAt(node, 2)) != 0)
    throw Unimplemented("input 2 has several scales; one is supported");
  return {ScaledProduct(node, product, ParameterAt(node, 2), ParameterAt(node, 3),
                        node.optional_input(6))};
}

}  // namespace

void AddMicrosoftQuantizeConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  const auto standard = [](const char* type) {
    return Unary([type](Node& node, const Expr& x) { return Standard(node, type, x); });
  };
  t["DequantizeLinear"] = Converter([](Node& node) {
                            return Converters().at("DequantizeLinear")(node);
                          }).With({.other = "as the standard's"});
  t["DynamicQuantizeMatMul"] = Converter(DynamicQuantizeMatMul).With({.other = "int8 and uint8"});
  t["MatMulIntegerToFloat"] = Converter(MatMulIntegerToFloat).With({.other = "int8 and uint8"});
  t["QLinearAdd"] = Binary(ops::Add);
  t["QLinearAveragePool"] = standard("AveragePool").With({.other = "channels are the second axis"});
  t["QLinearConcat"] = QLinearConcat;
  t["QLinearGlobalAveragePool"] =
      standard("GlobalAveragePool").With({.other = "channels are the second axis"});
  t["QLinearLeakyRelu"] =
      Unary([](Node& node, const Expr& x) { return ops::LeakyRelu(x, node.Float("alpha", 0.01)); });
  t["QLinearMul"] = Binary(ops::Multiply);
  t["QLinearSigmoid"] = Unary([](Node&, const Expr& x) { return ops::Sigmoid(x); });
  t["QuantizeLinear"] = Converter([](Node& node) {
                          return Converters().at("QuantizeLinear")(node);
                        }).With({.other = "as the standard's"});
}

}  // namespace tenon::onnx_import
