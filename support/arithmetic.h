// Rounding of counts and sizes, of any integer type, none of which may be negative.
//
//   CeilDiv(65, 16);  // 5
//   RoundUp(65, 16);  // 80
#ifndef TENON_SUPPORT_ARITHMETIC_H_
#define TENON_SUPPORT_ARITHMETIC_H_

#include <concepts>
#include <type_traits>

namespace tenon {

// a / b rounded up, where b > 0; no intermediate value exceeds a.
template <std::integral T>
constexpr T CeilDiv(T a, std::type_identity_t<T> b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// The least multiple of `multiple` that is no less than `value`; it must fit.
template <std::integral T>
constexpr T RoundUp(T value, std::type_identity_t<T> multiple) {
  return CeilDiv(value, multiple) * multiple;
}

}  // namespace tenon

#endif  // TENON_SUPPORT_ARITHMETIC_H_
