// kEntropy is the search of Migacz, "8-bit Inference with TensorRT" (2017), for both ends of a
// range that need not be symmetrical. kMeanSquare tries pairs of ends; sums over the histogram from
// its beginning give the error of each in constant time.
#include "tenon/quantize/byte_range.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tenon::quantize {
namespace {

using passes::ByteRange;

constexpr int kBins = Histogram::kBins;
constexpr double kSteps = 255;
// How many ends are tried between 0 and the largest value.
constexpr int kEnds = 100;

struct RuleName {
  RangeRule rule;
  std::string_view name;
};
constexpr std::array kNames = {
    RuleName{RangeRule::kMinMax, "min-max"}, RuleName{RangeRule::kPercentile, "percentile"},
    RuleName{RangeRule::kEntropy, "entropy"}, RuleName{RangeRule::kMeanSquare, "mean-square"}};

ByteRange WholeRange(const Histogram& histogram) {
  return {std::min(histogram.least(), 0.0F), std::max(histogram.most(), 0.0F)};
}

// The square errors of any range, from sums over the bins.
class SquareErrors {
 public:
  explicit SquareErrors(const Histogram& histogram) : histogram_(histogram) {
    for (int bin = 0; bin < kBins; ++bin) {
      const auto i = static_cast<std::size_t>(bin);
      const auto n = static_cast<double>(histogram.bins()[i]);
      const double v = histogram.CenterOf(bin);
      counts_[i + 1] = counts_[i] + n;
      sums_[i + 1] = sums_[i] + n * v;
      squares_[i + 1] = squares_[i] + n * v * v;
    }
  }

  double all_squares() const { return squares_[kBins]; }

  // The sum over all values: those inside are off by a uniform part of a step, those outside by
  // their distance.
  double Of(double low, double high) const {
    const double step = (high - low) / kSteps;
    const std::size_t below = BinsBelow(low), inside = BinsBelow(high);
    return (counts_[inside] - counts_[below]) * step * step / 12 + Distances(0, below, low) +
           Distances(inside, kBins, high);
  }

 private:
  // Bins whose centres are below `value`.
  std::size_t BinsBelow(double value) const {
    const double bin = std::ceil((value - histogram_.CenterOf(0)) / histogram_.width());
    return static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(kBins)));
  }
  double Distances(std::size_t first, std::size_t last, double end) const {
    return (squares_[last] - squares_[first]) - 2 * end * (sums_[last] - sums_[first]) +
           end * end * (counts_[last] - counts_[first]);
  }

  const Histogram& histogram_;
  std::array<double, kBins + 1> counts_{}, sums_{}, squares_{};
};

ByteRange LeastSquares(const Histogram& histogram) {
  const ByteRange whole = WholeRange(histogram);
  const SquareErrors errors(histogram);
  ByteRange best = whole;
  double least = errors.Of(whole.low, whole.high);
  for (int i = 1; i <= kEnds; ++i) {
    for (int j = 1; j <= kEnds; ++j) {
      const float low = whole.low * static_cast<float>(i) / kEnds;
      const float high = whole.high * static_cast<float>(j) / kEnds;
      const double error = errors.Of(low, high);
      if (error < least) {
        least = error;
        best = {low, high};
      }
      if (whole.high == 0) break;
    }
    if (whole.low == 0) break;
  }
  return best;
}

ByteRange Percentile(const Histogram& histogram, double percentile) {
  const ByteRange whole = WholeRange(histogram);
  const double outside = static_cast<double>(histogram.count()) * (1 - percentile / 100) / 2;
  const auto end = [&](bool from_below) {
    double passed = 0;
    for (int i = 0; i < kBins; ++i) {
      const int bin = from_below ? i : kBins - 1 - i;
      passed += static_cast<double>(histogram.bins()[static_cast<std::size_t>(bin)]);
      if (passed > outside)
        return histogram.CenterOf(bin) + (from_below ? -0.5 : 0.5) * histogram.width();
    }
    return 0.0;
  };
  return {std::clamp(static_cast<float>(end(true)), whole.low, 0.0F),
          std::clamp(static_cast<float>(end(false)), 0.0F, whole.high)};
}

// The divergence of what 256 bytes keep of the bins from `first` to before `last` from what came,
// with everything outside counted at the ends.
double Divergence(const std::vector<std::int64_t>& bins, int first, int last) {
  const int width = last - first;
  std::vector<double> came(static_cast<std::size_t>(width)), kept(came.size());
  double total = 0, total_inside = 0;
  for (int bin = 0; bin < kBins; ++bin) {
    const auto n = static_cast<double>(bins[static_cast<std::size_t>(bin)]);
    came[static_cast<std::size_t>(std::clamp(bin, first, last - 1) - first)] += n;
    total += n;
    if (bin >= first && bin < last) total_inside += n;
  }
  if (total_inside == 0) return std::numeric_limits<double>::infinity();
  constexpr int kLevels = 256;
  for (int level = 0; level < kLevels; ++level) {
    const int begin = width * level / kLevels, end = width * (level + 1) / kLevels;
    double sum = 0, used = 0;
    for (int i = begin; i < end; ++i) {
      const std::int64_t n = bins[static_cast<std::size_t>(first + i)];
      sum += static_cast<double>(n);
      used += n > 0 ? 1 : 0;
    }
    for (int i = begin; i < end; ++i) {
      if (bins[static_cast<std::size_t>(first + i)] > 0)
        kept[static_cast<std::size_t>(i)] = sum / used;
    }
  }
  double divergence = 0;
  for (std::size_t i = 0; i < came.size(); ++i) {
    if (came[i] == 0) continue;
    // An outlier where nothing was kept: as if it were one of all.
    const double q = std::max(kept[i] / total_inside, 1e-12);
    const double p = came[i] / total;
    divergence += p * std::log(p / q);
  }
  return divergence;
}

ByteRange LeastDivergence(const Histogram& histogram) {
  const ByteRange whole = WholeRange(histogram);
  ByteRange best = whole;
  double least = std::numeric_limits<double>::infinity();
  const auto bin_of = [&](double value) {
    return static_cast<int>((value - histogram.CenterOf(0)) / histogram.width() + 0.5);
  };
  for (int i = kEnds / 10; i <= kEnds; ++i) {
    const float part = static_cast<float>(i) / kEnds;
    const ByteRange range{whole.low * part, whole.high * part};
    const int first = std::clamp(bin_of(range.low), 0, kBins - 1);
    const int last = std::clamp(bin_of(range.high) + 1, first + 1, kBins);
    const double divergence = Divergence(histogram.bins(), first, last);
    if (divergence < least) {
      least = divergence;
      best = range;
    }
  }
  return best;
}

}  // namespace

ByteRange ChooseRange(const Histogram& histogram, const RangeOptions& options) {
  if (histogram.count() == 0) return {};
  switch (options.rule) {
    case RangeRule::kMinMax:
      return WholeRange(histogram);
    case RangeRule::kPercentile:
      return Percentile(histogram, options.percentile);
    case RangeRule::kEntropy:
      return LeastDivergence(histogram);
    case RangeRule::kMeanSquare:
      return LeastSquares(histogram);
  }
  return WholeRange(histogram);
}

double NoiseOf(const Histogram& histogram, const ByteRange& range) {
  const SquareErrors errors(histogram);
  if (errors.all_squares() == 0 || (histogram.least() == 0 && histogram.most() == 0)) return 0;
  return errors.Of(std::min(range.low, 0.0F), std::max(range.high, 0.0F)) / errors.all_squares();
}

std::string_view NameOf(RangeRule rule) {
  return std::ranges::find(kNames, rule, &RuleName::rule)->name;
}

std::optional<RangeRule> ParseRangeRule(std::string_view name) {
  const auto* found = std::ranges::find(kNames, name, &RuleName::name);
  return found == kNames.end() ? std::nullopt : std::optional(found->rule);
}

std::vector<std::string> RangeRuleNames() {
  std::vector<std::string> names;
  for (const RuleName& known : kNames) names.emplace_back(known.name);
  return names;
}

}  // namespace tenon::quantize
