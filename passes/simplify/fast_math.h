// FastMath: replaces exp, erf, tanh and nn.softmax by fast_exp, fast_erf, fast_tanh and
// nn.fast_softmax.
//
// Tenon computes both by the same code, so no value changes; the names are for readers of modules
// and for code generators that know them. Keeps checked types.
#ifndef TENON_PASSES_SIMPLIFY_FAST_MATH_H_
#define TENON_PASSES_SIMPLIFY_FAST_MATH_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module FastMath(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_FAST_MATH_H_
