// Sums of terms by definition, and what rounding may make of them. Only verify/define_*.cc include
// this header.
#ifndef TENON_VERIFY_DEFINE_DEFINED_SUMS_H_
#define TENON_VERIFY_DEFINE_DEFINED_SUMS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "tenon/verify/array_values.h"
#include "tenon/verify/define/definition.h"

namespace tenon::verify {

inline Number Product(const Number& a, const Number& b) {
  return {a.whole * b.whole, a.real * b.real};
}
// An element that is converted to `type`, in which terms are added.
inline Number ElementAs(const NDArray& array, std::int64_t i, DataType type) {
  const Number made = Converted(ElementAt(array, i), array.dtype(), type);
  return type.is_float() ? Number{.real = Rounded(made.real, type)}
                         : Number{.whole = Wrapped(made.whole, type)};
}
inline Real LargestOf(const NDArray& array) {
  Real largest = 0;
  for (std::int64_t i = 0; i < array.size(); ++i)
    largest = std::max(largest, std::abs(RealAt(array, i)));
  return largest;
}

// Sums of halves are rounded once, where they are stored.
class DefinedSums {
 public:
  // `largest_term`: of terms whose errors a sum may have without having the terms, as by Winograd's
  // algorithm.
  explicit DefinedSums(const NDArray& result, Real largest_term = 0)
      : unit_(
            static_cast<Real>(RoundingError(result.dtype().is_half() ? Float32 : result.dtype()))),
        last_unit_(static_cast<Real>(RoundingError(result.dtype()))),
        largest_term_(largest_term),
        elements_(static_cast<std::size_t>(result.size())),
        magnitudes_(elements_.size()),
        counts_(elements_.size()) {}

  void Add(std::int64_t at, const Number& term) {
    const auto i = static_cast<std::size_t>(at);
    elements_[i].whole += term.whole;
    elements_[i].real += term.real;
    magnitudes_[i] += std::abs(term.real);
    ++counts_[i];
  }
  std::vector<Definition> Take() const {
    Definition made;
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      const auto count = static_cast<Real>(counts_[i]);
      made.Add(elements_[i], unit_ * (count + 2) * (magnitudes_[i] + 16 * largest_term_) +
                                 2 * last_unit_ * std::abs(elements_[i].real));
    }
    return {made};
  }

 private:
  const Real unit_, last_unit_, largest_term_;
  std::vector<Number> elements_;
  std::vector<Real> magnitudes_;
  std::vector<std::int64_t> counts_;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DEFINE_DEFINED_SUMS_H_
