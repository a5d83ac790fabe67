// Activations and other elementwise functions that Tenon composes of several operators.
#include <cmath>

#include "tenon/ir/parse_extents.h"
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/gelu.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Expr Call(const Expr& op, std::vector<Expr> args) { return ir::Call::Make(op, std::move(args)); }

// Numbers of the type of the node's first input.
class Numbers {
 public:
  explicit Numbers(const Node& node) : dtype_(DataTypeOf(node.input(0))) {}
  Expr operator()(double value) const { return ops::Scalar(value, dtype_); }

 private:
  DataType dtype_;
};

std::vector<Expr> Celu(Node& node) {
  const Expr& x = node.input(0);
  const Numbers n(node);
  const Expr alpha = n(node.Float("alpha", 1));
  const Expr low = ops::Multiply(alpha, ops::Subtract(ops::Exp(ops::Divide(x, alpha)), n(1)));
  return {node.Typed(ops::Add(ops::Maximum(x, n(0)), ops::Minimum(low, n(0))))};
}

// x * sigmoid(alpha * x).
Expr SwishOf(Node& node) {
  const Expr& x = node.input(0);
  const double alpha = node.Float("alpha", 1);
  const Expr inner = alpha == 1 ? x : ops::Multiply(x, Numbers(node)(alpha));
  return node.Typed(ops::Multiply(x, ops::Sigmoid(inner)));
}

// Opset 24.
std::vector<Expr> Swish(Node& node) { return {SwishOf(node)}; }

// Opset 28: a gate and what goes through it, of one shape.
std::vector<Expr> SwiGlu(Node& node) {
  const std::vector<Dim> gate = DimsOf(node.input(0)), x = DimsOf(node.input(1));
  bool is_one_shape = gate.size() == x.size();
  for (std::size_t i = 0; is_one_shape && i < x.size(); ++i)
    is_one_shape = !gate[i].is_static() || !x[i].is_static() || gate[i] == x[i];
  if (!is_one_shape)
    throw InvalidArgument(StrCat("the gate has the shape ", ir::ToText(gate),
                                 " and the other input ", ir::ToText(x),
                                 "; both must have one shape"));
  // A product would broadcast one element. The first ones of each, as many as the other has, are
  // all of them where a run is taken.
  Expr gated = SwishOf(node), other = node.input(1);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (gate[i] == x[i]) continue;
    const Expr of_gate = node.Typed(FirstOf(node.extents(), gated, x[i], i));
    other = node.Typed(FirstOf(node.extents(), other, gate[i], i));
    gated = of_gate;
  }
  return {node.Typed(ops::Multiply(gated, other))};
}

std::vector<Expr> Selu(Node& node) {
  const Expr& x = node.input(0);
  const Numbers n(node);
  const Expr alpha = n(node.Float("alpha", 1.67326319217681884765625));
  const Expr low = ops::Multiply(alpha, ops::Subtract(ops::Exp(x), n(1)));
  const Expr value = ops::Where(Call(ops::Known().greater, {x, n(0)}), x, low);
  return {node.Typed(ops::Multiply(n(node.Float("gamma", 1.05070102214813232421875)), value))};
}

// Whether x is above a bound, or below it. Of integers, bounds may be fractions or lie beyond the
// type.
Expr IsBeyond(const Expr& x, double bound, bool above) {
  const auto& known = ops::Known();
  const DataType type = DataTypeOf(x);
  if (type.is_float())
    return Call(above ? known.greater : known.less, {x, ops::Scalar(bound, type)});
  // x > 1.5 is x >= 2, and x < -1.5 is x <= -2.
  const double last = above ? std::floor(bound) + 1 : std::ceil(bound) - 1;
  const int bits = type.bits();
  const double lowest = type.is_uint() ? 0 : -std::ldexp(1, bits - 1);
  const double past = std::ldexp(1, type.is_uint() ? bits : bits - 1);
  if (above ? last >= past : last < lowest) return Call(known.less, {x, x});
  if (above ? last <= lowest : last >= past) return Call(known.equal, {x, x});
  return Call(above ? known.greater_equal : known.less_equal, {x, ops::Scalar(last, type)});
}

std::vector<Expr> Shrink(Node& node) {
  const Expr& x = node.input(0);
  const DataType type = DataTypeOf(x);
  const double lambda = node.Float("lambd", 0.5);
  const Expr bias = NumberOf("bias", node.Float("bias", 0), type);
  const Expr high =
      ops::Where(IsBeyond(x, lambda, true), ops::Subtract(x, bias), ops::Scalar(0, type));
  return {node.Typed(ops::Where(IsBeyond(x, -lambda, false), ops::Add(x, bias), high))};
}

std::vector<Expr> Softsign(Node& node) {
  const Expr& x = node.input(0);
  return {node.Typed(ops::Divide(x, ops::Add(Numbers(node)(1), ops::Abs(x))))};
}

std::vector<Expr> ThresholdedRelu(Node& node) {
  const Expr& x = node.input(0);
  const Numbers n(node);
  return {
      node.Typed(ops::Where(Call(ops::Known().greater, {x, n(node.Float("alpha", 1))}), x, n(0)))};
}

// x * tanh(log(1 + exp(x))), the logarithm without overflow.
std::vector<Expr> Mish(Node& node) {
  const Expr& x = node.input(0);
  const Numbers n(node);
  const Expr small = ops::Log(ops::Add(n(1), ops::Exp(ops::Negative(ops::Abs(x)))));
  return {node.Typed(ops::Multiply(x, ops::Tanh(ops::Add(ops::Maximum(x, n(0)), small))))};
}

std::vector<Expr> Gelu(Node& node) {
  const std::string how = node.String("approximate", "none");
  if (how == "none") return {node.Typed(GeluByErf(node.input(0)))};
  if (how == "tanh") return {node.Typed(GeluByTanh(node.input(0)))};
  throw InvalidArgument(StrCat("approximate is ", how, "; it may be none or tanh"));
}

// Halves go to the even neighbour, unlike `round`, which rounds them away from zero.
std::vector<Expr> Round(Node& node) {
  const Expr& x = node.input(0);
  const Numbers n(node);
  const auto round = [](const Expr& e) { return Call(ops::Known().round, {e}); };
  const Expr rounded = node.Typed(round(x));
  const Expr half = Call(ops::Known().equal, {ops::Abs(ops::Subtract(rounded, x)), n(0.5)});
  const Expr even = ops::Multiply(n(2), round(ops::Multiply(x, n(0.5))));
  return {node.Typed(ops::Where(half, even, rounded))};
}

std::vector<Expr> IsInf(Node& node) {
  const Expr& x = node.input(0);
  const auto& known = ops::Known();
  const bool negative = node.Int("detect_negative", 1) != 0;
  const bool positive = node.Int("detect_positive", 1) != 0;
  const Expr infinite = Call(known.isinf, {x});
  if (negative && positive) return {node.Typed(infinite)};
  const Expr zero = Numbers(node)(0);
  if (!negative && !positive)
    return {node.Typed(Call(known.logical_and, {infinite, ops::Scalar(0, Bool)}))};
  return {node.Typed(
      Call(known.logical_and, {infinite, Call(negative ? known.less : known.greater, {x, zero})}))};
}

// A shift by the type's width or more gives zero. Tenon's operators take the distance modulo the
// width.
Expr ShiftedOut(const Node& node, const Expr& shifted, const Expr& distance) {
  const DataType type = DataTypeOf(distance);
  const Expr width = ops::Scalar(type.bits(), type);
  return node.Typed(ops::Where(node.Typed(Call(ops::Known().less, {distance, width})), shifted,
                               ops::Scalar(0, type)));
}

std::vector<Expr> BitShift(Node& node) {
  const std::string direction = node.String("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    throw InvalidArgument(StrCat("direction is \"", direction, "\"; it may be LEFT or RIGHT"));
  const auto& known = ops::Known();
  const Expr& distance = node.input(1);
  const Expr shifted = node.Typed(
      Call(direction == "LEFT" ? known.left_shift : known.right_shift, {node.input(0), distance}));
  return {ShiftedOut(node, shifted, distance)};
}

Converter Bitwise(const Expr& op) {
  return [op](Node& node) {
    return std::vector<Expr>{node.Typed(ir::Call::Make(op, node.all_inputs()))};
  };
}

std::vector<Expr> Mean(Node& node) {
  Expr sum = node.input(0);
  for (std::size_t i = 1; i < node.num_inputs(); ++i) sum = ops::Add(sum, node.input(i));
  return {node.Typed(ops::Divide(sum, Numbers(node)(static_cast<double>(node.num_inputs()))))};
}

// 1 at the first maximum along the axis; up to opset 12, along all axes from this one on.
std::vector<Expr> Hardmax(Node& node) {
  const std::vector<Dim> shape = DimsOf(node.input(0));
  const std::int64_t axis = AxisOf(node, node.opset() >= 13 ? -1 : 1);
  Expr x = node.input(0);
  if (node.opset() < 13) {
    std::vector<Dim> flat(shape.begin(), shape.begin() + axis);
    flat.push_back(ops::Product({shape.begin() + axis, shape.end()}));
    x = node.Typed(ReshapeTo(node.extents(), x, flat));
  }
  const Expr best = ops::ArgMax(x, {.axis = Ints{axis}, .keepdims = true});
  const auto place = static_cast<std::size_t>(axis);
  const Expr index =
      PlacesAlong(node, static_cast<std::size_t>(RankOf(x)), place, DimsOf(x)[place]);
  const Expr hit = node.Typed(
      ops::Cast(Call(ops::Known().equal, {ops::Cast(best, Int64), index}), DataTypeOf(x)));
  return {node.Typed(ReshapeTo(node.extents(), hit, shape))};
}

}  // namespace

void AddActivationConverters(ConverterTable* table) {
  const auto& known = ops::Known();
  ConverterTable& t = *table;
  t["BitShift"] = BitShift;
  t["BitwiseAnd"] = Bitwise(known.bitwise_and);
  t["BitwiseNot"] = Bitwise(known.bitwise_not);
  t["BitwiseOr"] = Bitwise(known.bitwise_or);
  t["BitwiseXor"] = Bitwise(known.bitwise_xor);
  t["Celu"] = InFloat32(Celu);
  t["Gelu"] = InFloat32(Gelu);
  t["Hardmax"] = Hardmax;
  t["IsInf"] = IsInf;
  t["Mean"] = InFloat32(Mean);
  t["Mish"] = InFloat32(Mish);
  t["Round"] = Round;
  t["Selu"] = InFloat32(Selu);
  t["Shrink"] = Converter(Shrink).With({.other = "of integers, a whole number as bias"});
  t["Softsign"] = Softsign;
  t["SwiGLU"] = Converter(SwiGlu).With({.other = "see [opset 28](#opset-28)"});
  t["Swish"] = Swish;
  t["ThresholdedRelu"] = ThresholdedRelu;
}

}  // namespace tenon::onnx_import
