// Casts of casts.
#ifndef TENON_LOOP_SIMPLIFY_SIMPLIFY_CASTS_H_
#define TENON_LOOP_SIMPLIFY_SIMPLIFY_CASTS_H_

#include <optional>

#include "tenon/loop/expr.h"

namespace tenon::loop {

// Whether every number of `from` is one of `to`: int8 in int32, float16 in float32, bool in all.
bool Holds(DataType to, DataType from);

// A cast of a cast to a type that holds all values is a cast of the value. Gives that, or nothing
// if `cast` is another expression. Integers go through integers and floats through floats only,
// since a float becomes an integer by another rule than an integer does.
std::optional<Expr> SimplifyCast(const Expr& cast);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SIMPLIFY_SIMPLIFY_CASTS_H_
