// Rounding of counts and sizes of any integer type. No argument may be negative.
//
//   CeilDiv(65, 16);  // 5
//   RoundUp(65, 16);  // 80
//   BitCeil(65);      // 128
#ifndef TENON_SUPPORT_ARITHMETIC_H_
#define TENON_SUPPORT_ARITHMETIC_H_

#include <bit>
#include <concepts>
#include <type_traits>

namespace tenon {

// a / b rounded up, where b > 0; no intermediate value exceeds a.
template <std::integral T>
constexpr T CeilDiv(T a, std::type_identity_t<T> b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// The smallest multiple of `multiple` that is at least `value`; it must fit.
template <std::integral T>
constexpr T RoundUp(T value, std::type_identity_t<T> multiple) {
  return CeilDiv(value, multiple) * multiple;
}

// The smallest power of two that is at least `value`; it must fit.
template <std::integral T>
constexpr T BitCeil(T value) {
  return static_cast<T>(std::bit_ceil(static_cast<std::make_unsigned_t<T>>(value)));
}

// The block size from `min_size` > 0 to `max_size` whose blocks cover `value` with the least
// excess; the largest of several.
template <std::integral T>
constexpr T TightestBlock(T value, std::type_identity_t<T> min_size,
                          std::type_identity_t<T> max_size) {
  T best = max_size;
  for (T size = max_size; size > min_size;) {
    --size;
    if (RoundUp(value, size) < RoundUp(value, best)) best = size;
  }
  return best;
}

}  // namespace tenon

#endif  // TENON_SUPPORT_ARITHMETIC_H_
