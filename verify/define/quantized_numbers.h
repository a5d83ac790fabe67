// Numbers of quantised tensors, and the scales and zero points by which they are read.
#ifndef TENON_VERIFY_DEFINE_QUANTIZED_NUMBERS_H_
#define TENON_VERIFY_DEFINE_QUANTIZED_NUMBERS_H_

#include "tenon/verify/array_values.h"

namespace tenon::verify {

// Any number of up to 16 bits; of 32 bits one that float32 nearly holds.
NDArray QuantizedNumbers(const Shape& shape, DataType type, Random& random);
// Of numbers of `type`; most of them are numbers of it.
NDArray ZeroPoints(const Shape& shape, DataType type, Random& random);

// How the scales of a call are drawn: powers of two give results that are known to the last bit.
struct Scales {
  Random& random;
  const bool are_powers = random.Chance(40);

  NDArray Make(const Shape& shape = {}) const;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DEFINE_QUANTIZED_NUMBERS_H_
