// The product p of an extent and a float32 scale is m * extent / 2^e, m and e whole. Between 2^k
// and 2^(k+1) neighbouring floats are 2^(k-23) apart. So rounding takes p to the next whole number
// where at most half of that is missing, a tie too, as whole numbers there are even. Rounded down
// it is floor(p + 2^(k-24)), which differs from floor(p) only where 2^(k-24) >= 2^-e. Of all k that
// a product may have, the greatest with 2^k <= p gives the greatest number.
#include "tenon/ops/extents/scaled_extent.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

constexpr double kMaxExtent = 0x1p31;
// Products of variables are below 2^kMaxBits.
constexpr int kMaxBits = 20;
constexpr int kFloatBits = 24;

struct Ratio {
  std::int64_t factor;
  int bits;  // of the divisor, which is a power of two
};
// The scale as a quotient of whole numbers; nothing where these are large.
std::optional<Ratio> RatioOf(double scale) {
  double factor = scale;
  int bits = 0;
  while (std::floor(factor) != factor && factor < kMaxExtent && bits < 31) {
    factor *= 2;
    ++bits;
  }
  if (std::floor(factor) != factor || factor < 1 || !(factor < kMaxExtent * kMaxExtent))
    return std::nullopt;
  return Ratio{static_cast<std::int64_t>(factor), bits};
}

double ScaledNumber(std::int64_t extent, double scale, bool is_rounded) {
  if (!is_rounded) return std::floor(static_cast<double>(extent) * scale);
  return std::floor(static_cast<float>(extent) * static_cast<float>(scale));
}

// floor of the product after it was rounded to float32.
Dim RoundedProduct(const Dim& product, int bits) {
  const auto power = [](int exponent) { return std::int64_t{1} << exponent; };
  Dim rounded = FloorDiv(product, power(bits));
  // A product below 1/2 is rounded to no whole number but 0.
  for (int k = std::max(kFloatBits - bits, -1); k < kMaxBits; ++k) {
    const Dim up = FloorDiv(product + power(bits + k - kFloatBits), power(bits));
    // 0 for products below 2^k.
    const Dim applies = FloorDiv(product, power(bits + k)) * Dim(power(kMaxBits));
    rounded = Max(rounded, Min(up, applies));
  }
  return rounded;
}

}  // namespace

Dim ScaledExtent(TypeCall& call, const Dim& extent, double scale) {
  if (extent.is_any()) return {};
  const bool is_rounded =
      std::floor(scale) != scale && static_cast<double>(static_cast<float>(scale)) == scale;
  const std::optional<Ratio> ratio = RatioOf(scale);
  if (extent.is_static()) {
    const double scaled = ScaledNumber(extent.value(), scale, is_rounded);
    if (!(scaled < kMaxExtent)) call.Refuse(StrCat("a result's extent would be ", scaled));
    if (is_rounded || !ratio) return static_cast<std::int64_t>(scaled);
    return FloorDiv(extent * Dim(ratio->factor), std::int64_t{1} << ratio->bits);
  }
  if (!ratio)
    call.Refuse(StrCat("the extent ", extent.ToString(), " times ", scale,
                       " cannot be written with whole numbers below 2^62"));
  const Dim product = extent * Dim(ratio->factor);
  if (!is_rounded) return FloorDiv(product, std::int64_t{1} << ratio->bits);
  // Beyond that, numbers take the place of variables.
  call.Exceeds(product, Dim((std::int64_t{1} << (kMaxBits + ratio->bits)) - 1));
  call.Exceeds(extent, Dim(std::int64_t{1} << kFloatBits));
  return RoundedProduct(product, ratio->bits);
}

}  // namespace tenon::ops
