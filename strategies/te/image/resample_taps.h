// Which elements along one axis make a result of resampling, and what they weigh.
#ifndef TENON_STRATEGIES_TE_IMAGE_RESAMPLE_TAPS_H_
#define TENON_STRATEGIES_TE_IMAGE_RESAMPLE_TAPS_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "tenon/strategies/te/image/resample.h"

namespace tenon::strategies {

// Taps of a line whose ends are repeated, so that all indices lie within it. They are a quotient,
// which vectors read without a gather.
struct RepeatedEnds {
  std::int64_t before, after;  // so many elements
  std::function<te::Expr(const te::Expr& i, std::int64_t tap)> index;
};

struct Taps {
  std::int64_t count = 1;
  std::function<te::Expr(const te::Expr& i, std::int64_t tap)> index;
  std::function<te::Expr(const te::Expr& i, std::int64_t tap)> weight;  // null: one tap of weight 1
  std::function<te::Expr(const te::Expr& i)> is_outside;                // null: none is
  // Results after which indices go on as before; 0: indices are stored.
  std::int64_t period = 1;
  // Set where indices are stored although only the ends of the line make them irregular.
  std::optional<RepeatedEnds> repeated = {};
  // Where it holds, result i is the element of tap `centre` alone. Null: never.
  te::Expr is_same = {};
  std::int64_t centre = 0;
};

// `t` is the type of the weights.
Taps TapsOf(const ResampledAxis& axis, const Resampling& how, DataType t);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_IMAGE_RESAMPLE_TAPS_H_
