// Element types of ONNX with fewer bits than any of Tenon's numbers: integers of 2 and 4 bits, and
// floats of 4 and 8. Values of these types are carried by wider elements, which hold each of them
// exactly: int8, uint8 or float32.
//
//   const NarrowType* type = FindNarrowType(onnx_type);
//   if (type != nullptr) array = Unpacked(*type, bytes, shape);
#ifndef TENON_ONNX_NARROW_TYPE_H_
#define TENON_ONNX_NARROW_TYPE_H_

#include <string_view>

#include "tenon/support/ndarray.h"

namespace tenon::onnx_import {

// What the bits of a float say that no number is.
enum class NoNumbers {
  kNone,           // every pattern is a finite number
  kIeee,           // the greatest exponent: infinities and NaN
  kTopIsNan,       // all bits set: NaN; there is no infinity
  kNegativeZero,   // the sign alone: NaN; there is no infinity and no negative zero
  kExponentsOnly,  // powers of two; all bits set: NaN
};

struct NarrowType {
  const char* name;
  int onnx;  // the number of the type in ONNX
  int bits;
  DataType carrier;
  int mantissa = 0;  // bits of a float's fraction
  int bias = 0;      // of its exponent
  NoNumbers none = NoNumbers::kNone;

  bool is_float() const { return carrier == Float32; }
  // The least and the greatest finite value.
  double lowest() const;
  double highest() const;
  // The value of a pattern of bits.
  double Value(unsigned pattern) const;
  // No intermediate value exceeds the number of elements.
  std::int64_t BytesOf(std::int64_t elements) const {
    return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
  }
};

// Null for all other types.
const NarrowType* FindNarrowType(int onnx_type);
// `bytes` holds elements packed from the lowest bits up, and BytesOf(elements) bytes.
NDArray Unpacked(const NarrowType& type, std::string_view bytes, const Shape& shape);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_NARROW_TYPE_H_
