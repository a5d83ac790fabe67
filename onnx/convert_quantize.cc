// Quantised operators, as qnn.* calls: the rounding is that of the pass CanonicalizeQnn.
#include <algorithm>

#include "tenon/onnx/converters.h"
#include "tenon/onnx/matmul.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/qnn_builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// --- scales and zero points

// One element as a number; channels as they are.
Expr Parameter(const Node& node, const Expr& e) {
  const bool single = RankOf(e) == 1 && NumElements(ShapeOf(e)) == 1;
  return single ? node.Typed(ops::Squeeze(e, Ints{0})) : e;
}
Expr ParameterAt(const Node& node, std::size_t i) { return Parameter(node, node.input(i)); }
// The zero point at input `i`, or zero of the type where there is none.
Expr ZeroPoint(const Node& node, std::size_t i, DataType otherwise) {
  return node.has_input(i) ? ParameterAt(node, i) : node.Typed(ops::Scalar(0, otherwise));
}
// Of operands whose products are summed up: all rows share one.
Expr SingleZeroPoint(const Node& node, std::size_t i, DataType otherwise) {
  Expr zero_point = ZeroPoint(node, i, otherwise);
  if (RankOf(zero_point) != 0)
    throw Unimplemented(StrCat("input ", i, " has a zero point for each row; one is supported"));
  return zero_point;
}

void RefuseBlocks(Node& node) {
  if (const std::int64_t size = node.Int("block_size", 0); size != 0)
    throw Unimplemented(StrCat("blocked quantisation (block_size ", size,
                               ") is not supported; one scale, or one a "
                               "channel of an axis is"));
}

// --- conversions

std::vector<Expr> QuantizeLinear(Node& node) {
  RefuseBlocks(node);
  node.Ignore("saturate");  // of 8-bit floats
  if (node.Int("precision", 0) != 0)
    throw Unimplemented("the attribute precision is not supported");
  Expr x = node.input(0);
  const Expr scale = ParameterAt(node, 1);
  if (!DataTypeOf(x).is_float()) x = node.Typed(ops::Cast(x, DataTypeOf(scale)));
  DataType type = UInt8;
  if (const std::int64_t wanted = node.Int("output_dtype", 0); wanted != 0)
    type = ToDataType(static_cast<int>(wanted), "the attribute output_dtype");
  const Expr zero_point = ZeroPoint(node, 2, type);
  return {node.Typed(ops::QnnQuantize(
      x, scale, zero_point, {.out_dtype = DataTypeOf(zero_point), .axis = node.Int("axis", 1)}))};
}

std::vector<Expr> DequantizeLinear(Node& node) {
  RefuseBlocks(node);
  const Expr& x = node.input(0);
  const Expr scale = ParameterAt(node, 1);
  DataType type = DataTypeOf(scale);
  if (const std::int64_t wanted = node.Int("output_dtype", 0); wanted != 0)
    type = ToDataType(static_cast<int>(wanted), "the attribute output_dtype");
  return {node.Typed(ops::QnnDequantize(x, scale, ZeroPoint(node, 2, DataTypeOf(x)),
                                        {.out_dtype = type, .axis = node.Int("axis", 1)}))};
}

// A scale for the range of the data, which is made to contain zero.
std::vector<Expr> DynamicQuantizeLinear(Node& node) {
  const Expr& x = node.input(0);
  const Expr zero = ops::Scalar(0);
  const Expr highest = ops::Maximum(ops::Max(x), zero);
  const Expr lowest = ops::Minimum(ops::Min(x), zero);
  const Expr range = ops::Subtract(highest, lowest);
  const Expr empty = ir::Call::Make(ops::Known().equal, {range, zero});
  const Expr scale =
      node.Typed(ops::Where(empty, ops::Scalar(1), ops::Divide(range, ops::Scalar(255))));
  const Expr exact = ops::Clip(ops::Subtract(zero, ops::Divide(lowest, scale)), 0, 255);
  const Expr zero_point =
      node.Typed(ops::Cast(ir::Call::Make(ops::Known().nearbyint, {exact}), UInt8));
  return {node.Typed(ops::QnnQuantize(x, scale, zero_point, {.out_dtype = UInt8})), scale,
          zero_point};
}

// --- convolutions

struct Operand {
  Expr data, zero_point;
};

// A convolution of the same window as the node's, which the converter of Conv reads.
ops::Conv2DAttrs WindowOf(Node& node, const Expr& x, const Expr& weight) {
  const auto stand_in = [](const char* name, const Expr& e) {
    return Expr(ir::Var::MakeChecked(name, ir::TensorTypeOf(ShapeOf(e), Float32), {}));
  };
  const passes::ConstantEvaluator none;
  Node floats(node.proto(), node.opset(), {stand_in("x", x), stand_in("w", weight)}, none);
  const std::vector<Expr> conv = Converters().at("Conv")(floats);
  for (const char* name : {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"})
    node.Ignore(name);
  const auto* call = conv.at(0).As<ir::CallNode>();
  if (call == nullptr || !(call->callee == ops::Known().conv2d))
    throw Unimplemented("quantised convolutions over two spatial axes are supported, no others");
  return call->attrs.As<ops::Conv2DAttrs>();
}

Expr IntegerConv(Node& node, const Operand& x, const Operand& weight, const Expr& x_scale,
                 const Expr& weight_scale) {
  return node.Typed(ops::QnnConv2D(x.data, weight.data, x.zero_point, weight.zero_point, x_scale,
                                   weight_scale, WindowOf(node, x.data, weight.data)));
}

std::vector<Expr> ConvInteger(Node& node) {
  const Operand x{node.input(0), SingleZeroPoint(node, 2, DataTypeOf(node.input(0)))};
  const Operand weight{node.input(1), ZeroPoint(node, 3, DataTypeOf(node.input(1)))};
  const Expr one = ops::Scalar(1);
  return {IntegerConv(node, x, weight, one, one)};
}

std::vector<Expr> QLinearConv(Node& node) {
  const Operand x{node.input(0), SingleZeroPoint(node, 2, DataTypeOf(node.input(0)))};
  const Operand weight{node.input(3), ZeroPoint(node, 5, DataTypeOf(node.input(3)))};
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

Expr IntegerProduct(const Node& node, const Operand& a, const Operand& b) {
  const Expr one = ops::Scalar(1);
  return ProductOfAnyRank(
      node, a.data, b.data,
      [&](const Expr& rows, const Expr& matrix) {
        return ops::QnnDense(rows, ops::Transpose(matrix), a.zero_point, b.zero_point, one, one);
      },
      [&](const Expr& left, const Expr& right) {
        if (RankOf(b.zero_point) != 0)
          throw Unimplemented(
              "a zero point for each column of a batch of matrices is not supported");
        return ops::QnnBatchMatmul(left, right, a.zero_point, b.zero_point, one, one);
      });
}

std::vector<Expr> MatMulInteger(Node& node) {
  return {IntegerProduct(node, {node.input(0), SingleZeroPoint(node, 2, DataTypeOf(node.input(0)))},
                         {node.input(1), ZeroPoint(node, 3, DataTypeOf(node.input(1)))})};
}

std::vector<Expr> QLinearMatMul(Node& node) {
  const Expr sum =
      IntegerProduct(node, {node.input(0), SingleZeroPoint(node, 2, DataTypeOf(node.input(0)))},
                     {node.input(3), ZeroPoint(node, 5, DataTypeOf(node.input(3)))});
  const Expr a_scale = ParameterAt(node, 1);
  if (RankOf(a_scale) != 0)
    throw Unimplemented("input 1 has a scale for each row; one is supported");
  const Expr zero_point = ParameterAt(node, 7);
  return {node.Typed(ops::QnnRequantize(sum, ops::Multiply(a_scale, ParameterAt(node, 4)),
                                        ops::Scalar(0, Int32), ParameterAt(node, 6), zero_point,
                                        {.out_dtype = DataTypeOf(zero_point)}))};
}

}  // namespace

void AddQuantizeConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["ConvInteger"] = ConvInteger;
  t["DequantizeLinear"] = DequantizeLinear;
  t["DynamicQuantizeLinear"] = DynamicQuantizeLinear;
  t["MatMulInteger"] = MatMulInteger;
  t["QLinearConv"] = QLinearConv;
  t["QLinearMatMul"] = QLinearMatMul;
  t["QuantizeLinear"] = QuantizeLinear;
}

}  // namespace tenon::onnx_import
