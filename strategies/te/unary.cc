// Elementwise operators of one input.
#include <cmath>
#include <limits>

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

}  // namespace

void AttachUnaryComputes(ops::OpRegistry& registry) {
  struct Row {
    const char* name;
    ElementFunction function;
  };
  const auto attach = [&](const char* name, ElementFunction function) {
    registry.Definition(name).SetColumn(TeCompute{[name, function](const TeCall& call) {
      return std::vector<Tensor>{te::Compute(
          call.te_shape(),
          [&](const std::vector<Var>& i) {
            return function(call.attrs, call.input(0)[ToExprs(i)]);
          },
          name)};
    }});
  };
  struct IntrinsicRow {
    const char* name;
    Intrinsic intrinsic;
  };
  for (const IntrinsicRow& row : {IntrinsicRow{"acos", Intrinsic::kAcos},
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
                                  {"trunc", Intrinsic::kTrunc}}) {
    registry.Definition(row.name).SetColumn(TeCompute{[row](const TeCall& call) {
      return std::vector<Tensor>{te::Compute(
          call.te_shape(),
          [&](const std::vector<Var>& i) {
            return loop::Call(row.intrinsic, {call.input(0)[ToExprs(i)]});
          },
          row.name)};
    }});
  }
  const auto predicate = [](Intrinsic intrinsic, bool of_integers) {
    return TeCompute{[intrinsic, of_integers](const TeCall& call) {
      return std::vector<Tensor>{te::Compute(
          call.te_shape(),
          [&](const std::vector<Var>& i) {
            const Expr x = call.input(0)[ToExprs(i)];
            if (!x.dtype().is_float()) return of_integers ? loop::True() : loop::False();
            return loop::Call(intrinsic, {x});
          },
          "predicate")};
    }};
  };
  registry.Definition("isnan").SetColumn(predicate(Intrinsic::kIsNan, false));
  registry.Definition("isinf").SetColumn(predicate(Intrinsic::kIsInf, false));
  registry.Definition("isfinite").SetColumn(predicate(Intrinsic::kIsFinite, true));

  attach("negative", [](const attrs::Attrs&, const Expr& x) { return -x; });
  for (const char* name :
       {"copy", "device_copy", "on_device", "annotation.compiler_begin", "annotation.compiler_end"})
    attach(name, [](const attrs::Attrs&, const Expr& x) { return x; });
  attach("annotation.stop_fusion", [](const attrs::Attrs&, const Expr& x) { return x; });
  attach("zeros_like", [](const attrs::Attrs&, const Expr& x) { return Zero(x); });
  attach("ones_like", [](const attrs::Attrs&, const Expr& x) { return te::Cast(x.dtype(), 1); });
  attach("logical_not", [](const attrs::Attrs&, const Expr& x) { return !x; });
  attach("bitwise_not", [](const attrs::Attrs&, const Expr& x) {
    return x.dtype().is_bool()
               ? !x
               : loop::Binary(loop::BinaryOp::kBitXor, x, loop::IntImm(x.dtype(), -1));
  });
  attach("nn.relu", [](const attrs::Attrs&, const Expr& x) { return te::Max(x, Zero(x)); });
  attach("nn.leaky_relu", [](const attrs::Attrs& attrs, const Expr& x) {
    const Expr slope = te::Cast(x.dtype(), attrs.As<ops::LeakyReluAttrs>().alpha);
    return te::Select(x > Zero(x), x, x * slope);
  });
  attach("clip", Clip);
  registry.Definition("cast").SetColumn(TeCompute{Cast});
  registry.Definition("reinterpret").SetColumn(TeCompute{[](const TeCall& call) {
    return std::vector<Tensor>{te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>& i) {
          return te::Reinterpret(call.dtype(), call.input(0)[ToExprs(i)]);
        },
        "reinterpreted")};
  }});
  registry.Definition("cast_like").SetColumn(TeCompute{Cast});
  registry.Definition("full_like").SetColumn(TeCompute{[](const TeCall& call) {
    return std::vector<Tensor>{te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>&) { return loop::Cast(call.dtype(), call.input(1)()); },
        "full_like")};
  }});
  registry.Definition("nn.prelu").SetColumn(TeCompute{[](const TeCall& call) {
    const auto channel = static_cast<std::size_t>(
        ops::NormalAxis(call.attrs.As<ops::PReluAttrs>().axis, call.input(0).ndim()));
    return std::vector<Tensor>{te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>& i) {
          const Expr x = call.input(0)[ToExprs(i)];
          return te::Select(x > Zero(x), x, x * call.input(1)(i[channel]));
        },
        "prelu")};
  }});
}

}  // namespace tenon::strategies
