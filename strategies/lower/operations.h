// How much arithmetic a fused function asks for.
//
//   double operations = OperationsOf(*kernel.function.As<ir::FunctionNode>());
#ifndef TENON_STRATEGIES_LOWER_OPERATIONS_H_
#define TENON_STRATEGIES_LOWER_OPERATIONS_H_

#include "tenon/ir/expr.h"

namespace tenon::strategies {

// The operations of the plain definition of each operator, whatever form a kernel takes. Each
// addition, multiplication, comparison, choice and function of elements counts as one, so a
// multiply-add is two. Indices do not count. Requires checked types of numbers; throws what
// LowerFunction throws.
double OperationsOf(const ir::FunctionNode& function);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_LOWER_OPERATIONS_H_
