// DivToMul: turns division by a constant into multiplication by its reciprocals.
//
// Every element of the constant is inverted in double precision and rounded once. Results may
// differ from the quotients in the last bit. Only constants of float32 and float64, and none with
// an element that is zero, not finite, or whose reciprocal is not a normal number. Keeps checked
// types.
#ifndef TENON_PASSES_SIMPLIFY_DIV_TO_MUL_H_
#define TENON_PASSES_SIMPLIFY_DIV_TO_MUL_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module DivToMul(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_DIV_TO_MUL_H_
