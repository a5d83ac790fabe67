// Arithmetic between constants, for rules that join two of them.
#ifndef TENON_PASSES_CONSTANT_ARITHMETIC_H_
#define TENON_PASSES_CONSTANT_ARITHMETIC_H_

#include <optional>

#include "tenon/support/ndarray.h"

namespace tenon::passes {

enum class Arithmetic { kAdd, kSubtract, kMultiply };

// a op b, where one of the shapes broadcasts to the other. Integers wrap around; floats are
// calculated in double precision and rounded once. Nothing for other shapes and element types, and
// where finite operands overflow or factors other than zero give a product that is no normal
// number.
std::optional<NDArray> Calculate(Arithmetic op, const NDArray& a, const NDArray& b);

// Whether all elements equal the value (0.0 and -0.0 are told apart).
bool IsFilledWith(const NDArray& array, double value);
// A constant of rank 0; float16 and bfloat16 are not known.
std::optional<NDArray> ScalarOf(double value, DataType dtype);

}  // namespace tenon::passes

#endif  // TENON_PASSES_CONSTANT_ARITHMETIC_H_
