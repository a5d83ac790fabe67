#include "tenon/verify/check/result_difference.h"

#include <algorithm>

#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {
namespace {

std::string Shown(const NDArray& array) {
  return StrCat(array.dtype().ToString(), " ", ShapeToString(array.shape()));
}

}  // namespace

std::optional<std::string> DifferentTypes(const std::vector<NDArray>& actual,
                                          const std::vector<NDArray>& expected) {
  if (actual.size() != expected.size())
    return StrCat("it has ", actual.size(), " results instead of ", expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (actual[i].shape() != expected[i].shape() || actual[i].dtype() != expected[i].dtype())
      return StrCat("result ", i, " is ", Shown(actual[i]), " instead of ", Shown(expected[i]));
  }
  return std::nullopt;
}

std::optional<std::string> DifferentValues(const std::vector<NDArray>& actual,
                                           const std::vector<NDArray>& expected,
                                           const Tolerance& tolerance) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (tolerance.rounds_to_integers && !expected[i].dtype().is_float() &&
        LargestDifference(actual[i], expected[i]) <= 1)
      continue;
    const double by = tolerance.relative * std::max(1.0, LargestMagnitude(expected[i]));
    if (const auto difference = FirstDifference(actual[i], expected[i], by))
      return StrCat("result ", i, " at ", ShapeToString(difference->index), " is ",
                    difference->actual, " instead of ", difference->expected);
  }
  return std::nullopt;
}

}  // namespace tenon::verify
