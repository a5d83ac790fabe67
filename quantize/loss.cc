#include "tenon/quantize/loss.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tenon/support/bfloat16.h"
#include "tenon/support/error.h"

namespace tenon::quantize {
namespace {

struct Sums {
  double difference = 0, standard = 0;
};

double RealOf(std::uint16_t bfloat) { return FromBFloat16(bfloat); }
template <typename T>
double RealOf(T number) {
  return static_cast<double>(number);
}

// Equal elements differ by nothing, also where both are infinite or no numbers; these have no size
// with which a difference could be compared.
template <typename T>
void AddSquares(const NDArray& candidate, const NDArray& standard, Sums* sums) {
  const auto* a = static_cast<const T*>(candidate.raw());
  const auto* b = static_cast<const T*>(standard.raw());
  for (std::int64_t i = 0; i < standard.size(); ++i) {
    const double got = RealOf(a[i]), wanted = RealOf(b[i]);
    if (std::isfinite(wanted)) sums->standard += wanted * wanted;
    if (got == wanted || (std::isnan(got) && std::isnan(wanted))) continue;
    sums->difference += (got - wanted) * (got - wanted);
  }
}

void AddUnequal(const NDArray& candidate, const NDArray& standard, Sums* sums) {
  const std::size_t bytes = standard.dtype().bytes();
  const auto* a = static_cast<const std::byte*>(candidate.raw());
  const auto* b = static_cast<const std::byte*>(standard.raw());
  for (std::int64_t i = 0; i < standard.size(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * bytes;
    sums->difference += std::memcmp(a + at, b + at, bytes) == 0 ? 0 : 1;
  }
  sums->standard += static_cast<double>(standard.size());
}

double LossFrom(const Sums& sums, bool is_norm) {
  if (!std::isfinite(sums.difference)) return std::numeric_limits<double>::infinity();
  if (sums.difference == 0) return 0;
  if (sums.standard == 0) return std::numeric_limits<double>::infinity();
  const double part = sums.difference / sums.standard;
  return is_norm ? std::sqrt(part) : part;
}

}  // namespace

std::vector<double> LossOf(const runtime::Executable& candidate,
                           const runtime::Executable& standard, const SampleSource& samples) {
  std::vector<Sums> sums;
  std::vector<bool> is_norm;
  for (std::size_t index = 0; const auto inputs = samples(index); ++index) {
    const std::vector<NDArray> expected = ValueOrThrow(standard.Run(*inputs));
    const std::vector<NDArray> results = ValueOrThrow(candidate.Run(*inputs));
    sums.resize(expected.size());
    is_norm.resize(expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const DataType dtype = expected[i].dtype();
      is_norm[i] = dtype.is_float();
      if (results[i].shape() != expected[i].shape()) {
        sums[i].difference = std::numeric_limits<double>::infinity();
      } else if (dtype == Float32) {
        AddSquares<float>(results[i], expected[i], &sums[i]);
      } else if (dtype == Float64) {
        AddSquares<double>(results[i], expected[i], &sums[i]);
      } else if (dtype == Float16) {
        AddSquares<_Float16>(results[i], expected[i], &sums[i]);
      } else if (dtype == BFloat16) {
        AddSquares<std::uint16_t>(results[i], expected[i], &sums[i]);
      } else {
        AddUnequal(results[i], expected[i], &sums[i]);
      }
    }
  }
  std::vector<double> losses;
  for (std::size_t i = 0; i < sums.size(); ++i) losses.push_back(LossFrom(sums[i], is_norm[i]));
  return losses;
}

}  // namespace tenon::quantize
