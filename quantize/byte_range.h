// Which range of a value its 256 bytes cover, chosen from how often each size came.
//
//   passes::ByteRange range = ChooseRange(histogram, {.rule = RangeRule::kPercentile});
#ifndef TENON_QUANTIZE_BYTE_RANGE_H_
#define TENON_QUANTIZE_BYTE_RANGE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/passes/quantize/insert_quantization.h"
#include "tenon/quantize/histogram.h"

namespace tenon::quantize {

enum class RangeRule {
  kMinMax,      // all that came
  kPercentile,  // all except a part at both ends
  kEntropy,     // the range that loses least information (Kullback-Leibler)
  kMeanSquare,  // the range that rounds with the least mean square error
};

struct RangeOptions {
  RangeRule rule = RangeRule::kMeanSquare;
  double percentile = 99.99;  // of kPercentile: how much of the values is inside
};

// Of a histogram without values: [0, 0].
passes::ByteRange ChooseRange(const Histogram& histogram, const RangeOptions& options);

// The mean square error of values that are rounded to bytes of this range, over their mean square.
// 0 where all are 0.
double NoiseOf(const Histogram& histogram, const passes::ByteRange& range);

// "min-max", "percentile", "entropy", "mean-square".
std::string_view NameOf(RangeRule rule);
std::optional<RangeRule> ParseRangeRule(std::string_view name);
std::vector<std::string> RangeRuleNames();

}  // namespace tenon::quantize

#endif  // TENON_QUANTIZE_BYTE_RANGE_H_
