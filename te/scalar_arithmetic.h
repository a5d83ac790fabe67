// Arithmetic on single values, as the interpreter does it: floats in double, rounded to their type
// afterwards; integers in int64, wrapped to theirs.
#ifndef TENON_TE_SCALAR_ARITHMETIC_H_
#define TENON_TE_SCALAR_ARITHMETIC_H_

#include <cstdint>

#include "tenon/loop/expr.h"

namespace tenon::te {

// Rounds to a floating type, once.
double RoundTo(DataType type, double value);
double RoundTo(DataType type, std::int64_t value, bool is_unsigned);
std::int64_t WrapTo(DataType type, std::int64_t value);
// Rounds toward zero. Out of range it gives the nearest number that the type holds, and 0 for NaN.
std::int64_t SaturateTo(DataType type, double value);

double ApplyUnary(loop::Intrinsic intrinsic, double x);
double ApplyFloat(loop::BinaryOp op, double a, double b);
// Division by zero gives 0. As many low bits of the distance of a shift count as the width allows.
std::int64_t ApplyInt(loop::BinaryOp op, DataType type, std::int64_t a, std::int64_t b);

template <typename T>
bool Compare(loop::BinaryOp op, T a, T b) {
  switch (op) {
    case loop::BinaryOp::kEQ:
      return a == b;
    case loop::BinaryOp::kNE:
      return a != b;
    case loop::BinaryOp::kLT:
      return a < b;
    case loop::BinaryOp::kLE:
      return a <= b;
    case loop::BinaryOp::kGT:
      return a > b;
    default:
      return a >= b;
  }
}

}  // namespace tenon::te

#endif  // TENON_TE_SCALAR_ARITHMETIC_H_
