// Scalars in Relax text: R.const(0.5, "float32").
//
//   *ScalarText(NDArray::Scalar<float>(0.5F)) == "R.const(0.5, \"float32\")";
//   ParseScalar("0.5", Float32)->dtype() == Float32;
#ifndef TENON_RELAX_SCALAR_TEXT_H_
#define TENON_RELAX_SCALAR_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "tenon/support/ndarray.h"

namespace tenon::relax {

// The text that reads back exactly. Nothing for arrays of a higher rank and for values without such
// a text: infinities and NaNs.
std::optional<std::string> ScalarText(const NDArray& data);

// The value of "inf", "-inf" and "nan"; nothing for any other text.
std::optional<double> ParseNotFinite(std::string_view text);

// The rank-0 array of a number's text, of one of those, or of "True" and "False". Nothing for a
// value that the type cannot hold.
std::optional<NDArray> ParseScalar(std::string_view text, DataType dtype);

}  // namespace tenon::relax

#endif  // TENON_RELAX_SCALAR_TEXT_H_
