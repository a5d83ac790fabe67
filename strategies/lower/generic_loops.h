// The loops of a fused function as its generic schedule makes them: nothing is cut, hoisted, masked
// or unrolled afterwards.
//
// Every operator takes the plain form of its computation. A loop that is to run in vectors, but has
// a condition for its lanes, becomes a serial loop whose variable's name ends in ".s".
//
//   loop::Function f = GenericLoops(function, "fused_add");   // for (ax0.outer) for (ax0.inner.s)
//
// The function must have checked, static types. Throws Unimplemented for an operator without a
// compute. The body has flat buffers and no vector loops, so that it can be compiled.
#ifndef TENON_STRATEGIES_LOWER_GENERIC_LOOPS_H_
#define TENON_STRATEGIES_LOWER_GENERIC_LOOPS_H_

#include <string>

#include "tenon/ir/expr.h"
#include "tenon/loop/function.h"

namespace tenon::strategies {

// Its buffers are all parameters, tuples flattened, and then the results.
loop::Function GenericLoops(const ir::FunctionNode& function, const std::string& name);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_LOWER_GENERIC_LOOPS_H_
