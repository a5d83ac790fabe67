// Runs a module operator by operator: the meaning that passes and compiled code are checked
// against.
//
// Every call is evaluated by te::Interpret on the operator's tensor expression alone, so that
// neither fusion nor schedules nor code generation have a part in the result. Slow; thread-safe.
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

// An array, or the arrays of a tuple's fields in order (fields of fields as well).
using GraphValue = std::vector<NDArray>;
using GraphValues = std::unordered_map<ir::Expr, GraphValue, ir::ExprHash>;

// The results of @main, tuples flattened, and cut where only a run knows their extents
// (take_first); `inputs` by parameter. Requires checked types. `change`, when given, replaces every
// constant and every result of an operator. Throws InvalidArgument for inputs that are not the
// parameters' types, Unimplemented for an operator without a compute and for recursion.
std::vector<NDArray> Interpret(const ir::Module& module, const std::vector<NDArray>& inputs,
                               const std::function<NDArray(const NDArray&)>& change = nullptr);

// The values of all expressions of a function's body, and of its parameters.
GraphValues InterpretEach(const ir::Module& module, const ir::FunctionNode& function,
                          const std::vector<NDArray>& inputs,
                          const std::function<NDArray(const NDArray&)>& change = nullptr);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_INTERPRET_H_
