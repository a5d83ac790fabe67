// Quantised operators, as qnn.* calls. The pass CanonicalizeQnn defines how they round.
#include <algorithm>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/quantize.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

std::vector<Expr> DynamicQuantizeLinear(Node& node) {
  const DynamicallyQuantized made = QuantizeDynamically(node, node.input(0));
  return {made.data, made.scale, made.zero_point};
}

// --- convolutions

// The window along one axis as one over two, of which the first has one element.
ops::Conv2DAttrs OverTwoAxes(const ops::Conv1DAttrs& line) {
  ops::Conv2DAttrs attrs;
  attrs.strides = {1, line.strides.at(0)};
  attrs.padding = {0, line.padding.at(0), 0, line.padding.at(1)};
  attrs.dilation = {1, line.dilation.at(0)};
  attrs.groups = line.groups;
  attrs.channels = line.channels;
  attrs.kernel_size = Ints{1, line.kernel_size->at(0)};
  return attrs;
}

// A convolution with the same window as the node's, which the converter of Conv reads.
ops::Conv2DAttrs WindowOf(Node& node, const Expr& x, const Expr& weight) {
  const auto stand_in = [](const char* name, const Expr& e) {
    return Expr(ir::Var::MakeChecked(name, ir::TensorType(DimsOf(e), Float32), {}));
  };
  const Expr data = stand_in("x", x);
  Node floats = node.Over({data, stand_in("w", weight)});
  const std::vector<Expr> conv = Converters().at("Conv")(floats);
  for (const char* name : {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"})
    node.Ignore(name);
  const auto* call = conv.at(0).As<ir::CallNode>();
  const bool is_line = call != nullptr && call->callee == ops::Known().conv1d;
  if (call == nullptr || (!is_line && !(call->callee == ops::Known().conv2d)))
    throw Unimplemented("quantised convolutions are supported only over one or two spatial axes");
  if (!(call->args[0] == data))
    throw Unimplemented(StrCat("auto_pad of an input of the shape ", ir::ToText(DimsOf(x)),
                               " takes another padding before the elements for some extents, which "
                               "quantised convolutions do not support; give the pads or the "
                               "extents"));
  return is_line ? OverTwoAxes(call->attrs.As<ops::Conv1DAttrs>())
                 : call->attrs.As<ops::Conv2DAttrs>();
}

Expr IntegerConv(Node& node, const QuantizedOperand& x, const QuantizedOperand& weight,
                 const Expr& x_scale, const Expr& weight_scale) {
  const ops::Conv2DAttrs window = WindowOf(node, x.data, weight.data);
  const bool is_line = RankOf(x.data) == 3;
  const auto plane = [&](const Expr& e) { return is_line ? node.Typed(ops::ExpandDims(e, 2)) : e; };
  const Expr y = node.Typed(ops::QnnConv2D(plane(x.data), plane(weight.data), x.zero_point,
                                           weight.zero_point, x_scale, weight_scale, window));
  return is_line ? node.Typed(ops::Squeeze(y, Ints{2})) : y;
}

std::vector<Expr> ConvInteger(Node& node) {
  const QuantizedOperand x{node.input(0), SingleZeroPointAt(node, 2, DataTypeOf(node.input(0)))};
  const QuantizedOperand weight{node.input(1), ZeroPointAt(node, 3, DataTypeOf(node.input(1)))};
  const Expr one = ops::Scalar(1);
  return {IntegerConv(node, x, weight, one, one)};
}

std::vector<Expr> QLinearConv(Node& node) {
  const QuantizedOperand x{node.input(0), SingleZeroPointAt(node, 2, DataTypeOf(node.input(0)))};
  const QuantizedOperand weight{node.input(3), ZeroPointAt(node, 5, DataTypeOf(node.input(3)))};
  const Expr x_scale = ParameterAt(node, 1);
  const Expr weight_scale = ParameterAt(node, 4);
  Expr sum = IntegerConv(node, x, weight, x_scale, weight_scale);
  if (node.has_input(8)) sum = ops::BiasAdd(sum, node.input(8));
  const Expr zero_point = ParameterAt(node, 7);
  return {node.Typed(ops::QnnRequantize(sum, ops::Multiply(x_scale, weight_scale),
                                        ops::Scalar(0, Int32), ParameterAt(node, 6), zero_point,
                                        {.axis = 1, .out_dtype = DataTypeOf(zero_point)}))};
}

// --- matrix products

std::vector<Expr> MatMulInteger(Node& node) {
  return {IntegerProduct(node, {node.input(0), ZeroPointAt(node, 2, DataTypeOf(node.input(0)))},
                         {node.input(1), ZeroPointAt(node, 3, DataTypeOf(node.input(1)))})};
}

std::vector<Expr> QLinearMatMul(Node& node) {
  const Expr sum =
      IntegerProduct(node, {node.input(0), SingleZeroPointAt(node, 2, DataTypeOf(node.input(0)))},
                     {node.input(3), ZeroPointAt(node, 5, DataTypeOf(node.input(3)))});
  if (RankOf(ParameterAt(node, 1)) != 0)
    throw Unimplemented("input 1 has a scale for each row; one is supported");
  const Expr zero_point = ParameterAt(node, 7);
  const auto scale = [&](std::size_t i) { return Widened(node, ParameterAt(node, i)); };
  return {
      node.Typed(ops::QnnRequantize(sum, ops::Multiply(scale(1), scale(4)), ops::Scalar(0, Int32),
                                    scale(6), zero_point, {.out_dtype = DataTypeOf(zero_point)}))};
}

}  // namespace

void AddQuantizeConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["ConvInteger"] =
      Converter(ConvInteger).With({.other = "int8 and uint8; one or two spatial axes"});
  t["DynamicQuantizeLinear"] = DynamicQuantizeLinear;
  t["MatMulInteger"] = Converter(MatMulInteger).With({.other = "int8 and uint8"});
  t["QLinearConv"] = Converter(QLinearConv).With({.other = "one or two spatial axes"});
  t["QLinearMatMul"] = QLinearMatMul;
}

}  // namespace tenon::onnx_import
