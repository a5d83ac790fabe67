#include "tenon/tune/race.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "tenon/support/error.h"

namespace tenon::tune {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Of one run.
double Sample(const Race::Work& work, std::int64_t repeats) {
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < repeats; ++i) work();
  return SecondsSince(start) / static_cast<double>(repeats);
}

constexpr std::int64_t kMaxRepeats = 10'000;
constexpr double kMinTime = 1e-9;  // of a clock that has not moved

}  // namespace

double Median(std::vector<double> values) {
  CheckInvariant(!values.empty(), "a median is that of something");
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

MedianRatio MedianOf(std::vector<double> ratios) {
  const double ratio = Median(ratios);
  std::sort(ratios.begin(), ratios.end());
  const auto n = static_cast<double>(ratios.size());
  const auto last = static_cast<double>(ratios.size() - 1);
  const double reach = 0.98 * std::sqrt(n);
  const double low = std::clamp(std::floor(n / 2 - reach), 0.0, last);
  const double high = std::clamp(std::ceil(n / 2 + reach), 0.0, last);
  return {ratio, std::max(ratio - ratios[static_cast<std::size_t>(low)],
                          ratios[static_cast<std::size_t>(high)] - ratio)};
}

MedianRatio RatioOf(const std::vector<double>& candidate_s, const std::vector<double>& standard_s) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < candidate_s.size(); ++i)
    ratios.push_back(candidate_s[i] / standard_s[i]);
  return MedianOf(std::move(ratios));
}

void Race::Run(const RaceLimits& limits, const std::function<bool()>& stopped) {
  const auto start = Clock::now();
  if (repeats_ == 0) {
    candidate_();  // the first runs allocate and meet cold caches
    standard_();
    const double once = std::max({Sample(standard_, 1), Sample(candidate_, 1), kMinTime});
    repeats_ = std::clamp(static_cast<std::int64_t>(limits.sample_s / once) + 1, std::int64_t{1},
                          kMaxRepeats);
  }
  for (std::int64_t round = 0; round < limits.max_rounds; ++round) {
    if (stopped && stopped()) return;
    if (round >= limits.min_rounds) {
      const MedianRatio so_far = Outcome();
      if (SecondsSince(start) > limits.seconds || so_far.ratio - so_far.noise > limits.hopeless ||
          so_far.ratio + so_far.noise < limits.certain)
        return;
    }
    double candidate = std::numeric_limits<double>::max(), standard = candidate;
    for (int i = 0; i < kSamples; ++i) {
      const bool is_first = (round + i) % 2 == 0;
      if (is_first) candidate = std::min(candidate, Sample(candidate_, repeats_));
      standard = std::min(standard, Sample(standard_, repeats_));
      if (!is_first) candidate = std::min(candidate, Sample(candidate_, repeats_));
    }
    candidate_s_.push_back(std::max(candidate, kMinTime));
    standard_s_.push_back(std::max(standard, kMinTime));
  }
}

}  // namespace tenon::tune
