// Normalisations by mean and variance or by a norm, softmax, and losses of whole matrices. Halves
// are computed in float32 and rounded once.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/norm/norm_attrs.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {
namespace {

constexpr Real kAny = std::numeric_limits<Real>::infinity();

// Of the numbers in which a result is computed, and of those in which it is stored.
struct Units {
  Real step, last;
  explicit Units(DataType type)
      : step(static_cast<Real>(RoundingError(type.is_half() ? Float32 : type))),
        last(2 * static_cast<Real>(RoundingError(type))) {}
};

// Where an element lies along an axis.
struct Axis {
  std::int64_t extent, inner = 1;

  Axis(const Shape& shape, std::int64_t axis) {
    const auto at =
        static_cast<std::size_t>(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis);
    extent = shape[at];
    for (std::size_t d = at + 1; d < shape.size(); ++d) inner *= shape[d];
  }
  std::int64_t IndexOf(std::int64_t i) const { return i / inner % extent; }
  // Elements that differ along this axis alone have one line.
  std::int64_t LineOf(std::int64_t i) const { return i / (inner * extent) * inner + i % inner; }
};

struct Moments {
  Real sum = 0, squares = 0, count = 0, mean = 0, variance = 0, largest = 0;
};

// What elements of one group have in common.
using GroupOf = std::function<std::int64_t(std::int64_t i)>;

std::map<std::int64_t, Moments> MomentsOf(const DefinedCall& call, const GroupOf& group_of) {
  std::map<std::int64_t, Moments> groups;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    Moments& group = groups[group_of(i)];
    group.sum += call.Arg(0, i);
    group.count += 1;
    group.largest = std::max(group.largest, std::abs(call.Arg(0, i)));
  }
  for (auto& [key, group] : groups) group.mean = group.sum / group.count;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    Moments& group = groups[group_of(i)];
    const Real deviation = call.Arg(0, i) - group.mean;
    group.squares += deviation * deviation;
  }
  for (auto& [key, group] : groups) group.variance = group.squares / group.count;
  return groups;
}

struct Scaling {
  Real epsilon, gamma, beta;
  // Errors of the moments, in units of the greatest element.
  Real terms;
};

void AddNormalised(Real x, const Moments& group, const Scaling& by, const Units& units,
                   Definition* to) {
  const Real deviation = std::sqrt(group.variance + by.epsilon);
  const Real off = units.step * (by.terms + 8) * (group.largest + std::abs(group.mean));
  const Real scaled = (x - group.mean) / deviation, value = scaled * by.gamma + by.beta;
  // The error of the variance, in parts of it.
  const Real of_variance = off * (2 * std::sqrt(group.variance) + off) / (deviation * deviation);
  const Real error =
      std::abs(by.gamma) * (off / deviation + std::abs(scaled) * of_variance) +
      units.step * (by.terms + 16) * (std::abs(scaled * by.gamma) + std::abs(by.beta));
  // Nothing is divided by what may be rounding alone.
  to->Add({.real = value}, deviation == 0 ? kAny : error + units.last * std::abs(value));
}

template <typename Attrs>
std::vector<Definition> Normalised(const DefinedCall& call, std::int64_t channel_axis,
                                   const GroupOf& group_of) {
  const auto& attrs = call.call.attrs.As<Attrs>();
  const Units units(call.results[0].dtype());
  const Axis channels(call.shape(0), channel_axis);
  const auto groups = MomentsOf(call, group_of);
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const Moments& group = groups.at(group_of(i));
    const std::int64_t channel = channels.IndexOf(i);
    AddNormalised(call.Arg(0, i), group,
                  {.epsilon = attrs.epsilon,
                   .gamma = attrs.scale ? call.Arg(1, channel) : 1,
                   .beta = attrs.center ? call.Arg(2, channel) : 0,
                   .terms = group.count},
                  units, &made);
  }
  return {made};
}

std::vector<Definition> LayerNorm(const DefinedCall& call) {
  const std::int64_t axis = call.call.attrs.As<ops::LayerNormAttrs>().axis;
  const Axis along(call.shape(0), axis);
  return Normalised<ops::LayerNormAttrs>(call, axis,
                                         [&](std::int64_t i) { return along.LineOf(i); });
}

// Groups of neighbouring channels, in each sample.
template <typename Attrs>
std::vector<Definition> NormOfChannels(const DefinedCall& call, bool is_of_groups,
                                       std::int64_t groups) {
  const std::int64_t axis = call.call.attrs.As<Attrs>().axis;
  const Axis channels(call.shape(0), axis);
  const std::int64_t size = is_of_groups ? channels.extent / groups : 1;
  std::int64_t sample = 1;
  for (std::size_t d = 1; d < call.shape(0).size(); ++d) sample *= call.shape(0)[d];
  return Normalised<Attrs>(call, axis, [&, size, sample](std::int64_t i) {
    return i / sample * channels.extent + channels.IndexOf(i) / size;
  });
}
std::vector<Definition> GroupNorm(const DefinedCall& call) {
  return NormOfChannels<ops::GroupNormAttrs>(call, true,
                                             call.call.attrs.As<ops::GroupNormAttrs>().num_groups);
}
std::vector<Definition> InstanceNorm(const DefinedCall& call) {
  return NormOfChannels<ops::InstanceNormAttrs>(call, false, 0);
}

Definition CopyOf(const NDArray& array) {
  Definition made;
  for (std::int64_t i = 0; i < array.size(); ++i) made.Add(ElementAt(array, i), 0);
  made.shape = array.shape();
  return made;
}

// The moments are given, and results, too.
std::vector<Definition> BatchNorm(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::BatchNormAttrs>();
  const Units units(call.results[0].dtype());
  const Axis channels(call.shape(0), attrs.axis);
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const std::int64_t channel = channels.IndexOf(i);
    const Moments given = {.mean = call.Arg(3, channel),
                           .variance = call.Arg(4, channel),
                           .largest = std::abs(call.Arg(0, i))};
    AddNormalised(call.Arg(0, i), given,
                  {.epsilon = attrs.epsilon,
                   .gamma = attrs.scale ? call.Arg(1, channel) : 1,
                   .beta = attrs.center ? call.Arg(2, channel) : 0,
                   .terms = 1},
                  units, &made);
  }
  return {made, CopyOf(call.args[3]), CopyOf(call.args[4])};
}

std::vector<Definition> L2Normalized(const DefinedCall& call) {
  const auto& attrs = call.call.attrs.As<ops::L2NormalizeAttrs>();
  const Shape& shape = call.shape(0);
  const Units units(call.results[0].dtype());
  std::vector<bool> is_summed(shape.size());
  for (const std::int64_t axis : attrs.axis)
    is_summed[At(axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis)] = true;
  const auto group_of = [&](std::int64_t i) {
    std::int64_t group = 0, stride = 1;
    for (std::size_t d = shape.size(); d-- > 0; i /= shape[d], stride *= shape[d])
      if (!is_summed[d]) group += i % shape[d] * stride;
    return group;
  };
  std::map<std::int64_t, std::pair<Real, Real>> groups;  // sums of squares, counts
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    auto& [squares, count] = groups[group_of(i)];
    squares += call.Arg(0, i) * call.Arg(0, i);
    count += 1;
  }
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const auto& [squares, count] = groups[group_of(i)];
    const Real value = call.Arg(0, i) / std::sqrt(std::max(squares, Real{attrs.eps}));
    made.Add({.real = value}, (units.step * (count + 8) + units.last) * std::abs(value));
  }
  return {made};
}

std::vector<Definition> Softmax(const DefinedCall& call, bool is_logarithm) {
  const Axis along(call.shape(0), call.call.attrs.As<ops::SoftmaxAttrs>().axis);
  const Units units(call.results[0].dtype());
  struct Line {
    Real most = -std::numeric_limits<Real>::infinity(), sum = 0, count = 0;
  };
  std::map<std::int64_t, Line> lines;
  const auto line_of = [&](std::int64_t i) -> Line& { return lines[along.LineOf(i)]; };
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    Line& line = line_of(i);
    if (std::isnan(call.Arg(0, i)) || call.Arg(0, i) > line.most) line.most = call.Arg(0, i);
    line.count += 1;
  }
  for (std::int64_t i = 0; i < call.args[0].size(); ++i)
    line_of(i).sum += std::exp(call.Arg(0, i) - line_of(i).most);
  Definition made;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const Line& line = line_of(i);
    const Real below = call.Arg(0, i) - line.most;
    const Real value = is_logarithm ? below - std::log(line.sum) : std::exp(below) / line.sum;
    const Real error = is_logarithm ? std::abs(below) + std::log(line.sum) + line.count + 8
                                    : (2 * std::abs(below) + line.count + 16) * std::abs(value);
    // At both ends of the exponential, all is zero or nothing is a number.
    made.Add({.real = value},
             std::isfinite(error) ? units.step * error + units.last * std::abs(value) : 0);
  }
  return {made};
}

// The negative sum of products of targets with what `of` makes of predictions, by batch.
std::vector<Definition> CrossEntropy(const DefinedCall& call, Real (*of)(Real)) {
  const Units units(call.results[0].dtype());
  const auto batch = static_cast<Real>(call.shape(0)[0]);
  Real sum = 0, magnitude = 0;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) {
    const Real term = call.Arg(1, i) * of(call.Arg(0, i));
    sum -= term;
    magnitude += std::abs(term) + std::abs(call.Arg(1, i));
  }
  const Real value = sum / batch;
  Definition made;
  made.Add({.real = value},
           units.step * static_cast<Real>(call.args[0].size() + 8) * magnitude / batch +
               units.last * std::abs(value));
  made.shape = Shape{};
  return {made};
}

// Nothing is dropped.
std::vector<Definition> Dropout(const DefinedCall& call) {
  Definition mask;
  for (std::int64_t i = 0; i < call.args[0].size(); ++i) mask.Add({1, 1}, 0);
  return {CopyOf(call.args[0]), mask};
}

}  // namespace

void AddNormDefinitions(DefinitionTable* table) {
  DefinitionTable& t = *table;
  t["nn.batch_norm"] = BatchNorm;
  t["nn.cross_entropy"] = [](const DefinedCall& call) {
    return CrossEntropy(call, [](Real x) { return std::log(x); });
  };
  t["nn.cross_entropy_with_logits"] = [](const DefinedCall& call) {
    return CrossEntropy(call, [](Real x) { return x; });
  };
  t["nn.dropout"] = Dropout;
  t["nn.group_norm"] = GroupNorm;
  t["nn.instance_norm"] = InstanceNorm;
  t["nn.l2_normalize"] = L2Normalized;
  t["nn.layer_norm"] = LayerNorm;
  t["nn.log_softmax"] = [](const DefinedCall& call) { return Softmax(call, true); };
  for (const char* name : {"nn.softmax", "nn.fast_softmax"})
    t[name] = [](const DefinedCall& call) { return Softmax(call, false); };
}

}  // namespace tenon::verify
