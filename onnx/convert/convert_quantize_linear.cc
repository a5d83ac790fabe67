// QuantizeLinear and DequantizeLinear. One scale for the tensor or one per channel of integers is a
// qnn.* call, whose rounding the pass CanonicalizeQnn defines. Scales per block of an axis (opset
// 21), and floats of 8 bits and fewer (opset 19), are composed here: x / scale rounded to the
// nearest, ties to even, plus the zero point; and (x - zero point) * scale.
#include <algorithm>
#include <cmath>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/equal_extents.h"
#include "tenon/onnx/convert/narrow_cast.h"
#include "tenon/onnx/convert/quantize.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/quantize/qnn_builders.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr As(const Node& node, const Expr& x, DataType type) {
  return DataTypeOf(x) == type ? x : node.Typed(ops::Cast(x, type));
}

// The axis and the length of its blocks, 0 for none.
struct Granularity {
  std::int64_t axis, block;
};

// No axis is longer.
constexpr std::int64_t kMaxBlock = std::int64_t{1} << 40;

// The shape of the scales: one for each block.
std::vector<Dim> ShapeOfBlocks(const Node& node, const Granularity& of) {
  std::vector<Dim> shape = DimsOf(node.input(0));
  Dim& extent = shape[static_cast<std::size_t>(of.axis)];
  extent = CeilDiv(extent, of.block);
  return shape;
}

// Refuses what is wrong in all runs.
void CheckBlocks(const Node& node, std::size_t i, const Granularity& of) {
  const std::vector<Dim> wanted = ShapeOfBlocks(node, of), given = DimsOf(node.input(i));
  bool fits = given.size() == wanted.size();
  for (std::size_t d = 0; fits && d < given.size(); ++d)
    fits = !given[d].is_static() || !wanted[d].is_static() || given[d] == wanted[d];
  if (!fits)
    throw InvalidArgument(StrCat("input ", i, " must have one element for each block of ", of.block,
                                 " elements along axis ", of.axis, ", the shape ",
                                 ir::ToText(wanted), ", not ", ir::ToText(given)));
}

Granularity GranularityOf(Node& node) {
  Granularity of{node.Int("axis", 1), node.Int("block_size", 0)};
  if (of.block < 0)
    throw InvalidArgument(StrCat("block_size is ", of.block, "; it must not be negative"));
  if (of.block == 0) return of;
  const std::vector<Dim> data = DimsOf(node.input(0));
  of.axis = ops::NormalAxis(of.axis, data.size());
  // A longer block than the axis is one of its length.
  const Dim& extent = data[static_cast<std::size_t>(of.axis)];
  of.block = std::min(of.block,
                      extent.is_static() ? std::max<std::int64_t>(extent.value(), 1) : kMaxBlock);
  for (const std::size_t i : {1, 2}) {
    if (node.has_input(i)) CheckBlocks(node, i, of);
  }
  return of;
}

// A parameter with the extents that the data asks for. Each run checks those that are variables.
Expr WithBlocksOfData(const Node& node, Expr parameter, const Granularity& of) {
  const auto axis = static_cast<std::size_t>(of.axis);
  const std::vector<Dim> wanted = ShapeOfBlocks(node, of);
  for (std::size_t d = 0; d < wanted.size(); ++d) {
    std::vector<Dim> shape = DimsOf(parameter);
    if (shape[d] == wanted[d]) continue;
    shape[d] = wanted[d];
    parameter = d == axis ? node.Typed(ReshapeTo(node.extents(), parameter, shape))
                          : WithExtentOf(node, parameter, d, node.input(0), d);
  }
  return parameter;
}

// A scale or zero point for each element of the data, or in a shape that broadcasts to it.
Expr ForEach(const Node& node, std::size_t i, const Granularity& of) {
  Expr parameter = ParameterAt(node, i);
  if (RankOf(parameter) == 0) return parameter;
  const Expr& x = node.input(0);
  if (of.block == 0) {
    Ints shape(static_cast<std::size_t>(RankOf(x)), 1);
    shape[static_cast<std::size_t>(ops::NormalAxis(of.axis, shape.size()))] = -1;
    return node.Typed(ops::ReshapeToExtents(parameter, shape));
  }
  parameter = WithBlocksOfData(node, parameter, of);
  const Dim extent = DimsOf(x)[static_cast<std::size_t>(of.axis)];
  if (!extent.is_static()) {
    const Expr places =
        node.Typed(ir::Call::Make(ops::Known().floor_divide,
                                  {node.Typed(Places(node.extents(), extent)), Integer(of.block)}));
    return node.Typed(ops::Take(parameter, places, {.axis = of.axis}));
  }
  const Expr repeated = node.Typed(ops::Repeat(parameter, of.block, of.axis));
  if (DimsOf(repeated) == DimsOf(x)) return repeated;
  return node.Typed(ops::StridedSlice(
      repeated, {.begin = {0}, .end = {extent.value()}, .strides = {1}, .axes = Ints{of.axis}}));
}

// What a quantised value is: the type that carries it, and the narrow one where there is one.
struct Quantized {
  DataType type = UInt8;
  const NarrowType* narrow = nullptr;
};

Quantized ResultOf(Node& node) {
  Quantized of;
  const int wanted = static_cast<int>(node.Int("output_dtype", 0));
  if (node.has_input(2)) {
    of = {DataTypeOf(node.input(2)), node.NarrowTypeOf(2)};
    if (of.narrow == nullptr && of.type.is_float())
      throw InvalidArgument(StrCat("input 2, the zero point, has the type ", of.type.ToString(),
                                   "; it must be an integer or a float of 8 bits"));
  } else if (const NarrowType* narrow = FindNarrowType(wanted)) {
    of = {narrow->carrier, narrow};
  } else if (wanted != 0) {
    of.type = ToDataType(wanted, "the attribute output_dtype");
  }
  return of;
}

// The least and greatest number that quantising gives.
std::pair<double, double> RangeOf(const Quantized& to) {
  if (to.narrow != nullptr) return {to.narrow->lowest(), to.narrow->highest()};
  const int bits = to.type.bits();
  if (to.type.is_uint()) return {0, std::ldexp(1, bits) - 1};
  return {-std::ldexp(1, bits - 1), std::ldexp(1, bits - 1) - 1};
}

Expr Composed(Node& node, const Expr& x, const Expr& scale, const Granularity& of,
              const Quantized& to) {
  const Expr quotient = node.Typed(ops::Divide(x, scale));
  if (to.narrow != nullptr && to.narrow->is_float()) {
    if (node.has_input(2)) {
      const std::vector<double> zeros = node.ConstantNumbers(2);
      for (const double zero : zeros) {
        if (zero != 0)
          throw Unimplemented(StrCat("input 2 has the zero point ", zero, "; that of a ",
                                     to.narrow->name, " must be 0"));
      }
    }
    const Overflow overflow =
        node.Int("saturate", 1) != 0 ? Overflow::kSaturates : Overflow::kInfinityOrNan;
    return RoundedTo(node, quotient, *to.narrow, overflow);
  }
  Expr y = As(node, node.Typed(ir::Call::Make(ops::Known().nearbyint, {quotient})), Float32);
  if (node.has_input(2)) y = ops::Add(y, As(node, ForEach(node, 2, of), Float32));
  const auto [lowest, highest] = RangeOf(to);
  return node.Typed(ops::Cast(ops::Clip(y, lowest, highest), to.type));
}

std::vector<Expr> QuantizeLinear(Node& node) {
  const Granularity of = GranularityOf(node);
  const Quantized to = ResultOf(node);
  node.Ignore("saturate");  // for floats of 8 bits
  Expr x = node.input(0), scale = ParameterAt(node, 1);
  if (!DataTypeOf(x).is_float()) x = As(node, x, DataTypeOf(scale));
  // Opset 23: the type in which the quotient is computed.
  const int precision = static_cast<int>(node.Int("precision", 0));
  const bool is_float8 = to.narrow != nullptr && to.narrow->is_float();
  const bool composed = of.block != 0 || is_float8;
  if (composed || precision != 0) {
    const DataType type =
        precision != 0 ? ToDataType(precision, "the attribute precision") : DataTypeOf(scale);
    if (!type.is_float())
      throw InvalidArgument(StrCat("precision is ", type.ToString(), "; it must be a float"));
    x = As(node, x, type);
    scale = As(node, composed ? ForEach(node, 1, of) : scale, type);
  }
  Expr y;
  if (composed) {
    y = Composed(node, x, scale, of, to);
  } else {
    y = node.Typed(ops::QnnQuantize(x, scale, ZeroPointAt(node, 2, to.type),
                                    {.out_dtype = to.type, .axis = of.axis}));
    // A saturated value of more bits saturates to fewer as the original does.
    if (to.narrow != nullptr)
      y = node.Typed(ops::Clip(y, to.narrow->lowest(), to.narrow->highest()));
  }
  if (to.narrow != nullptr) return {node.OfNarrowType(y, *to.narrow)};
  return {y};
}

std::vector<Expr> DequantizeLinear(Node& node) {
  const Granularity of = GranularityOf(node);
  const Expr& x = node.input(0);
  const Expr scale = ParameterAt(node, 1);
  DataType type = DataTypeOf(scale);
  if (const std::int64_t wanted = node.Int("output_dtype", 0); wanted != 0)
    type = ToDataType(static_cast<int>(wanted), "the attribute output_dtype");
  if (of.block == 0 && !DataTypeOf(x).is_float()) {
    // qnn.dequantize has no bfloat16; float32 holds it, and the result is rounded once.
    const bool is_bfloat = type == BFloat16;
    const Expr y = node.Typed(ops::QnnDequantize(
        x, is_bfloat ? As(node, scale, Float32) : scale, ZeroPointAt(node, 2, DataTypeOf(x)),
        {.out_dtype = is_bfloat ? Float32 : type, .axis = of.axis}));
    return {As(node, y, type)};
  }
  if (DataTypeOf(x).is_float() && node.NarrowTypeOf(0) == nullptr)
    throw InvalidArgument(StrCat("input 0 has the type ", DataTypeOf(x).ToString(),
                                 "; it must be an integer or a float of 8 bits or fewer"));
  Expr centred = x;
  // The difference of integers of 16 bits has 17; that of floats is in their own type.
  const DataType between = DataTypeOf(x).is_float() ? Float32 : Int32;
  if (node.has_input(2))
    centred =
        node.Typed(ops::Subtract(As(node, x, between), As(node, ForEach(node, 2, of), between)));
  // A half need not hold the integer of which the product is one.
  const DataType computed = DataTypeOf(scale).is_half() ? Float32 : DataTypeOf(scale);
  const Expr y = node.Typed(
      ops::Multiply(As(node, centred, computed), As(node, ForEach(node, 1, of), computed)));
  return {As(node, y, type)};
}

}  // namespace

void AddQuantizeLinearConverters(ConverterTable* table) {
  (*table)["DequantizeLinear"] = DequantizeLinear;
  (*table)["QuantizeLinear"] =
      Converter(QuantizeLinear)
          .With({.known = {{2, "y_zero_point", "for a float8"}},
                 .other = "not to float8e8m0; the zero point of a float8 is 0"});
}

}  // namespace tenon::onnx_import
