// Where the results of a resampled axis lie in the data.
//
//   const ResampledLine line = LineOf({.axis = 2, .in = 5, .out = 10, .scale = 2}, "half_pixel");
//   line.number(0);  // -0.25
#ifndef TENON_STRATEGIES_TE_IMAGE_RESAMPLE_LINE_H_
#define TENON_STRATEGIES_TE_IMAGE_RESAMPLE_LINE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "tenon/strategies/te/image/resample.h"

namespace tenon::strategies {

struct ResampledLine {
  // The coordinate of result i, in float64. It has the same bits for an extent that is a number and
  // for an expression with that value.
  std::function<te::Expr(const te::Expr& i)> at;
  // The same for a known i; null if an extent is an expression.
  std::function<double(std::int64_t i)> number;
  // The same where the result's extent is the data's, an expression, times a whole number; null
  // where not.
  std::function<double(std::int64_t i)> by_scale = nullptr;
  std::int64_t whole_scale = 0;  // that number
  // If an extent is an expression: whether each result i lies at element i. Null: never.
  te::Expr is_same = {};
};

// `coordinates` is that of Resampling. Throws Unimplemented for coordinates that need numbers.
ResampledLine LineOf(const ResampledAxis& axis, const std::string& coordinates);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_IMAGE_RESAMPLE_LINE_H_
