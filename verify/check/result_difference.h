// How the results of two ways to compute a module differ, in words.
//
//   std::optional<std::string> words = DifferentTypes(actual, expected);
//   if (!words) words = DifferentValues(actual, expected, {.relative = 1e-5});
#ifndef TENON_VERIFY_CHECK_RESULT_DIFFERENCE_H_
#define TENON_VERIFY_CHECK_RESULT_DIFFERENCE_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::verify {

// The first difference in the number of results, in a shape or in an element type.
std::optional<std::string> DifferentTypes(const std::vector<NDArray>& actual,
                                          const std::vector<NDArray>& expected);

struct Tolerance {
  double relative = 0;  // to the largest element of a result, or to 1 where that is more
  // Integers may differ by one.
  bool rounds_to_integers = false;
};
// The first element that differs by more. Requires equal types.
std::optional<std::string> DifferentValues(const std::vector<NDArray>& actual,
                                           const std::vector<NDArray>& expected,
                                           const Tolerance& tolerance);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_RESULT_DIFFERENCE_H_
