#include "tenon/passes/affine/fold_affine_weights.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>

#include "tenon/support/on_threads.h"

namespace tenon::passes {
namespace {

// How far a step along each axis of the weight moves along its output and its input channels.
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

// An axis, or several consecutive ones that behave as one.
struct Axis {
  std::int64_t extent, out, in;  // out and in: steps of the channels
};

// The axes from the outside in, without those of extent 1.
std::vector<Axis> JoinedAxes(const Shape& weight, const Steps& steps) {
  std::vector<Axis> joined;
  for (std::size_t i = 0; i < weight.size(); ++i) {
    const Axis axis{weight[i], steps.out[i], steps.in[i]};
    if (axis.extent == 1) continue;
    if (!joined.empty() && joined.back().out == axis.out * axis.extent &&
        joined.back().in == axis.in * axis.extent) {
      joined.back() = {joined.back().extent * axis.extent, axis.out, axis.in};
    } else {
      joined.push_back(axis);
    }
  }
  if (joined.empty()) joined.push_back({1, 0, 0});
  return joined;
}

// Elements first, first + 1, ... Their channels, counted over all groups, grow by constant steps,
// which may be 0.
struct Row {
  std::int64_t first, length;
  std::int64_t out, out_step;
  std::int64_t in, in_step;
};

enum class Reads { kOutputs, kInputs, kBoth };  // the channels that a visitor asks for

// Visits all elements in order, in the longest possible rows. Channels that are not asked for do
// not end a row.
template <typename Visit>
void ForEachRow(const Shape& weight, const ChannelAxes& axes, Reads reads, const Visit& visit) {
  const std::int64_t outs = Extent(weight, axes.outputs);
  const std::int64_t ins = Extent(weight, axes.inputs);
  if (NumElements(weight) == 0) return;
  Steps steps = StepsOf(weight, axes);
  std::int64_t groups = axes.groups;
  // An axis that runs over the channels of all groups needs no other axis to tell the groups apart.
  if (reads == Reads::kOutputs && (groups == 1 || !axes.is_transposed)) {
    steps.in.assign(steps.in.size(), 0);
    groups = 1;
  } else if (reads == Reads::kInputs && (groups == 1 || axes.is_transposed)) {
    steps.out.assign(steps.out.size(), 0);
    groups = 1;
  }
  std::vector<Axis> outer = JoinedAxes(weight, steps);
  const Axis inner = outer.back();
  outer.pop_back();
  // A row stays in one group: along the axis that tells groups apart it has length one.
  const bool leaves_group = groups > 1 && (axes.is_transposed ? inner.in : inner.out) != 0;
  const std::int64_t length = leaves_group ? 1 : inner.extent;
  const auto visit_rows = [&](std::int64_t first, std::int64_t out, std::int64_t in) {
    for (std::int64_t i = 0; i < inner.extent; i += length) {
      const std::int64_t o = out + i * inner.out;
      const std::int64_t c = in + i * inner.in;
      const std::int64_t out_group =
          axes.is_transposed && groups > 1 ? c / (ins / groups) * outs : 0;
      const std::int64_t in_group =
          !axes.is_transposed && groups > 1 ? o / (outs / groups) * ins : 0;
      visit(Row{first + i, length, o + out_group, inner.out, c + in_group, inner.in});
    }
  };
  std::vector<std::int64_t> at(outer.size(), 0);
  std::int64_t first = 0, out = 0, in = 0;
  for (;;) {
    visit_rows(first, out, in);
    first += inner.extent;
    std::size_t axis = outer.size();
    for (; axis > 0; --axis) {
      const Axis& moved = outer[axis - 1];
      out += moved.out;
      in += moved.in;
      if (++at[axis - 1] < moved.extent) break;
      at[axis - 1] = 0;
      out -= moved.extent * moved.out;
      in -= moved.extent * moved.in;
    }
    if (axis == 0) return;
  }
}

// One element at a time, counting what is lost.
template <typename T, typename Factor>
void ScaleWatched(const T* from, T* to, std::int64_t length, const Factor& factor,
                  ScaleLosses* losses) {
  for (std::int64_t i = 0; i < length; ++i) {
    T rounded = static_cast<T>(factor(i, static_cast<double>(from[i])));
    if (rounded != 0 && std::fabs(rounded) < std::numeric_limits<T>::min()) {
      rounded = std::copysign(T{0}, rounded);
      ++losses->flushed;
    }
    if (std::isfinite(from[i]) && !std::isfinite(rounded)) losses->has_overflow = true;
    to[i] = rounded;
  }
}

// Loops that the compiler vectorises. The rare row that loses something is done again slowly.
template <typename T, typename Factor>
void ScaleRow(const T* from, T* to, std::int64_t length, const Factor& factor,
              ScaleLosses* losses) {
  for (std::int64_t i = 0; i < length; ++i)
    to[i] = static_cast<T>(factor(i, static_cast<double>(from[i])));
  int lost = 0;
  for (std::int64_t i = 0; i < length; ++i) {
    const T size = std::fabs(to[i]);
    lost |= static_cast<int>(size < std::numeric_limits<T>::min()) & static_cast<int>(size > T{0});
    lost |= static_cast<int>(!(size <= std::numeric_limits<T>::max()));
  }
  if (lost != 0) ScaleWatched(from, to, length, factor, losses);
}

// Large weights are scaled in parts that threads share: most of the time goes into writing new
// memory.
constexpr std::int64_t kLarge = 1 << 18;
constexpr std::int64_t kParts = 4;
// So many elements are scaled before they are looked at, while they are in the nearest cache.
constexpr std::int64_t kBlock = 1024;

// The rows that begin in part `part` of `parts`. Without `to`, results are dropped.
template <typename T>
void ScalePart(const WeightScale& scale, T* to, std::int64_t part, std::int64_t parts,
               ScaleLosses* losses) {
  const NDArray& weight = scale.weight;
  const T* from = weight.data<T>();
  const std::int64_t begin = weight.size() * part / parts;
  const std::int64_t end = weight.size() * (part + 1) / parts;
  const double one = 1;
  const bool scales_out = !scale.out.empty();
  const bool scales_in = !scale.in.empty();
  const Reads reads = scales_out && scales_in ? Reads::kBoth
                      : scales_in             ? Reads::kInputs
                                              : Reads::kOutputs;
  std::array<T, kBlock> dropped;
  ForEachRow(weight.shape(), scale.axes, reads, [&](const Row& row) {
    if (row.first < begin || row.first >= end) return;
    const double* out = scales_out ? &scale.out[static_cast<std::size_t>(row.out)] : &one;
    const double* in = scales_in ? &scale.in[static_cast<std::size_t>(row.in)] : &one;
    const std::int64_t out_step = scales_out ? row.out_step : 0;
    const std::int64_t in_step = scales_in ? row.in_step : 0;
    for (std::int64_t at = 0; at < row.length; at += kBlock) {
      const std::int64_t length = std::min(kBlock, row.length - at);
      const T* block = from + row.first + at;
      T* made = to == nullptr ? dropped.data() : to + row.first + at;
      if (out_step == 0 && in_step == 0) {
        ScaleRow(
            block, made, length,
            [a = *out, b = *in](std::int64_t, double value) { return value * a * b; }, losses);
      } else {
        ScaleRow(
            block, made, length,
            [=](std::int64_t i, double value) {
              return value * out[(at + i) * out_step] * in[(at + i) * in_step];
            },
            losses);
      }
    }
  });
}

template <typename T>
ScaleLosses Scale(const WeightScale& scale, T* to) {
  const std::int64_t parts = scale.weight.size() >= kLarge ? kParts : 1;
  std::vector<ScaleLosses> lost(static_cast<std::size_t>(parts));
  std::atomic<std::int64_t> next{0};
  OnThreads(lost.size(), [&] {
    for (std::int64_t i = next++; i < parts; i = next++)
      ScalePart<T>(scale, to, i, parts, &lost[static_cast<std::size_t>(i)]);
  });
  ScaleLosses all;
  for (const ScaleLosses& part : lost) {
    all.flushed += part.flushed;
    all.has_overflow |= part.has_overflow;
  }
  return all;
}

}  // namespace

ChannelCounts CountChannels(const Shape& weight, const ChannelAxes& axes) {
  const std::int64_t ins = Extent(weight, axes.inputs);
  const std::int64_t outs = Extent(weight, axes.outputs);
  return axes.is_transposed ? ChannelCounts{ins, outs * axes.groups}
                            : ChannelCounts{ins * axes.groups, outs};
}

ScaleLosses LossesOf(const WeightScale& scale) {
  return scale.weight.dtype() == Float32 ? Scale<float>(scale, nullptr)
                                         : Scale<double>(scale, nullptr);
}

NDArray ScaledWeights::Add(WeightScale scale) {
  NDArray room = NDArray::Empty(scale.weight.shape(), scale.weight.dtype());
  scales_.emplace_back(std::move(scale), room);
  return room;
}

void ScaledWeights::Compute() {
  for (auto& [scale, room] : scales_) {
    if (room.dtype() == Float32) {
      Scale(scale, room.data<float>());
    } else {
      Scale(scale, room.data<double>());
    }
    scale.weight = NDArray();
  }
  scales_.clear();
}

std::vector<double> ApplyToChannels(const NDArray& weight, const ChannelAxes& axes,
                                    const std::vector<double>& in_values) {
  std::vector<double> sums(static_cast<std::size_t>(CountChannels(weight.shape(), axes).outputs));
  const auto add = [&](const auto* elements) {
    ForEachRow(weight.shape(), axes, Reads::kBoth, [&](const Row& row) {
      for (std::int64_t i = 0; i < row.length; ++i)
        sums[static_cast<std::size_t>(row.out + i * row.out_step)] +=
            elements[row.first + i] * in_values[static_cast<std::size_t>(row.in + i * row.in_step)];
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
