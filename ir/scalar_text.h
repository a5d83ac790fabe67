// Numbers in Relay text: 1 (int32), 1i64, 1i16, 1f (float32), 1f64, 1f16; a fraction without a
// suffix is float64.
//
//   ScalarText(NDArray::Scalar<float>(0.5F)) == "0.5f";
//   ParseScalar(*ParseNumberText("0.5f"))->dtype() == Float32;
#ifndef TENON_IR_SCALAR_TEXT_H_
#define TENON_IR_SCALAR_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/support/ndarray.h"

namespace tenon::ir {

// A number and the letters after it.
struct NumberText {
  std::string digits;
  std::string suffix;
  std::optional<std::int64_t> integer;  // when the digits are one that fits
  bool is_fraction = false;             // has a point or an exponent
  double real = 0;                      // an infinity when it is beyond the type
};

// Nothing for text that is not a number.
std::optional<NumberText> ParseNumberText(std::string_view text);

// The type that the suffix names, or that a number without one has. Nothing for an unknown suffix.
std::optional<DataType> TypeOfNumber(const NumberText& number);

// The rank-0 array that a number stands for; of a fraction, the nearest value. Nothing for an
// unknown suffix or a value that does not fit.
std::optional<NDArray> ParseScalar(const NumberText& number);

// The text that reads back exactly. Nothing for arrays of a higher rank, and for types and values
// without such a text.
std::optional<std::string> ScalarText(const NDArray& data);

}  // namespace tenon::ir

#endif  // TENON_IR_SCALAR_TEXT_H_
