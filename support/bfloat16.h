// bfloat16 is the upper half of a float32.
//
//   FromBFloat16(0x3F80) == 1.0F;
#ifndef TENON_SUPPORT_BFLOAT16_H_
#define TENON_SUPPORT_BFLOAT16_H_

#include <bit>
#include <cstdint>

namespace tenon {

inline float FromBFloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

}  // namespace tenon

#endif  // TENON_SUPPORT_BFLOAT16_H_
