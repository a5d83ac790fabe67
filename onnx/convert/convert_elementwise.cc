// Elementwise and broadcast operators.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

Converter Unary(const Expr& op) {
  return [op](Node& node) {
    return std::vector<Expr>{node.Typed(ir::Call::Make(op, {node.input(0)}))};
  };
}
Converter Binary(const Expr& op) {
  return [op](Node& node) {
    return std::vector<Expr>{node.Typed(ir::Call::Make(op, {node.input(0), node.input(1)}))};
  };
}
// An operator with any number of inputs, applied from the left.
Converter Variadic(const Expr& op) {
  return [op](Node& node) {
    Expr value = node.input(0);
    for (std::size_t i = 1; i < node.num_inputs(); ++i)
      value = ir::Call::Make(op, {value, node.input(i)});
    return std::vector<Expr>{node.Typed(value)};
  };
}

// From here on, doubles do not hold every integer.
constexpr double kInexactFrom = 0x1p53;

std::vector<Expr> Clip(Node& node) {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  Expr x = node.input(0);
  if (node.opset() < 11) {
    low = node.Float("min", low);
    high = node.Float("max", high);
  } else {
    // A bound may be computed, or a double may not hold it. As the standard says, the upper bound
    // wins where the bounds cross.
    const auto computed = [&](std::size_t i) {
      return node.has_input(i) &&
             (node.input(i).As<ir::ConstantNode>() == nullptr ||
              (DataTypeOf(x).is_integral() && std::fabs(node.ConstantScalar(i)) >= kInexactFrom));
    };
    const auto bound = [&](std::size_t i) { return ops::Reshape(node.input(i), Ints{}); };
    if (computed(1) || computed(2)) {
      if (node.has_input(1)) x = ops::Maximum(x, bound(1));
      if (node.has_input(2)) x = ops::Minimum(x, bound(2));
      return {node.Typed(x)};
    }
    if (node.has_input(1)) low = node.ConstantScalar(1);
    if (node.has_input(2)) high = node.ConstantScalar(2);
  }
  // Nothing is above or below NaN, so that all results are NaN.
  if (std::isnan(low) || std::isnan(high)) {
    const DataType t = DataTypeOf(x);
    return {node.Typed(ops::Minimum(ops::Maximum(x, ops::Scalar(low, t)), ops::Scalar(high, t)))};
  }
  return {node.Typed(ops::Clip(x, low, high))};
}

std::vector<Expr> HardSigmoid(Node& node) {
  const Expr& x = node.input(0);
  const DataType t = DataTypeOf(x);
  const Expr alpha = ops::Scalar(node.Float("alpha", 0.2), t);
  const Expr beta = ops::Scalar(node.Float("beta", 0.5), t);
  return {node.Typed(ops::Clip(ops::Add(ops::Multiply(x, alpha), beta), 0, 1))};
}

std::vector<Expr> HardSwish(Node& node) {
  const Expr& x = node.input(0);
  const DataType t = DataTypeOf(x);
  // Divided before it is multiplied: six times a result may be infinite.
  const Expr gate = ops::Clip(ops::Add(x, ops::Scalar(3, t)), 0, 6);
  return {node.Typed(ops::Multiply(x, ops::Divide(gate, ops::Scalar(6, t))))};
}

std::vector<Expr> Elu(Node& node) {
  const Expr& x = node.input(0);
  const DataType t = DataTypeOf(x);
  const Expr negative = ops::Multiply(ops::Scalar(node.Float("alpha", 1), t),
                                      ops::Subtract(ops::Exp(x), ops::Scalar(1, t)));
  const Expr positive = ir::Call::Make(ops::Known().greater, {x, ops::Scalar(0, t)});
  return {node.Typed(ops::Where(positive, x, negative))};
}

std::vector<Expr> Softplus(Node& node) {
  const Expr& x = node.input(0);
  const DataType t = DataTypeOf(x);
  // log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|)).
  const Expr small = ops::Log(ops::Add(ops::Scalar(1, t), ops::Exp(ops::Negative(ops::Abs(x)))));
  return {node.Typed(ops::Add(ops::Maximum(x, ops::Scalar(0, t)), small))};
}

std::vector<Expr> PRelu(Node& node) {
  const Expr& x = node.input(0);
  const Expr negative = ir::Call::Make(ops::Known().less, {x, ops::Scalar(0, DataTypeOf(x))});
  return {node.Typed(ops::Where(negative, ops::Multiply(x, node.input(1)), x))};
}

// Whether a float surely has the number, which is no very large or small one.
bool Holds(DataType type, double number) {
  if (number == 0 || !std::isfinite(number)) return true;
  const int digits = type == Float32 ? 24 : type == Float16 ? 11 : 8;
  int exponent = 0;
  const double scaled = std::ldexp(std::frexp(number, &exponent), digits);
  return scaled == std::trunc(scaled) && exponent > -14 && exponent <= 16;
}

// A float that holds the base and all exponents: an odd one that is rounded may be even. Constants
// are most often small integers, which the base's own type holds.
DataType TypeOfRealPower(const Node& node) {
  const DataType base = DataTypeOf(node.input(0)), exponent = DataTypeOf(node.input(1));
  if (base == Float64 || base == exponent) return base;
  const bool is_held =
      node.input(1).kind() == ir::ExprKind::kConstant &&
      std::ranges::all_of(node.ConstantNumbers(1), [&](double n) { return Holds(base, n); });
  if (is_held) return base;
  return exponent.bits() <= (exponent.is_float() ? 32 : 16) ? Float32 : Float64;
}

// The type that a power of integers is computed in: float64 for a real exponent, and of two
// integers one that holds all exponents. Bases may wrap around in it as the result does, unless an
// exponent may be negative, which asks whether the base is -1.
DataType TypeOfPower(DataType base, DataType exponent) {
  if (base == exponent) return base;
  if (exponent.is_float()) return Float64;
  const int bits = std::max(base.bits(), exponent.bits());
  if (exponent.is_uint()) return DataType(TypeCode::kUInt, bits);
  const bool may_wrap = base.is_uint() && base.bits() == bits && bits < 64;
  return DataType(TypeCode::kInt, may_wrap ? 2 * bits : bits);
}

// The result has the type of the base, to which the real power of an integer is rounded down.
std::vector<Expr> Pow(Node& node) {
  const DataType base = DataTypeOf(node.input(0)), exponent = DataTypeOf(node.input(1));
  const DataType type = base.is_float() ? TypeOfRealPower(node) : TypeOfPower(base, exponent);
  const auto as_type = [&](const Expr& e, DataType to) {
    return DataTypeOf(e) == to ? e : node.Typed(ops::Cast(e, to));
  };
  const Expr power = ops::Power(as_type(node.input(0), type), as_type(node.input(1), type));
  return {as_type(node.Typed(power), base)};
}

std::vector<Expr> Mod(Node& node) {
  const auto& known = ops::Known();
  const bool fmod = node.Int("fmod", 0) != 0;
  return {node.Typed(
      ir::Call::Make(fmod ? known.mod : known.floor_mod, {node.input(0), node.input(1)}))};
}

}  // namespace

void AddElementwiseConverters(ConverterTable* table) {
  const auto& known = ops::Known();
  ConverterTable& t = *table;
  t["Abs"] = Unary(known.abs);
  t["Acos"] = Unary(known.acos);
  t["Acosh"] = Unary(known.acosh);
  t["Asin"] = Unary(known.asin);
  t["Asinh"] = Unary(known.asinh);
  t["Atan"] = Unary(known.atan);
  t["Atanh"] = Unary(known.atanh);
  t["Ceil"] = Unary(known.ceil);
  t["Cos"] = Unary(known.cos);
  t["Cosh"] = Unary(known.cosh);
  t["Erf"] = Unary(known.erf);
  t["Exp"] = Unary(known.exp);
  t["Floor"] = Unary(known.floor);
  t["IsNaN"] = Unary(known.isnan);
  t["Log"] = Unary(known.log);
  t["Neg"] = Unary(known.negative);
  t["Not"] = Unary(known.logical_not);
  t["Relu"] = Unary(known.relu);
  t["Sigmoid"] = Unary(known.sigmoid);
  t["Sign"] = Unary(known.sign);
  t["Sin"] = Unary(known.sin);
  t["Sinh"] = Unary(known.sinh);
  t["Sqrt"] = Unary(known.sqrt);
  t["Tan"] = Unary(known.tan);
  t["Tanh"] = Unary(known.tanh);
  t["Identity"] = [](Node& node) { return std::vector<Expr>{node.input(0)}; };
  t["Reciprocal"] = [](Node& node) {
    const Expr& x = node.input(0);
    return std::vector<Expr>{node.Typed(ops::Divide(ops::Scalar(1, DataTypeOf(x)), x))};
  };
  t["LeakyRelu"] = [](Node& node) {
    return std::vector<Expr>{node.Typed(ops::LeakyRelu(node.input(0), node.Float("alpha", 0.01)))};
  };
  t["Clip"] = Clip;
  t["Elu"] = InFloat32(Elu);
  t["HardSigmoid"] = HardSigmoid;
  t["HardSwish"] = HardSwish;
  t["PRelu"] = PRelu;
  t["Softplus"] = InFloat32(Softplus);

  t["Add"] = Binary(known.add);
  t["And"] = Binary(known.logical_and);
  t["Div"] = Binary(known.divide);
  t["Equal"] = Binary(known.equal);
  t["Greater"] = Binary(known.greater);
  t["GreaterOrEqual"] = Binary(known.greater_equal);
  t["Less"] = Binary(known.less);
  t["LessOrEqual"] = Binary(known.less_equal);
  t["Mul"] = Binary(known.multiply);
  t["Or"] = Binary(known.logical_or);
  t["Sub"] = Binary(known.subtract);
  t["Xor"] = Binary(known.logical_xor);
  t["Max"] = Variadic(known.maximum);
  t["Min"] = Variadic(known.minimum);
  t["Sum"] = Variadic(known.add);
  t["Mod"] = Mod;
  t["Pow"] = Pow;
  t["Where"] = [](Node& node) {
    return std::vector<Expr>{node.Typed(ops::Where(node.input(0), node.input(1), node.input(2)))};
  };
}

}  // namespace tenon::onnx_import
