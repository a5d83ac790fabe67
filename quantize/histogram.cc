#include "tenon/quantize/histogram.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tenon::quantize {
namespace {

// Of a histogram that has seen nothing larger: far below what matters beside any other value.
constexpr double kMinLimit = 0x1p-100;

}  // namespace

Histogram::Histogram() : bins_(kBins, 0), limit_(kMinLimit) {}

bool Histogram::Add(const NDArray& values) {
  const float* first = values.data<float>();
  const float* last = first + values.size();
  if (first == last) return true;
  if (!std::all_of(first, last, [](float v) { return std::isfinite(v); })) return false;
  const auto [least, most] = std::minmax_element(first, last);
  least_ = count_ == 0 ? *least : std::min(least_, *least);
  most_ = count_ == 0 ? *most : std::max(most_, *most);
  count_ += values.size();
  Widen(std::max(std::fabs(*least), std::fabs(*most)));
  // Exact, as the scale is a power of two: a value is in the same bin whenever it comes.
  const double scale = kBins / (2 * limit_);
  for (const float* v = first; v != last; ++v)
    ++bins_[static_cast<std::size_t>(std::floor(*v * scale) + kBins / 2.0)];
  return true;
}

void Histogram::Widen(float largest) {
  while (limit_ <= static_cast<double>(largest)) {
    limit_ *= 2;
    std::vector<std::int64_t> joined(kBins, 0);
    for (std::size_t bin = 0; bin < kBins; ++bin) joined[kBins / 4 + bin / 2] += bins_[bin];
    bins_ = std::move(joined);
  }
}

}  // namespace tenon::quantize
