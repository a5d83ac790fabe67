#include "tenon/verify/check/explained_by_rounding.h"

#include <algorithm>
#include <cmath>

#include "tenon/verify/array_values.h"
#include "tenon/verify/check/nudge.h"
#include "tenon/verify/check/result_difference.h"
#include "tenon/verify/draw/module_measures.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

// A value at the edge of a jump crosses it in one of two nudges.
constexpr int kNudges = 24;
// Times the effect of a nudge that counts as rounding, unless a value has jumped.
constexpr double kEffects = 20;

// Whether `actual` differs by far more than a nudge changes the results. A result that jumps does
// not count.
bool IsFarBeyond(const std::vector<NDArray>& actual, const std::vector<NDArray>& nudged,
                 const std::vector<NDArray>& expected, double relative) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!expected[i].dtype().is_float()) {
      if (FirstDifference(nudged[i], expected[i], 0)) return false;
      continue;
    }
    const double largest = std::max(1.0, LargestMagnitude(expected[i]));
    double by = relative / kEffects * largest;
    while (std::isfinite(by) && FirstDifference(nudged[i], expected[i], by)) by *= 2;
    // A value that a nudge turns into NaN or infinity has jumped.
    if (!std::isfinite(by)) return false;
    if (FirstDifference(actual[i], expected[i], kEffects * by)) return true;
  }
  return false;
}

}  // namespace

bool IsExplainedByRounding(const RandomModule& given, const std::vector<NDArray>& actual,
                           const std::vector<NDArray>& expected, const Rounding& rounding,
                           std::uint64_t seed) {
  if (given.floats == FloatValues::kAll && MeasuresOf(given.module).normalises) return true;
  Random random(seed);
  // Rounding may make values equal; chance hardly does.
  bool rounds = rounding.bits > 0;
  const Nudge nudge(rounding.nudge, random, /*keeps_large=*/true);
  const auto change = [&](const NDArray& array, const auto&... of) {
    return rounds ? RoundedTo(array, rounding.bits) : nudge(array, of...);
  };
  const ir::FunctionNode& main = given.module.Main();
  for (int i = 0; i < kNudges; ++i) {
    std::vector<NDArray> inputs = given.inputs;
    for (NDArray& input : inputs) input = change(input);
    const std::vector<NDArray> nudged =
        InterpretEach(given.module, main, inputs, change).at(main.body);
    rounds = false;
    if (DifferentValues(nudged, expected, {.relative = rounding.relative / kEffects}) &&
        !IsFarBeyond(actual, nudged, expected, rounding.relative))
      return true;
  }
  return false;
}

}  // namespace tenon::verify
