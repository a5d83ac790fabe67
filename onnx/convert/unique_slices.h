// The distinct slices of a tensor along an axis, found at import (Unique with the attribute axis).
#ifndef TENON_ONNX_CONVERT_UNIQUE_SLICES_H_
#define TENON_ONNX_CONVERT_UNIQUE_SLICES_H_

#include <cstdint>
#include <vector>

#include "tenon/support/ndarray.h"

namespace tenon::onnx_import {

struct UniqueSlices {
  std::vector<std::int64_t> first;    // for each distinct slice, where it occurs first
  std::vector<std::int64_t> inverse;  // for each slice, which distinct one it is
  std::vector<std::int64_t> counts;   // how often each occurs
};

// In ascending order of their elements, or of their first occurrences. Throws Unimplemented for
// element types that are not compared.
UniqueSlices UniqueSlicesOf(const NDArray& x, std::int64_t axis, bool sorted);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_UNIQUE_SLICES_H_
