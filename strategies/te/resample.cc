// Every element is a sum over few taps along each axis: one of the nearest element, two of linear
// interpolation, four of cubic convolution (Keys, "Cubic convolution interpolation for digital
// image processing", 1981). Which elements these are and what they weigh depends on one coordinate
// alone, so it is computed once for each line and stored. Coordinates are computed in float64.
#include "tenon/strategies/te/resample.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tenon/strategies/register_tile.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

// Coordinates this close to a whole number count as it where they are rounded down or up.
constexpr double kNudge = 1e-5;

// The coordinate of result i is (i * factor + shift) / divisor + offset.
struct Line {
  double factor = 1, shift = 0, divisor = 1, offset = 0;

  double At(std::int64_t i) const {
    return (static_cast<double>(i) * factor + shift) / divisor + offset;
  }
  Expr At(const Expr& i) const {
    const auto number = [](double v) { return te::Cast(Float64, v); };
    return (te::Cast(Float64, i) * number(factor) + number(shift)) / number(divisor) +
           number(offset);
  }
};

Line LineOf(const ResampledAxis& a, const std::string& mode) {
  const auto in = static_cast<double>(a.in);
  const auto out = static_cast<double>(a.out);
  // i / scale as i * factor / divisor; exact where the scale is that of the extents.
  Line line{.factor = a.scale == 0 ? in : 1, .divisor = a.scale == 0 ? out : a.scale};
  const auto constant = [](double value) { return Line{.factor = 0, .offset = value}; };
  if (mode == "asymmetric") return line;
  if (mode == "align_corners")
    return a.out == 1 ? constant(0) : Line{.factor = in - 1, .divisor = out - 1};
  if (mode == "tf_crop_and_resize") {
    if (a.out <= 1) return constant(0.5 * (a.start + a.end) * (in - 1));
    return {
        .factor = (a.end - a.start) * (in - 1), .divisor = out - 1, .offset = a.start * (in - 1)};
  }
  if (mode == "pytorch_half_pixel" && a.out <= 1) return constant(0);
  line.shift = 0.5 * line.factor;
  if (mode == "tf_half_pixel_for_nn") return line;
  line.offset = -0.5;
  if (mode == "half_pixel_symmetric" && a.scale != 0)
    line.offset += in / 2 * (1 - out / (a.scale * in));
  return line;
}

std::string RoundingOf(const Resampling& how) {
  if (!how.rounding.empty()) return how.rounding;
  return how.coordinates == "align_corners" ? "round" : "floor";
}

// Half-way coordinates go up except for round_prefer_floor; those below zero end up at the edge.
double Rounded(double x, const std::string& rounding) {
  if (rounding == "floor") return std::floor(x + kNudge);
  if (rounding == "ceil") return std::ceil(x - kNudge);
  return rounding == "round_prefer_floor" ? std::ceil(x - 0.5) : std::floor(x + 0.5);
}
Expr Rounded(const Expr& x, const std::string& rounding) {
  const auto plus = [&](double v) { return x + te::Cast(Float64, v); };
  if (rounding == "floor") return te::Floor(plus(kNudge));
  if (rounding == "ceil") return te::Ceil(plus(-kNudge));
  return rounding == "round_prefer_floor" ? te::Ceil(plus(-0.5)) : te::Floor(plus(0.5));
}

// Taps and weights along one axis.
struct Taps {
  std::int64_t count = 1;
  std::function<Expr(const Expr& i, std::int64_t tap)> index;
  std::function<Expr(const Expr& i, std::int64_t tap)> weight;  // null: one tap of weight 1
  std::function<Expr(const Expr& i)> is_outside;                // null: none is
  // Results after which indices go on as before; 0: indices are stored.
  std::int64_t period = 1;
};

Expr Clamped(const Expr& index, std::int64_t extent) {
  return te::Max(te::Min(index, Expr(extent - 1)), Expr(0));
}

// A function of the coordinate i as a stored line.
Tensor Stored(std::int64_t extent, const std::function<Expr(const Expr&)>& value,
              const char* name) {
  return te::Compute(
      {extent}, [&](const Var& i) { return value(i); }, name, te::Stored{});
}

// (i * factor + shift) / divisor, rounded down.
struct Quotient {
  std::int64_t factor, shift, divisor;

  std::int64_t At(std::int64_t i) const {
    const std::int64_t dividend = i * factor + shift;
    return dividend / divisor - (dividend % divisor < 0 ? 1 : 0);
  }
  Expr At(const Expr& i) const { return te::FloorDiv(i * factor + shift, divisor); }
};

// What gives `index` of every result, where one extent is a multiple of the other.
std::optional<Quotient> QuotientOf(const ResampledAxis& a,
                                   const std::function<double(std::int64_t i)>& index) {
  if (a.in < 1 || (a.out % a.in != 0 && a.in % a.out != 0)) return std::nullopt;
  Quotient q{.factor = std::max<std::int64_t>(1, a.in / a.out),
             .shift = 0,
             .divisor = std::max<std::int64_t>(1, a.out / a.in)};
  // The index goes up after so many results that leave it where it is at first.
  std::int64_t same = 1;
  while (same < a.out && same <= q.divisor && index(same) == index(0)) ++same;
  q.shift = static_cast<std::int64_t>(index(0)) * q.divisor + (q.divisor - same);
  for (std::int64_t i = 0; i < a.out; ++i) {
    if (static_cast<double>(q.At(i)) != index(i)) return std::nullopt;
  }
  return q;
}

// A quotient where that gives every nearest index; else a stored line.
Taps NearestTaps(const ResampledAxis& a, const Line& line, const std::string& rounding) {
  const auto quotient = QuotientOf(a, [&](std::int64_t i) {
    return std::clamp<double>(Rounded(line.At(i), rounding), 0, static_cast<double>(a.in - 1));
  });
  Taps taps;
  if (quotient) {
    taps.period = quotient->divisor;
    taps.index = [q = *quotient](const Expr& i, std::int64_t) { return q.At(i); };
    return taps;
  }
  const Tensor index = Stored(
      a.out,
      [&](const Expr& i) { return Clamped(te::Cast(Int64, Rounded(line.At(i), rounding)), a.in); },
      "nearest");
  taps.period = 0;
  taps.index = [index](const Expr& i, std::int64_t) { return index(i); };
  return taps;
}

// The weight of a tap at a distance within [0, 1] and within [1, 2].
Expr NearCubic(const Expr& t, double a) {
  const auto number = [](double v) { return te::Cast(Float64, v); };
  return (number(a + 2) * t - number(a + 3)) * t * t + number(1);
}
Expr FarCubic(const Expr& t, double a) {
  const auto number = [](double v) { return te::Cast(Float64, v); };
  return ((t - number(5)) * t + number(8)) * t * number(a) - number(4 * a);
}

Taps WeightedTaps(const ResampledAxis& a, const Line& line, const Resampling& how, DataType t) {
  const bool cubic = how.method == "cubic";
  Taps taps;
  taps.count = cubic ? 4 : 2;
  const std::int64_t before = cubic ? 1 : 0;
  const auto whole = [=](const Expr& i) { return te::Floor(line.At(i)); };
  const auto raw = [=](const Expr& i, std::int64_t tap) {
    const Expr f = line.At(i) - whole(i);
    const Expr one = te::Cast(Float64, 1);
    if (!cubic) return tap == 0 ? one - f : f;
    switch (tap) {
      case 0:
        return FarCubic(f + one, how.cubic_alpha);
      case 1:
        return NearCubic(f, how.cubic_alpha);
      case 2:
        return NearCubic(one - f, how.cubic_alpha);
      default:
        return FarCubic(te::Cast(Float64, 2) - f, how.cubic_alpha);
    }
  };
  const auto position = [=](const Expr& i, std::int64_t tap) {
    return te::Cast(Int64, whole(i)) + (tap - before);
  };
  const auto counted = [=](const Expr& i, std::int64_t tap) {
    if (!cubic || !how.cubic_exclude) return raw(i, tap);
    const Expr at = position(i, tap);
    return te::Select(at >= Expr(0) && at < Expr(a.in), raw(i, tap), te::Cast(Float64, 0));
  };
  const auto quotient = QuotientOf(a, [&](std::int64_t i) { return std::floor(line.At(i)); });
  std::vector<Tensor> index, weight;
  for (std::int64_t tap = 0; tap < taps.count; ++tap) {
    if (!quotient) {
      index.push_back(Stored(
          a.out, [&](const Expr& i) { return Clamped(position(i, tap), a.in); }, "tap"));
    }
    weight.push_back(Stored(
        a.out,
        [&](const Expr& i) {
          Expr value = counted(i, tap);
          if (cubic && how.cubic_exclude) {
            Expr sum = counted(i, 0);
            for (std::int64_t other = 1; other < taps.count; ++other) sum = sum + counted(i, other);
            value = value / sum;
          }
          return te::Cast(t, value);
        },
        "tap_weight"));
  }
  taps.period = quotient ? quotient->divisor : 0;
  if (quotient) {
    taps.index = [q = *quotient, before, in = a.in](const Expr& i, std::int64_t tap) {
      return Clamped(q.At(i) + (tap - before), in);
    };
  } else {
    taps.index = [index](const Expr& i, std::int64_t tap) {
      return index[static_cast<std::size_t>(tap)](i);
    };
  }
  taps.weight = [weight](const Expr& i, std::int64_t tap) {
    return weight[static_cast<std::size_t>(tap)](i);
  };
  return taps;
}

Taps TapsOf(const ResampledAxis& a, const Resampling& how, DataType t) {
  const Line line = LineOf(a, how.coordinates);
  bool same = a.in == a.out && !(how.method == "cubic" && how.cubic_exclude);
  for (std::int64_t i = 0; same && i < a.out; ++i) same = line.At(i) == static_cast<double>(i);
  Taps taps;
  if (same) {
    taps.index = [](const Expr& i, std::int64_t) { return i; };
  } else if (how.method == "nearest_neighbor") {
    taps = NearestTaps(a, line, RoundingOf(how));
  } else {
    taps = WeightedTaps(a, line, how, t);
  }
  if (how.coordinates != "tf_crop_and_resize") return taps;
  const auto last = static_cast<double>(a.in - 1);
  bool leaves = false;
  for (std::int64_t i = 0; !leaves && i < a.out; ++i) leaves = line.At(i) < 0 || line.At(i) > last;
  if (!leaves) return taps;
  const Tensor outside = Stored(
      a.out,
      [&](const Expr& i) {
        const Expr at = line.At(i);
        return te::Cast(Int32, at < te::Cast(Float64, 0) || at > te::Cast(Float64, last));
      },
      "outside");
  taps.is_outside = [outside](const Expr& i) { return outside(i) != loop::IntImm(Int32, 0); };
  return taps;
}

// The sum over the taps of axes[d] and of those after it, at result `i` and where `from` reads
// along the others.
Expr SumOverTaps(const Tensor& x, DataType t, const std::vector<ResampledAxis>& axes,
                 const std::vector<Taps>& taps, std::size_t d, const std::vector<Var>& i,
                 std::vector<Expr> from) {
  if (d == axes.size()) return te::Cast(t, x[from]);
  const std::size_t axis = axes[d].axis;
  Expr total;
  for (std::int64_t tap = 0; tap < taps[d].count; ++tap) {
    from[axis] = taps[d].index(i[axis], tap);
    Expr term = SumOverTaps(x, t, axes, taps, d + 1, i, from);
    if (taps[d].weight) term = taps[d].weight(i[axis], tap) * term;
    total = tap == 0 ? term : total + term;
  }
  return total;
}

// Whether lines along memory are better resampled before others are: there are no more of them
// than of the result, several results read each, and it takes more than to copy it. One tap does
// where the steps of its index do not begin again with each vector.
bool IsLastAxisFirst(const Shape& shape, const std::vector<ResampledAxis>& axes,
                     const std::vector<Taps>& taps, const Target& target) {
  const std::size_t last = axes.size() - 1;
  if (axes[last].axis + 1 != shape.size()) return false;
  const bool is_uneven = taps[last].period > 1 && target.vector_bytes % taps[last].period != 0;
  if (taps[last].count == 1 && !is_uneven) return false;
  bool is_read_again = false;
  for (std::size_t d = 0; d < last; ++d) {
    if (axes[d].in > axes[d].out) return false;
    is_read_again = is_read_again || taps[d].count > 1 || axes[d].in < axes[d].out;
  }
  return is_read_again;
}

}  // namespace

Tensor Resample(const Tensor& x, const Shape& shape, DataType dtype,
                const std::vector<ResampledAxis>& axes, const Resampling& how,
                const Target& target) {
  if (NumElements(shape) == 0)
    return te::Compute(
        ToExprs(shape), [&](const std::vector<Var>&) { return te::Cast(dtype, 0); }, "resize");
  // Sums of integers would lose the fractions of their weights.
  const DataType sum = x.dtype() == Float64 ? Float64 : Float32;
  const DataType t = how.method == "nearest_neighbor" ? x.dtype() : sum;
  std::vector<Taps> taps;
  for (const ResampledAxis& axis : axes) taps.push_back(TapsOf(axis, how, sum));
  Tensor from = x;
  std::vector<ResampledAxis> left = axes;
  if (IsLastAxisFirst(shape, axes, taps, target)) {
    Shape lines = shape;
    for (const ResampledAxis& axis : axes) lines[axis.axis] = axis.in;
    lines.back() = shape.back();
    from = te::Compute(
        ToExprs(lines),
        [&](const std::vector<Var>& i) {
          return SumOverTaps(x, t, axes, taps, axes.size() - 1, i, ToExprs(i));
        },
        "lines", taps.back().period == 0 ? te::Label(te::Stored{}) : te::WrittenOut{});
    left.pop_back();
  }
  return te::Compute(
      ToExprs(shape),
      [&](const std::vector<Var>& i) {
        Expr value = te::Cast(dtype, SumOverTaps(from, t, left, taps, 0, i, ToExprs(i)));
        for (std::size_t d = 0; d < axes.size(); ++d) {
          if (taps[d].is_outside)
            value = te::Select(taps[d].is_outside(i[axes[d].axis]),
                               te::Cast(dtype, how.extrapolation_value), value);
        }
        return value;
      },
      "resize");
}

}  // namespace tenon::strategies
