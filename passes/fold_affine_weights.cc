#include "tenon/passes/fold_affine_weights.h"

#include <cmath>
#include <limits>

namespace tenon::passes {
namespace {

// What a step along each axis of the weight adds to the index along its output and input axis.
struct Steps {
  std::vector<std::int64_t> out, in;
};

Steps StepsOf(const Shape& weight, const ChannelAxes& axes) {
  Steps steps{std::vector<std::int64_t>(weight.size(), 0),
              std::vector<std::int64_t>(weight.size(), 0)};
  const auto fill = [&](const std::vector<std::size_t>& channel, std::vector<std::int64_t>* to) {
    std::int64_t step = 1;
    for (std::size_t i = channel.size(); i-- > 0;) {
      (*to)[channel[i]] = step;
      step *= weight[channel[i]];
    }
  };
  fill(axes.outputs, &steps.out);
  fill(axes.inputs, &steps.in);
  return steps;
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
  const Steps steps = StepsOf(weight, axes);
  const std::int64_t outs = Extent(weight, axes.outputs);
  const std::int64_t ins = Extent(weight, axes.inputs);
  const std::int64_t row = weight.back();
  const std::int64_t count = NumElements(weight);
  for (std::int64_t first = 0; first < count; first += row) {
    std::int64_t rest = first / row;
    std::int64_t out = 0;
    std::int64_t in = 0;
    for (std::size_t axis = weight.size() - 1; axis-- > 0;) {
      const std::int64_t at = rest % weight[axis];
      rest /= weight[axis];
      out += at * steps.out[axis];
      in += at * steps.in[axis];
    }
    for (std::int64_t i = 0; i < row; ++i) {
      const std::int64_t o = out + i * steps.out.back();
      const std::int64_t c = in + i * steps.in.back();
      if (axes.groups == 1) {
        visit(first + i, o, c);
      } else if (axes.is_transposed) {
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
  ForEachWeight(weight.shape(), axes, [&](std::int64_t i, std::int64_t out, std::int64_t in) {
    double value = from[i];
    if (!out_scale.empty()) value *= out_scale[static_cast<std::size_t>(out)];
    if (!in_scale.empty()) value *= in_scale[static_cast<std::size_t>(in)];
    T rounded = static_cast<T>(value);
    if (rounded != 0 && std::fabs(rounded) < std::numeric_limits<T>::min()) {
      rounded = std::copysign(T{0}, rounded);
      ++result->flushed;
    }
    if (std::isfinite(from[i]) && !std::isfinite(rounded)) result->has_overflow = true;
    to[i] = rounded;
  });
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
