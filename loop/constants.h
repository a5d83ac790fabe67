// Constants as operands: the types that they take and what is folded when an expression is made.
// For files of loop/ that define factories, and for those that evaluate expressions.
#ifndef TENON_LOOP_CONSTANTS_H_
#define TENON_LOOP_CONSTANTS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// Keeps an integer inside its type, as a register would.
std::int64_t Wrap(DataType type, std::int64_t value);

// The nearest number of a floating type, rounded once.
double Nearest(DataType type, double value);

// `value`, which `from` holds, as the nearest number of a floating type: rounded once where that
// type has registers.
double ToFloating(DataType from, std::int64_t value, DataType to);

// A constant in another type. Nothing if its value could get lost: a floating constant does not
// become an integer, and an integer does not take a type that does not hold it.
std::optional<Expr> ConstantAs(DataType type, const Expr& e);

// If one of two values of different types is a constant, gives it the type of the other. False when
// neither can take it.
bool MatchConstants(Expr& a, Expr& b);
// Throws InvalidArgument for an integer constant that the type of the other side does not hold.
// `where` says what the sides are.
void RequireFit(const Expr& a, const Expr& b, std::string_view where);

// Folds what cannot change a result: constants of signed integers and bools, and the neutral
// elements of index arithmetic.
std::optional<Expr> Fold(BinaryOp op, const Expr& a, const Expr& b);

}  // namespace tenon::loop

#endif  // TENON_LOOP_CONSTANTS_H_
