// How often each size of a value comes: what calibration keeps of a tensor, in memory that does not
// grow with what it has seen.
//
// Bins have equal widths over [-2^e, 2^e). A larger value doubles the range until it fits, and
// joins bins in pairs. So the result does not depend on the order in which values come.
//
//   Histogram histogram;
//   histogram.Add(array);
//   histogram.most();  // the largest value so far
#ifndef TENON_QUANTIZE_HISTOGRAM_H_
#define TENON_QUANTIZE_HISTOGRAM_H_

#include <cstdint>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::quantize {

class Histogram {
 public:
  Histogram();
  static constexpr int kBins = 4096;

  // The elements of an array of float32. False, and nothing is added, where one of them is infinite
  // or NaN.
  [[nodiscard]] bool Add(const NDArray& values);

  std::int64_t count() const { return count_; }
  // The least and the largest value; 0 before any came.
  float least() const { return least_; }
  float most() const { return most_; }
  // By bin, from the least values on.
  const std::vector<std::int64_t>& bins() const { return bins_; }
  double width() const { return 2 * limit_ / kBins; }
  // The middle of a bin.
  double CenterOf(int bin) const { return (bin + 0.5) * width() - limit_; }

 private:
  void Widen(float largest);

  std::vector<std::int64_t> bins_;
  double limit_;  // bins cover [-limit, limit)
  std::int64_t count_ = 0;
  float least_ = 0, most_ = 0;
};

}  // namespace tenon::quantize

#endif  // TENON_QUANTIZE_HISTOGRAM_H_
