// Two ways to do one work, timed by turns.
//
// In each round both run by turns, and the least of a few samples of each counts: one that another
// program has interrupted says nothing. What slows the machine down for longer slows both. What
// counts in the end is the median of the rounds' ratios; its noise is the reach
// of the interval in which the true median lies with 95 % (order statistics: Conover, "Practical
// Nonparametric Statistics"), which needs no assumption about how times are distributed.
//
//   Race race(Timed(candidate), Timed(standard));
//   race.Run({.max_rounds = 40}, stop);
//   race.Outcome().ratio < 1;
#ifndef TENON_TUNE_RACE_H_
#define TENON_TUNE_RACE_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tenon::tune {

// Of each, in a round.
inline constexpr int kSamples = 3;

struct RaceLimits {
  std::int64_t min_rounds = 8;
  std::int64_t max_rounds = 40;
  double seconds = 2;      // after which no round begins, once there are min_rounds
  double sample_s = 2e-4;  // one sample runs the work so often that it takes this long
  // Ends as soon as the ratio is surely above this, or surely below that.
  double hopeless = 1.0;
  double certain = 0.0;
};

struct MedianRatio {
  double ratio = 1, noise = 0;
};
// Of at least one value.
double Median(std::vector<double> values);
MedianRatio MedianOf(std::vector<double> ratios);
// Of the times of each round, in their order.
MedianRatio RatioOf(const std::vector<double>& candidate_s, const std::vector<double>& standard_s);

class Race {
 public:
  // Each runs the work once. They may throw.
  using Work = std::function<void()>;
  Race(Work candidate, Work standard)
      : candidate_(std::move(candidate)), standard_(std::move(standard)) {}

  // Adds rounds. Ends early where `stopped` says so.
  void Run(const RaceLimits& limits, const std::function<bool()>& stopped = {});

  MedianRatio Outcome() const { return RatioOf(candidate_s_, standard_s_); }
  std::int64_t rounds() const { return static_cast<std::int64_t>(candidate_s_.size()); }
  const std::vector<double>& candidate_s() const { return candidate_s_; }  // of one run, by round
  const std::vector<double>& standard_s() const { return standard_s_; }

 private:
  Work candidate_, standard_;
  std::int64_t repeats_ = 0;  // of a sample; 0: not known yet
  std::vector<double> candidate_s_, standard_s_;
};

}  // namespace tenon::tune

#endif  // TENON_TUNE_RACE_H_
