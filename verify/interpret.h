// Runs a module operator by operator. This defines the meaning against which passes and compiled
// code are checked.
//
// Every call is evaluated separately by te::Interpret on the operator's tensor expression, so that
// fusion, schedules and code generation do not affect the result. Slow; thread-safe.
//
//   std::vector<NDArray> y = Interpret(module, {x, w});
#ifndef TENON_VERIFY_INTERPRET_H_
#define TENON_VERIFY_INTERPRET_H_

#include <functional>
#include <unordered_map>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/ndarray.h"

namespace tenon::verify {

// An array, or the arrays of a tuple's fields in order, with nested tuples expanded.
using GraphValue = std::vector<NDArray>;
using GraphValues = std::unordered_map<ir::Expr, GraphValue, ir::ExprHash>;

// The results of @main, with tuples flattened. `inputs` are in the order of the parameters. Extents
// may be variables, which the inputs decide, or values (take_first). Requires checked types.
// `change`, when given, replaces every constant and every result of an operator, which it gets with
// the array. Denormals count as zero, as in kernels. Throws
// InvalidArgument for inputs that do not have the parameters' types, Unimplemented for an operator
// without a compute, and OutOfRange for calls that wait for one another more than 500 deep.
using ValueChange = std::function<NDArray(const NDArray& array, const ir::Expr& of)>;
std::vector<NDArray> Interpret(const ir::Module& module, const std::vector<NDArray>& inputs,
                               const ValueChange& change = nullptr);

// The values of all expressions of a function's body, and of its parameters; of an if, those of the
// branch that ran.
GraphValues InterpretEach(const ir::Module& module, const ir::FunctionNode& function,
                          const std::vector<NDArray>& inputs, const ValueChange& change = nullptr);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_INTERPRET_H_
