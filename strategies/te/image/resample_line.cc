// The coordinate of result i is (i * factor + shift) / divisor + offset. For numbers the four are
// computed here, for expressions by the kernel, with the same operations of float64 in the same
// order. Products are whole numbers below 2^53, so that a fused multiply-add changes no bit.
#include "tenon/strategies/te/image/resample_line.h"

#include <optional>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;

Expr Number(double value) { return te::Cast(Float64, value); }

struct Line {
  double factor = 1, shift = 0, divisor = 1, offset = 0;

  double At(std::int64_t i) const {
    return (static_cast<double>(i) * factor + shift) / divisor + offset;
  }
  Expr At(const Expr& i) const {
    return (te::Cast(Float64, i) * Number(factor) + Number(shift)) / Number(divisor) +
           Number(offset);
  }
};

Line LineOfNumbers(const ResampledAxis& a, const std::string& mode) {
  const std::int64_t count = a.out.As<loop::IntImmNode>()->value;
  const auto in = static_cast<double>(a.in.As<loop::IntImmNode>()->value);
  const auto out = static_cast<double>(count);
  const double scale = a.by_ratio ? out / in : a.scale;
  // Takes i / scale as i * factor / divisor, which is exact where the scale is that of the extents.
  Line line{.factor = scale == 0 ? in : 1, .divisor = scale == 0 ? out : scale};
  const auto constant = [](double value) { return Line{.factor = 0, .offset = value}; };
  if (mode == "asymmetric") return line;
  if (mode == "align_corners")
    return count == 1 ? constant(0) : Line{.factor = in - 1, .divisor = out - 1};
  if (mode == "tf_crop_and_resize") {
    if (count <= 1) return constant(0.5 * (a.start + a.end) * (in - 1));
    return {
        .factor = (a.end - a.start) * (in - 1), .divisor = out - 1, .offset = a.start * (in - 1)};
  }
  if (mode == "pytorch_half_pixel" && count <= 1) return constant(0);
  line.shift = 0.5 * line.factor;
  if (mode == "tf_half_pixel_for_nn") return line;
  line.offset = -0.5;
  if (mode == "half_pixel_symmetric" && scale != 0)
    line.offset += in / 2 * (1 - out / (scale * in));
  return line;
}

// The number, of 2 and more, that makes the result's extent of the data's, if it is the scale, too.
// Quotients of the extents are then rounded as those by the scale; 0 if there is no such number.
std::int64_t WholeScaleOf(const ResampledAxis& a) {
  constexpr std::int64_t kMaxScale = 16;
  const Expr out = loop::Simplify(a.out);
  for (std::int64_t scale = 2; scale <= kMaxScale; ++scale) {
    if (!loop::StructuralEqual(loop::Simplify(a.in * scale), out)) continue;
    const bool is_scale = a.by_ratio || a.scale == 0 || a.scale == static_cast<double>(scale);
    return is_scale ? scale : 0;
  }
  return 0;
}

// Does what LineOfNumbers does, mode by mode.
ResampledLine LineOfExpressions(const ResampledAxis& a, const std::string& mode) {
  const Expr in = te::Cast(Float64, a.in), out = te::Cast(Float64, a.out);
  const Expr are_equal = a.in == a.out, is_one = a.out == Expr(1);
  const bool is_scaled = a.by_ratio || a.scale != 0;
  Expr factor = is_scaled ? Number(1) : in;
  Expr divisor = a.by_ratio ? out / in : is_scaled ? Number(a.scale) : out;
  Expr shift = Number(0), offset = Number(0);
  const bool keeps_scale = !is_scaled || a.by_ratio || a.scale == 1;
  ResampledLine line;
  std::optional<Expr> single;  // the coordinate where there is one result
  if (mode == "asymmetric") {
    line.is_same = keeps_scale ? are_equal : are_equal && is_one;
  } else if (mode == "align_corners") {
    factor = te::Cast(Float64, a.in - 1);
    divisor = te::Cast(Float64, a.out - 1);
    single = Number(0);
    line.is_same = are_equal;
  } else if (mode == "tf_crop_and_resize") {
    const Expr last = te::Cast(Float64, a.in - 1);
    factor = Number(a.end - a.start) * last;
    divisor = te::Cast(Float64, a.out - 1);
    offset = Number(a.start) * last;
    single = Number(0.5 * (a.start + a.end)) * last;
  } else if (mode == "half_pixel" || mode == "pytorch_half_pixel" ||
             mode == "tf_half_pixel_for_nn") {
    shift = is_scaled ? Number(0.5) : Number(0.5) * in;
    if (mode == "pytorch_half_pixel") single = Number(0);
    if (mode != "tf_half_pixel_for_nn") {
      offset = Number(-0.5);
      if (keeps_scale) line.is_same = are_equal;
      if (!keeps_scale && single) line.is_same = are_equal && is_one;
    }
  } else {
    throw Unimplemented(StrCat("the coordinates ", mode,
                               " of an axis whose extent is an expression of variables; they need "
                               "extents that are numbers"));
  }
  line.at = [=](const Expr& i) {
    const Expr at = (te::Cast(Float64, i) * factor + shift) / divisor + offset;
    return single ? te::Select(is_one, *single, at) : at;
  };
  line.whole_scale = single ? 0 : WholeScaleOf(a);
  if (line.whole_scale != 0) {
    line.by_scale = [by_scale = Line{.factor = 1,
                                     .shift = mode == "asymmetric" ? 0 : 0.5,
                                     .divisor = static_cast<double>(line.whole_scale),
                                     .offset = mode == "half_pixel" ? -0.5 : 0}](std::int64_t i) {
      return by_scale.At(i);
    };
  }
  return line;
}

}  // namespace

ResampledLine LineOf(const ResampledAxis& axis, const std::string& coordinates) {
  if (!IsNumber(axis.in) || !IsNumber(axis.out)) return LineOfExpressions(axis, coordinates);
  const Line line = LineOfNumbers(axis, coordinates);
  return {.at = [=](const Expr& i) { return line.At(i); },
          .number = [=](std::int64_t i) { return line.At(i); }};
}

}  // namespace tenon::strategies
