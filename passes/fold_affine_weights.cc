#include "tenon/passes/fold_affine_weights.h"

#include <cmath>
#include <limits>

namespace tenon::passes {
namespace {

// An axis of the weight and what a step along it adds to the index along the output axis and along
// the input axis.
struct Axis {
  std::int64_t extent = 1, out = 0, in = 0;
};

// In order. Axes of one element are left out, and neighbours that are one loop are one axis: of a
// kernel of OIHW with one tap those of O and of I remain, of any other one also H and W together.
std::vector<Axis> AxesOfWeight(const Shape& weight, const ChannelAxes& axes) {
  std::vector<Axis> all;
  for (const std::int64_t extent : weight) all.push_back({.extent = extent});
  const auto fill = [&](const std::vector<std::size_t>& channel, std::int64_t Axis::*step) {
    std::int64_t next = 1;
    for (std::size_t i = channel.size(); i-- > 0;) {
      all[channel[i]].*step = next;
      next *= weight[channel[i]];
    }
  };
  fill(axes.outputs, &Axis::out);
  fill(axes.inputs, &Axis::in);
  std::vector<Axis> merged;
  for (const Axis& axis : all) {
    if (axis.extent == 1) continue;
    if (!merged.empty() && merged.back().out == axis.out * axis.extent &&
        merged.back().in == axis.in * axis.extent) {
      merged.back() = {merged.back().extent * axis.extent, axis.out, axis.in};
    } else {
      merged.push_back(axis);
    }
  }
  if (merged.empty()) merged.emplace_back();
  return merged;
}

std::int64_t Extent(const Shape& weight, const std::vector<std::size_t>& axes) {
  std::int64_t extent = 1;
  for (const std::size_t axis : axes) extent *= weight[axis];
  return extent;
}

// Calls visit(element, output channel, input channel) for every element in order. Rows along the
// last axis, so that indices are taken apart once a row.
template <typename Visit>
void ForEachWeight(const Shape& weight, const ChannelAxes& axes, Visit visit) {
  const std::vector<Axis> loops = AxesOfWeight(weight, axes);
  const std::int64_t outs = Extent(weight, axes.outputs);
  const std::int64_t ins = Extent(weight, axes.inputs);
  const Axis row = loops.back();
  const std::int64_t count = NumElements(weight);
  for (std::int64_t first = 0; first < count; first += row.extent) {
    std::int64_t rest = first / row.extent;
    std::int64_t out = 0;
    std::int64_t in = 0;
    for (std::size_t axis = loops.size() - 1; axis-- > 0;) {
      const std::int64_t at = rest % loops[axis].extent;
      rest /= loops[axis].extent;
      out += at * loops[axis].out;
      in += at * loops[axis].in;
    }
    if (axes.groups == 1) {
      for (std::int64_t i = 0; i < row.extent; ++i)
        visit(first + i, out + i * row.out, in + i * row.in);
      continue;
    }
    for (std::int64_t i = 0; i < row.extent; ++i) {
      const std::int64_t o = out + i * row.out;
      const std::int64_t c = in + i * row.in;
      if (axes.is_transposed) {
        visit(first + i, c / (ins / axes.groups) * outs + o, c);
      } else {
        visit(first + i, o, o / (outs / axes.groups) * ins + c);
      }
    }
  }
}

template <typename T>
void Scale(const NDArray& weight, const ChannelAxes& axes, const std::vector<double>& out_scale,
           const std::vector<double>& in_scale, ScaledWeight* result) {
  const T* from = weight.data<T>();
  T* to = result->weight.data<T>();
  std::int64_t flushed = 0;
  bool has_overflow = false;
  // One scale is the usual case, and a loop without a question an element is twice as fast.
  const auto scale_by = [&](const auto& factor) {
    ForEachWeight(weight.shape(), axes, [&](std::int64_t i, std::int64_t out, std::int64_t in) {
      const T rounded = static_cast<T>(factor(from[i], out, in));
      const bool is_tiny = rounded != 0 && std::fabs(rounded) < std::numeric_limits<T>::min();
      to[i] = is_tiny ? std::copysign(T{0}, rounded) : rounded;
      flushed += is_tiny ? 1 : 0;
      has_overflow = has_overflow || (std::isfinite(from[i]) && !std::isfinite(rounded));
    });
  };
  const double* outs = out_scale.data();
  const double* ins = in_scale.data();
  if (!out_scale.empty() && !in_scale.empty()) {
    scale_by([&](double value, std::int64_t out, std::int64_t in) {
      return value * outs[out] * ins[in];
    });
  } else if (!out_scale.empty()) {
    scale_by([&](double value, std::int64_t out, std::int64_t) { return value * outs[out]; });
  } else if (!in_scale.empty()) {
    scale_by([&](double value, std::int64_t, std::int64_t in) { return value * ins[in]; });
  } else {
    scale_by([](double value, std::int64_t, std::int64_t) { return value; });
  }
  result->flushed += flushed;
  result->has_overflow = result->has_overflow || has_overflow;
}

}  // namespace

ChannelCounts CountChannels(const Shape& weight, const ChannelAxes& axes) {
  const std::int64_t ins = Extent(weight, axes.inputs);
  const std::int64_t outs = Extent(weight, axes.outputs);
  return axes.is_transposed ? ChannelCounts{ins, outs * axes.groups}
                            : ChannelCounts{ins * axes.groups, outs};
}

ScaledWeight ScaleWeight(const NDArray& weight, const ChannelAxes& axes,
                         const std::vector<double>& out_scale,
                         const std::vector<double>& in_scale) {
  ScaledWeight result{.weight = NDArray::Empty(weight.shape(), weight.dtype())};
  if (weight.dtype() == Float32) {
    Scale<float>(weight, axes, out_scale, in_scale, &result);
  } else {
    Scale<double>(weight, axes, out_scale, in_scale, &result);
  }
  return result;
}

std::vector<double> ApplyToChannels(const NDArray& weight, const ChannelAxes& axes,
                                    const std::vector<double>& in_values) {
  std::vector<double> sums(static_cast<std::size_t>(CountChannels(weight.shape(), axes).outputs));
  const auto add = [&](const auto* elements) {
    ForEachWeight(weight.shape(), axes, [&](std::int64_t i, std::int64_t out, std::int64_t in) {
      sums[static_cast<std::size_t>(out)] += elements[i] * in_values[static_cast<std::size_t>(in)];
    });
  };
  if (weight.dtype() == Float32) {
    add(weight.data<float>());
  } else {
    add(weight.data<double>());
  }
  return sums;
}

}  // namespace tenon::passes
