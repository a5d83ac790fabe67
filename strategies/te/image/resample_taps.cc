// One tap of the nearest element, two of linear interpolation, four of cubic convolution (Keys,
// "Cubic convolution interpolation for digital image processing", 1981). What depends on one
// coordinate alone is computed once for each line and stored; indices that a quotient of whole
// numbers gives are not stored.
#include "tenon/strategies/te/image/resample_taps.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "tenon/ops/image/resize_rules.h"
#include "tenon/strategies/te/image/resample_line.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

std::string RoundingOf(const Resampling& how) {
  if (!how.rounding.empty()) return how.rounding;
  return how.coordinates == "align_corners" ? "round" : "floor";
}

// Half-way coordinates go up, except with round_prefer_floor. Those below zero end up at the edge.
double Rounded(double x, const std::string& rounding) {
  if (rounding == "floor") return std::floor(x + ops::kResizeNudge);
  if (rounding == "ceil") return std::ceil(x - ops::kResizeNudge);
  return rounding == "round_prefer_floor" ? std::ceil(x - 0.5) : std::floor(x + 0.5);
}
Expr Rounded(const Expr& x, const std::string& rounding) {
  const auto plus = [&](double v) { return x + te::Cast(Float64, v); };
  if (rounding == "floor") return te::Floor(plus(ops::kResizeNudge));
  if (rounding == "ceil") return te::Ceil(plus(-ops::kResizeNudge));
  return rounding == "round_prefer_floor" ? te::Ceil(plus(-0.5)) : te::Floor(plus(0.5));
}

std::int64_t NumberOf(const Expr& extent) { return extent.As<loop::IntImmNode>()->value; }

Expr Clamped(const Expr& index, const Expr& extent) {
  return te::Max(te::Min(index, extent - 1), Expr(0));
}

// A function of the coordinate i as a stored line.
Tensor Stored(const Expr& extent, const std::function<Expr(const Expr&)>& value, const char* name) {
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

// Results of a line that are looked at one by one when a kernel is made.
constexpr std::int64_t kMaxAsked = 1 << 24;

// The quotient that gives `index` of every result, if one extent is a multiple of the other.
std::optional<Quotient> QuotientOf(std::int64_t in, std::int64_t out,
                                   const std::function<double(std::int64_t i)>& index) {
  // Longer lines are stored: each index would be asked for here.
  if (out > kMaxAsked) return std::nullopt;
  if (in < 1 || (out % in != 0 && in % out != 0)) return std::nullopt;
  Quotient q{.factor = std::max<std::int64_t>(1, in / out),
             .shift = 0,
             .divisor = std::max<std::int64_t>(1, out / in)};
  // The index stays at its first value for so many results, and then goes up.
  std::int64_t same = 1;
  while (same < out && same <= q.divisor && index(same) == index(0)) ++same;
  q.shift = static_cast<std::int64_t>(index(0)) * q.divisor + (q.divisor - same);
  for (std::int64_t i = 0; i < out; ++i) {
    if (static_cast<double>(q.At(i)) != index(i)) return std::nullopt;
  }
  return q;
}

// Taps of linear or cubic interpolation by a whole scale, whatever the extent: the quotient of some
// elements is that of all, since the line repeats itself after each of them.
std::optional<RepeatedEnds> RepeatedEndsOf(const ResampledLine& line, std::int64_t count,
                                           std::int64_t before) {
  constexpr std::int64_t kSome = 8;
  if (!line.by_scale) return std::nullopt;
  const std::int64_t some_results = kSome * line.whole_scale;
  const auto q =
      QuotientOf(kSome, some_results, [&](std::int64_t i) { return std::floor(line.by_scale(i)); });
  if (!q) return std::nullopt;
  const std::int64_t first = std::max<std::int64_t>(0, before - q->At(0));
  const std::int64_t last = q->At(some_results - 1) + (count - 1 - before);
  return RepeatedEnds{first, std::max<std::int64_t>(0, last - (kSome - 1)),
                      [q = *q, shift = first - before](const Expr& i, std::int64_t tap) {
                        return q.At(i) + (tap + shift);
                      }};
}

// A quotient if that gives every nearest index; else a stored line.
Taps NearestTaps(const ResampledAxis& a, const ResampledLine& line, const std::string& rounding) {
  std::optional<Quotient> quotient;
  if (line.number != nullptr) {
    const std::int64_t in = NumberOf(a.in);
    quotient = QuotientOf(in, NumberOf(a.out), [&](std::int64_t i) {
      return std::clamp<double>(Rounded(line.number(i), rounding), 0, static_cast<double>(in - 1));
    });
  }
  Taps taps;
  if (quotient) {
    taps.period = quotient->divisor;
    taps.index = [q = *quotient](const Expr& i, std::int64_t) { return q.At(i); };
    return taps;
  }
  const Tensor index = Stored(
      a.out,
      [&](const Expr& i) { return Clamped(te::Cast(Int64, Rounded(line.at(i), rounding)), a.in); },
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

// The weight of one of four taps; the second lies `fraction` before the coordinate.
Expr CubicWeight(const Expr& fraction, std::int64_t tap, double a) {
  const Expr one = te::Cast(Float64, 1);
  switch (tap) {
    case 0:
      return FarCubic(fraction + one, a);
    case 1:
      return NearCubic(fraction, a);
    case 2:
      return NearCubic(one - fraction, a);
    default:
      return FarCubic(te::Cast(Float64, 2) - fraction, a);
  }
}

Taps WeightedTaps(const ResampledAxis& a, const ResampledLine& line, const Resampling& how,
                  DataType t) {
  const bool cubic = how.method == "cubic";
  Taps taps;
  taps.count = cubic ? 4 : 2;
  const std::int64_t before = cubic ? 1 : 0;
  taps.centre = before;
  const auto whole = [=](const Expr& i) { return te::Floor(line.at(i)); };
  const auto raw = [=](const Expr& i, std::int64_t tap) {
    const Expr fraction = line.at(i) - whole(i);
    if (cubic) return CubicWeight(fraction, tap, how.cubic_alpha);
    return tap == 0 ? te::Cast(Float64, 1) - fraction : fraction;
  };
  const auto position = [=](const Expr& i, std::int64_t tap) {
    return te::Cast(Int64, whole(i)) + (tap - before);
  };
  const auto counted = [=](const Expr& i, std::int64_t tap) {
    if (!cubic || !how.cubic_exclude) return raw(i, tap);
    const Expr at = position(i, tap);
    return te::Select(at >= Expr(0) && at < a.in, raw(i, tap), te::Cast(Float64, 0));
  };
  std::optional<Quotient> quotient;
  if (line.number != nullptr)
    quotient = QuotientOf(NumberOf(a.in), NumberOf(a.out),
                          [&](std::int64_t i) { return std::floor(line.number(i)); });
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
    taps.repeated = RepeatedEndsOf(line, taps.count, before);
  }
  taps.weight = [weight](const Expr& i, std::int64_t tap) {
    return weight[static_cast<std::size_t>(tap)](i);
  };
  return taps;
}

// Whether each result lies at the element of its number, which is known. Coordinates are a line, so
// that the first ones speak for all.
bool IsSame(const ResampledAxis& a, const ResampledLine& line) {
  if (line.number == nullptr) return false;
  const std::int64_t out = NumberOf(a.out), asked = std::min(out, kMaxAsked);
  bool same = NumberOf(a.in) == out;
  for (std::int64_t i = 0; same && i < asked; ++i) same = line.number(i) == static_cast<double>(i);
  return same;
}

}  // namespace

Taps TapsOf(const ResampledAxis& a, const Resampling& how, DataType t) {
  const ResampledLine line = LineOf(a, how.coordinates);
  const bool is_weighted_again = how.method == "cubic" && how.cubic_exclude;
  Taps taps;
  if (!is_weighted_again && IsSame(a, line)) {
    taps.index = [](const Expr& i, std::int64_t) { return i; };
  } else if (how.method == "nearest_neighbor") {
    taps = NearestTaps(a, line, RoundingOf(how));
  } else {
    taps = WeightedTaps(a, line, how, t);
    if (!is_weighted_again) taps.is_same = line.is_same;
  }
  if (how.coordinates != "tf_crop_and_resize") return taps;
  if (line.number != nullptr) {
    const auto last = static_cast<double>(NumberOf(a.in) - 1);
    bool leaves = NumberOf(a.out) > kMaxAsked;
    for (std::int64_t i = 0; !leaves && i < NumberOf(a.out); ++i)
      leaves = line.number(i) < 0 || line.number(i) > last;
    if (!leaves) return taps;
  }
  const Tensor outside = Stored(
      a.out,
      [&](const Expr& i) {
        const Expr at = line.at(i);
        return te::Cast(Int32, at < te::Cast(Float64, 0) || at > te::Cast(Float64, a.in - 1));
      },
      "outside");
  taps.is_outside = [outside](const Expr& i) { return outside(i) != loop::IntImm(Int32, 0); };
  return taps;
}

}  // namespace tenon::strategies
