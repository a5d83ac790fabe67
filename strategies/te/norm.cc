// Normalisations, softmax and bias.
#include <algorithm>

#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/norm/norm_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Reduction;
using te::Tensor;
using te::Var;

// One value for each line along `axis`: the shape of x without that axis.
Tensor AlongLine(
    const Tensor& x, std::size_t axis,
    const std::function<Reduction(const std::vector<Expr>& at, const IterVar& k)>& body,
    const char* name) {
  std::vector<Expr> shape = x.shape();
  const IterVar k = te::ReduceAxis(0, shape[axis], "k");
  shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  return te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at = ToExprs(i);
        at.insert(at.begin() + static_cast<std::ptrdiff_t>(axis), k.var);
        return body(at, k);
      },
      name, "comm_reduce");
}

std::vector<Expr> Without(const std::vector<Var>& i, std::size_t axis) {
  std::vector<Expr> rest = ToExprs(i);
  rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
  return rest;
}

std::vector<Tensor> Softmax(const TeCall& call, bool logarithm) {
  const Tensor& x = call.input(0);
  const auto axis =
      static_cast<std::size_t>(ops::NormalAxis(call.attrs.As<ops::SoftmaxAttrs>().axis, x.ndim()));
  // The powers carry NaN into the sum.
  const Tensor greatest = AlongLine(
      x, axis,
      [&](const std::vector<Expr>& at, const IterVar& k) { return te::MaxOfNumbers(x[at], {k}); },
      "softmax_max");
  const Tensor power = te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        return te::Exp(x[ToExprs(i)] - greatest[Without(i, axis)]);
      },
      "softmax_exp");
  const Tensor sum = AlongLine(
      x, axis,
      [&](const std::vector<Expr>& at, const IterVar& k) { return te::Sum(power[at], {k}); },
      "softmax_sum");
  return {te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> line = Without(i, axis);
        if (logarithm) return x[ToExprs(i)] - greatest[line] - te::Log(sum[line]);
        // One division per line.
        return power[ToExprs(i)] * (te::Cast(x.dtype(), 1) / sum[line]);
      },
      logarithm ? "log_softmax" : "softmax")};
}

std::vector<Tensor> LayerNorm(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::LayerNormAttrs>();
  const Tensor& x = call.input(0);
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.ndim()));
  const DataType t = x.dtype();
  const Expr count = CountOf({x.shape()[axis]}, t);
  const Tensor sum = AlongLine(
      x, axis, [&](const std::vector<Expr>& at, const IterVar& k) { return te::Sum(x[at], {k}); },
      "layer_norm_sum");
  const auto mean = [&](const std::vector<Expr>& line) { return sum[line] / count; };
  const Tensor squares = AlongLine(
      x, axis,
      [&](const std::vector<Expr>& at, const IterVar& k) {
        std::vector<Expr> line = at;
        line.erase(line.begin() + static_cast<std::ptrdiff_t>(axis));
        const Expr deviation = x[at] - mean(line);
        return te::Sum(deviation * deviation, {k});
      },
      "layer_norm_squares");
  return {te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> line = Without(i, axis);
        const Expr variance = squares[line] / count;
        Expr y = (x[ToExprs(i)] - mean(line)) * te::Rsqrt(variance + te::Cast(t, attrs.epsilon));
        if (attrs.scale) y = y * call.input(1)(i[axis]);
        if (attrs.center) y = y + call.input(2)(i[axis]);
        return y;
      },
      "layer_norm")};
}

// Normalises `count_of_groups` groups of `size` channels, which may be none, along `axis` of each
// sample.
std::vector<Tensor> NormOfChannels(const TeCall& call, std::size_t axis,
                                   std::int64_t count_of_groups, std::int64_t size,
                                   const ops::InstanceNormAttrs& attrs) {
  const Tensor& x = call.input(0);
  const DataType t = x.dtype();
  const std::vector<Expr>& shape = x.shape();
  const std::vector<Expr> groups = {shape[0], count_of_groups};
  std::vector<Expr> terms = {size};
  for (std::size_t d = 1; d < shape.size(); ++d) {
    if (d != axis) terms.push_back(shape[d]);
  }
  const Expr count = CountOf(terms, t);
  const Expr extent = te::Cast(Int64, std::max<std::int64_t>(1, size));
  // Sums `term` over all elements of a group.
  const auto sum_of = [&](const std::function<Expr(const std::vector<Expr>& group, Expr x)>& term,
                          const char* name) {
    std::vector<IterVar> axes;
    for (std::size_t d = 1; d < shape.size(); ++d)
      axes.push_back(te::ReduceAxis(0, d == axis ? Expr(size) : shape[d], "k"));
    return te::Compute(
        groups,
        [&](const std::vector<Var>& i) {
          std::vector<Expr> at = {i[0]};
          for (std::size_t d = 1; d < shape.size(); ++d) {
            const Expr k = axes[d - 1].var;
            at.push_back(d == axis ? i[1] * extent + k : k);
          }
          return te::Sum(term(ToExprs(i), x[at]), axes);
        },
        name, "comm_reduce");
  };
  const Tensor sum = sum_of([](const auto&, const Expr& v) { return v; }, "channel_norm_sum");
  const Tensor squares = sum_of(
      [&](const std::vector<Expr>& group, const Expr& v) {
        const Expr deviation = v - sum[group] / count;
        return deviation * deviation;
      },
      "channel_norm_squares");
  return {te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        const std::vector<Expr> group = {i[0], te::FloorDiv(i[axis], extent)};
        Expr y = (x[ToExprs(i)] - sum[group] / count) *
                 te::Rsqrt(squares[group] / count + te::Cast(t, attrs.epsilon));
        if (attrs.scale) y = y * call.input(1)(i[axis]);
        if (attrs.center) y = y + call.input(2)(i[axis]);
        return y;
      },
      "channel_norm")};
}

std::vector<Tensor> GroupNorm(const TeCall& call) {
  const auto& a = call.attrs.As<ops::GroupNormAttrs>();
  const Tensor& x = call.input(0);
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(a.axis, x.ndim()));
  return NormOfChannels(call, axis, a.num_groups, ExtentOf(x, axis) / a.num_groups,
                        {a.axis, a.epsilon, a.center, a.scale});
}

std::vector<Tensor> InstanceNorm(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::InstanceNormAttrs>();
  const Tensor& x = call.input(0);
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.ndim()));
  return NormOfChannels(call, axis, ExtentOf(x, axis), 1, attrs);
}

std::vector<Tensor> L2Normalize(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::L2NormalizeAttrs>();
  const Tensor& x = call.input(0);
  const std::vector<bool> summed = ops::ReducedAxes(attrs.axis, false, x.ndim());
  std::vector<Expr> kept;
  std::vector<IterVar> axes;
  for (std::size_t d = 0; d < x.ndim(); ++d) {
    if (summed[d]) {
      axes.push_back(te::ReduceAxis(0, x.shape()[d], "k"));
    } else {
      kept.push_back(x.shape()[d]);
    }
  }
  const Expr least = te::Cast(x.dtype(), attrs.eps);
  if (axes.empty())
    return {te::Compute(
        x.shape(),
        [&](const std::vector<Var>& i) {
          const Expr v = x[ToExprs(i)];
          return v / te::Sqrt(te::Max(v * v, least));
        },
        "l2_normalize")};
  const Tensor squares = te::Compute(
      kept,
      [&](const std::vector<Var>& i) {
        std::vector<Expr> at;
        auto line = i.begin();
        auto k = axes.begin();
        for (std::size_t d = 0; d < x.ndim(); ++d)
          at.emplace_back(summed[d] ? (k++)->var : *line++);
        return te::Sum(x[at] * x[at], axes);
      },
      "l2_normalize_squares", "comm_reduce");
  return {te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        std::vector<Expr> line;
        for (std::size_t d = 0; d < x.ndim(); ++d) {
          if (!summed[d]) line.emplace_back(i[d]);
        }
        return x[ToExprs(i)] * te::Rsqrt(te::Max(squares[line], least));
      },
      "l2_normalize")};
}

std::vector<Tensor> LRN(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::LRNAttrs>();
  const Tensor& x = call.input(0);
  const DataType t = x.dtype();
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.ndim()));
  const Expr& extent = x.shape()[axis];
  // A wider window would not take more channels.
  const auto up_to_last = [&](std::int64_t width) -> Expr {
    if (const auto* number = extent.As<loop::IntImmNode>())
      return std::min(width, std::max<std::int64_t>(number->value - 1, 0));
    constexpr std::int64_t kMaxWidth = 1 << 12;  // of bounds that are numbers for all extents
    if (width <= kMaxWidth) return width;
    return te::Min(Expr(width), te::Max(extent - 1, Expr(0)));
  };
  const std::int64_t half = (attrs.size - 1) / 2;
  const Expr before = up_to_last(half), after = up_to_last(attrs.size - 1 - half);
  const IterVar k = te::ReduceAxis(0, before + after + 1, "k");
  const Tensor squares = te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        const Expr tap = i[axis] + k.var - before;
        std::vector<Expr> at = ToExprs(i);
        at[axis] = te::Max(te::Min(tap, extent - 1), Expr(0));
        return te::Sum(te::Select(tap >= Expr(0) && tap < extent, x[at] * x[at], te::Cast(t, 0)),
                       {k});
      },
      "lrn_squares", "comm_reduce");
  const double scale = attrs.alpha / static_cast<double>(attrs.size);
  return {te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        const Expr base = te::Cast(t, attrs.bias) + te::Cast(t, scale) * squares[ToExprs(i)];
        return x[ToExprs(i)] / loop::Call(loop::Intrinsic::kPow, {base, te::Cast(t, attrs.beta)});
      },
      "lrn")};
}

std::vector<Tensor> BiasAdd(const TeCall& call) {
  const Tensor& x = call.input(0);
  const auto axis =
      static_cast<std::size_t>(ops::NormalAxis(call.attrs.As<ops::BiasAddAttrs>().axis, x.ndim()));
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) { return x[ToExprs(i)] + call.input(1)(i[axis]); },
      "bias_add")};
}

Tensor Copy(const Tensor& x, const char* name) {
  return te::Compute(
      x.shape(), [&](const std::vector<Var>& i) { return x[ToExprs(i)]; }, name);
}

// The moments are passed through: nothing is learned at inference.
// Halves are computed in float32, which holds small epsilons, and rounded once.
std::vector<Tensor> BatchNorm(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::BatchNormAttrs>();
  const Tensor& x = call.input(0);
  const auto axis = static_cast<std::size_t>(ops::NormalAxis(attrs.axis, x.ndim()));
  const DataType wide = SumType(x.dtype());
  const Tensor y = te::Compute(
      x.shape(),
      [&](const std::vector<Var>& i) {
        const auto of_channel = [&](std::size_t input) {
          return te::Cast(wide, call.input(input)(i[axis]));
        };
        Expr value = (te::Cast(wide, x[ToExprs(i)]) - of_channel(3)) /
                     te::Sqrt(of_channel(4) + te::Cast(wide, attrs.epsilon));
        if (attrs.scale) value = value * of_channel(1);
        if (attrs.center) value = value + of_channel(2);
        return te::Cast(x.dtype(), value);
      },
      "batch_norm");
  return {y, Copy(call.input(3), "batch_norm_mean"), Copy(call.input(4), "batch_norm_var")};
}

// At inference nothing is dropped; the mask is all ones.
std::vector<Tensor> Dropout(const TeCall& call) {
  const Tensor& x = call.input(0);
  return {Copy(x, "dropout"),
          te::Compute(
              x.shape(), [&](const std::vector<Var>&) { return te::Cast(x.dtype(), 1); },
              "dropout_mask")};
}

}  // namespace

void AttachNormComputes(ops::OpRegistry& registry) {
  for (const char* name : {"nn.softmax", "nn.fast_softmax"})
    registry.Definition(name).SetColumn(
        TeCompute{[](const TeCall& call) { return Softmax(call, false); }});
  registry.Definition("nn.log_softmax").SetColumn(TeCompute{[](const TeCall& call) {
    return Softmax(call, true);
  }});
  registry.Definition("nn.layer_norm").SetColumn(TeCompute{LayerNorm});
  registry.Definition("nn.group_norm").SetColumn(TeCompute{GroupNorm});
  registry.Definition("nn.instance_norm").SetColumn(TeCompute{InstanceNorm});
  registry.Definition("nn.bias_add").SetColumn(TeCompute{BiasAdd});
  registry.Definition("nn.batch_norm").SetColumn(TeCompute{BatchNorm});
  registry.Definition("nn.l2_normalize").SetColumn(TeCompute{L2Normalize});
  registry.Definition("nn.lrn").SetColumn(TeCompute{LRN});
  registry.Definition("nn.dropout").SetColumn(TeCompute{Dropout});
}

}  // namespace tenon::strategies
