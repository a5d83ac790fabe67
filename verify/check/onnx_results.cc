#include "tenon/verify/check/onnx_results.h"

#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/nudge.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using Arrays = std::vector<NDArray>;

// Relative to the largest element of a result. It is twenty times what changes of every
// intermediate value by `kNudge` may explain.
constexpr double kTolerance = 1e-4;
constexpr double kNudge = 1e-6;
constexpr int kNudges = 16;

DataType TypeOf(const NDArray& array) { return array.dtype(); }

}  // namespace

ResultComparison::ResultComparison(const ir::Module& module, const Arrays& inputs,
                                   std::uint64_t seed, bool has_infinities)
    : module_(module),
      inputs_(inputs),
      seed_(seed),
      measures_(MeasuresOf(module)),
      has_infinities_(has_infinities || measures_.has_infinities),
      relative_(std::max(kTolerance, 8 * measures_.rounding)) {}

std::optional<std::string> ResultComparison::Differing(const Arrays& actual, const Arrays& expected,
                                                       OnnxFuzzStatistics* statistics) const {
  std::optional<std::string> words = DifferentTypes(actual, expected);
  const bool has_other_types = words.has_value();
  if (!words) words = DifferentValues(actual, expected, Within(relative_));
  if (!words) {
    ++statistics->equal;
    return std::nullopt;
  }
  // The number of distinct elements may depend on rounding, too, but not an element type.
  const bool may_be_rounding =
      !has_other_types || std::ranges::equal(actual, expected, {}, TypeOf, TypeOf);
  if (may_be_rounding && !IsStable(expected)) {
    ++statistics->ill_conditioned;
    return std::nullopt;
  }
  return words;
}

// Whether the results stay the same when every intermediate value changes a little.
bool ResultComparison::IsStable(const Arrays& expected) const {
  if (has_infinities_ && measures_.normalises) return false;
  Random random(seed_);
  const Nudge nudge(std::max(kNudge, measures_.rounding), random);
  for (int i = 0; i < kNudges; ++i) {
    Arrays inputs = inputs_;
    for (NDArray& input : inputs) input = nudge(input);
    const absl::StatusOr<Arrays> other = CatchErrors([&] {
      return Interpret(module_, inputs,
                       [&](const NDArray& array, const ir::Expr& of) { return nudge(array, of); });
    });
    if (!other.ok()) return false;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      if ((*other)[k].shape() != expected[k].shape()) return false;
    }
    if (DifferentValues(*other, expected, Within(relative_ / 20))) return false;
  }
  return true;
}

}  // namespace tenon::verify
