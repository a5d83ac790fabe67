// Sums of terms by definition, and what rounding may make of them. Only verify/define_*.cc include
// this header.
#ifndef TENON_VERIFY_DEFINED_SUMS_H_
#define TENON_VERIFY_DEFINED_SUMS_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "tenon/verify/array_values.h"
#include "tenon/verify/definition.h"

namespace tenon::verify {

inline Number Product(const Number& a, const Number& b) {
  return {a.whole * b.whole, a.real * b.real};
}

class DefinedSums {
 public:
  explicit DefinedSums(const NDArray& result)
      : unit_(static_cast<Real>(RoundingError(result.dtype()))),
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
    for (std::size_t i = 0; i < elements_.size(); ++i)
      made.Add(elements_[i], unit_ * static_cast<Real>(counts_[i] + 2) * magnitudes_[i]);
    return {made};
  }

 private:
  const Real unit_;
  std::vector<Number> elements_;
  std::vector<Real> magnitudes_;
  std::vector<std::int64_t> counts_;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DEFINED_SUMS_H_
