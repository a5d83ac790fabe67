#include "tenon/verify/define/quantized_numbers.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tenon::verify {

NDArray QuantizedNumbers(const Shape& shape, DataType type, Random& random) {
  const int bits = std::min(type.bits(), 21);
  const auto low = type.is_int() ? -std::ldexp(1.0, bits - 1) : 0.0;
  const bool is_end = random.Chance(10);
  return ArrayOf(shape, type, [&](std::int64_t) {
    const std::int64_t count = std::int64_t{1} << bits;
    return low + static_cast<double>(is_end ? random.Below(2) * (count - 1) : random.Below(count));
  });
}

NDArray Scales::Make(const Shape& shape) const {
  static const std::vector<double>& powers =
      *new std::vector<double>{0.5, 0.25, 0.125, 1, 2, 0x1p-6};
  static const std::vector<double>& any =
      *new std::vector<double>{0.5, 0.03, 0.1, 0.0117, 1, 1.7, 0.3, 0.007};
  static const std::vector<DataType>& rare = *new std::vector<DataType>{Float64, Float16, BFloat16};
  const DataType type = random.Chance(85) ? Float32 : random.Of(rare);
  return ArrayOf(shape, type, [&](std::int64_t) { return random.Of(are_powers ? powers : any); });
}

NDArray ZeroPoints(const Shape& shape, DataType type, Random& random) {
  const DataType own = random.Chance(75) ? type : Int32;
  const bool is_zero = random.Chance(35);
  const bool is_beyond = own == Int32 && random.Chance(20);
  return ArrayOf(shape, own, [&](std::int64_t) -> double {
    if (is_zero) return 0;
    if (is_beyond) return static_cast<double>(random.Below(900) - 300);
    const std::int64_t count = type.bits() == 8 ? 256 : 1000;
    const std::int64_t low = !type.is_int() ? 0 : -count / 2;
    return static_cast<double>(low + random.Below(count));
  });
}

}  // namespace tenon::verify
