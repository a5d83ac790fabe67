// Elementwise operators of one input.
#include <cmath>
#include <limits>
#include <utility>

#include "tenon/ops/elementwise/elementwise_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using loop::Intrinsic;
using te::Expr;
using te::Tensor;
using te::Var;

using ElementFunction = Expr (*)(const attrs::Attrs& attrs, const Expr& x);

// The lowest and highest value of a type, for bounds that do not fit it.
std::pair<double, double> RangeOf(DataType t) {
  if (t.is_bool()) return {0, 1};
  if (t.is_float())
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  const double half = std::ldexp(1.0, t.bits() - 1);
  return t.is_int() ? std::pair(-half, half - 1) : std::pair(0.0, 2 * half - 1);
}

Expr Clip(const attrs::Attrs& attrs, const Expr& x) {
  const auto& bounds = attrs.As<ops::ClipAttrs>();
  const auto [low, high] = RangeOf(x.dtype());
  const auto bound = [&](double value) {
    const double whole = x.dtype().is_float() ? value : std::trunc(value);
    // The highest integer of 64 bits is not a double.
    if (!x.dtype().is_float() && x.dtype().bits() == 64 && whole >= high)
      return loop::IntImm(x.dtype(), x.dtype().is_int() ? INT64_MAX : -1);
    return te::Cast(x.dtype(), std::min(std::max(whole, low), high));
  };
  return te::Min(te::Max(x, bound(bounds.a_min)), bound(bounds.a_max));
}

Expr Zero(const Expr& x) { return te::Cast(x.dtype(), 0); }

std::vector<Tensor> Cast(const TeCall& call) {
  const DataType to = call.dtype();
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) { return te::Cast(to, call.input(0)[ToExprs(i)]); }, "cast")};
}

// An operator that computes each element from the one of its only tensor.
template <typename Function>
TeCompute Elementwise(const char* name, Function function) {
  return TeCompute{[name, function](const TeCall& call) {
    return std::vector<Tensor>{te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>& i) { return function(call, call.input(0)[ToExprs(i)]); },
        name)};
  }};
}

struct IntrinsicRow {
  const char* name;
  Intrinsic intrinsic;
};
constexpr IntrinsicRow kIntrinsics[] = {{"acos", Intrinsic::kAcos},
                                        {"acosh", Intrinsic::kAcosh},
                                        {"asin", Intrinsic::kAsin},
                                        {"asinh", Intrinsic::kAsinh},
                                        {"atan", Intrinsic::kAtan},
                                        {"atanh", Intrinsic::kAtanh},
                                        {"cos", Intrinsic::kCos},
                                        {"cosh", Intrinsic::kCosh},
                                        {"erf", Intrinsic::kErf},
                                        {"exp", Intrinsic::kExp},
                                        {"fast_erf", Intrinsic::kErf},
                                        {"fast_exp", Intrinsic::kExp},
                                        {"fast_tanh", Intrinsic::kTanh},
                                        {"log", Intrinsic::kLog},
                                        {"log10", Intrinsic::kLog10},
                                        {"log2", Intrinsic::kLog2},
                                        {"rsqrt", Intrinsic::kRsqrt},
                                        {"sigmoid", Intrinsic::kSigmoid},
                                        {"sin", Intrinsic::kSin},
                                        {"sinh", Intrinsic::kSinh},
                                        {"sqrt", Intrinsic::kSqrt},
                                        {"tan", Intrinsic::kTan},
                                        {"tanh", Intrinsic::kTanh},
                                        {"abs", Intrinsic::kAbs},
                                        {"ceil", Intrinsic::kCeil},
                                        {"floor", Intrinsic::kFloor},
                                        {"nearbyint", Intrinsic::kNearbyint},
                                        {"round", Intrinsic::kRound},
                                        {"sign", Intrinsic::kSign},
                                        {"trunc", Intrinsic::kTrunc}};

struct PredicateRow {
  const char* name;
  Intrinsic intrinsic;
  bool of_integers;  // what it says of all of these
};
constexpr PredicateRow kPredicates[] = {{"isnan", Intrinsic::kIsNan, false},
                                        {"isinf", Intrinsic::kIsInf, false},
                                        {"isfinite", Intrinsic::kIsFinite, true}};

struct FormulaRow {
  const char* name;
  ElementFunction function;
};

Expr Itself(const attrs::Attrs&, const Expr& x) { return x; }

Expr BitwiseNot(const attrs::Attrs&, const Expr& x) {
  if (x.dtype().is_bool()) return !x;
  return loop::Binary(loop::BinaryOp::kBitXor, x, loop::IntImm(x.dtype(), -1));
}

// Halves are multiplied in float32, as their type may not hold the slope.
Expr LeakyRelu(const attrs::Attrs& attrs, const Expr& x) {
  const DataType wide = SumType(x.dtype());
  const Expr slope = te::Cast(wide, attrs.As<ops::LeakyReluAttrs>().alpha);
  return te::Select(x > Zero(x), x, te::Cast(x.dtype(), te::Cast(wide, x) * slope));
}

constexpr FormulaRow kFormulas[] = {
    {"negative", [](const attrs::Attrs&, const Expr& x) { return -x; }},
    {"copy", Itself},
    {"device_copy", Itself},
    {"on_device", Itself},
    {"annotation.compiler_begin", Itself},
    {"annotation.compiler_end", Itself},
    {"annotation.stop_fusion", Itself},
    {"zeros_like", [](const attrs::Attrs&, const Expr& x) { return Zero(x); }},
    {"ones_like", [](const attrs::Attrs&, const Expr& x) { return te::Cast(x.dtype(), 1); }},
    {"logical_not", [](const attrs::Attrs&, const Expr& x) { return !x; }},
    {"bitwise_not", BitwiseNot},
    {"nn.relu", [](const attrs::Attrs&, const Expr& x) { return te::Max(x, Zero(x)); }},
    {"nn.leaky_relu", LeakyRelu},
    {"clip", Clip},
};

std::vector<Tensor> Reinterpreted(const TeCall& call) {
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        return te::Reinterpret(call.dtype(), call.input(0)[ToExprs(i)]);
      },
      "reinterpreted")};
}

std::vector<Tensor> FullLike(const TeCall& call) {
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>&) { return loop::Cast(call.dtype(), call.input(1)()); },
      "full_like")};
}

std::vector<Tensor> PRelu(const TeCall& call) {
  const auto channel = static_cast<std::size_t>(
      ops::NormalAxis(call.attrs.As<ops::PReluAttrs>().axis, call.input(0).ndim()));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        const Expr x = call.input(0)[ToExprs(i)];
        return te::Select(x > Zero(x), x, x * call.input(1)(i[channel]));
      },
      "prelu")};
}

}  // namespace

void AttachUnaryComputes(ops::OpRegistry& registry) {
  const auto attach = [&](const char* name, TeCompute compute) {
    registry.Definition(name).SetColumn(std::move(compute));
  };
  for (const IntrinsicRow& row : kIntrinsics)
    attach(row.name, Elementwise(row.name, [row](const TeCall&, const Expr& x) {
             return loop::Call(row.intrinsic, {x});
           }));
  for (const PredicateRow& row : kPredicates)
    attach(row.name, Elementwise("predicate", [row](const TeCall&, const Expr& x) {
             if (!x.dtype().is_float()) return row.of_integers ? loop::True() : loop::False();
             return loop::Call(row.intrinsic, {x});
           }));
  for (const FormulaRow& row : kFormulas)
    attach(row.name, Elementwise(row.name, [row](const TeCall& call, const Expr& x) {
             return row.function(call.attrs, x);
           }));
  attach("cast", {Cast});
  attach("cast_like", {Cast});
  attach("reinterpret", {Reinterpreted});
  attach("full_like", {FullLike});
  attach("nn.prelu", {PRelu});
}

}  // namespace tenon::strategies
