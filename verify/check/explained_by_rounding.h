// Whether rounding explains that a pass or a kernel gives other values than the interpreter: small
// changes of every intermediate value change the results as much. A value that is about to jump
// jumps in some of these changes.
#ifndef TENON_VERIFY_CHECK_EXPLAINED_BY_ROUNDING_H_
#define TENON_VERIFY_CHECK_EXPLAINED_BY_ROUNDING_H_

#include <cstdint>
#include <vector>

#include "tenon/verify/draw/random_module.h"

namespace tenon::verify {

// `relative` is what reordered sums of small graphs differ by, relative to the largest element of a
// result. `nudge` is the change of every intermediate value that explains as much.
struct Rounding {
  double relative, nudge;
  int bits;  // to which passes round values; 0: none
};
inline constexpr Rounding kFloat32Rounding = {2e-5, 1e-6, 0};
inline constexpr Rounding kBFloat16Rounding = {8e-2, 4e-3, 8};

// Of results that differ by more than `rounding.relative`, with equal types. The changes depend on
// the seed.
bool IsExplainedByRounding(const RandomModule& given, const std::vector<NDArray>& actual,
                           const std::vector<NDArray>& expected, const Rounding& rounding,
                           std::uint64_t seed);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_EXPLAINED_BY_ROUNDING_H_
