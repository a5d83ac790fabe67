// BindParams: replaces parameters of a function by constants.
//
// Bound parameters leave the signature; the given module does not change. A variable that is an
// extent of a bound parameter becomes the value's number in all types of the function. All errors
// come before anything is bound: NotFound for a name that no parameter has (naming those that
// exist), InvalidArgument for a name that several parameters have, for a parameter that is given
// twice, for a value whose shape or element type is not that of the parameter, and for values that
// give a variable different numbers or are beyond the limits of @main. Run InferType after it.
//
//   Module bound = BindParams(module, "main", {{"weight", weight}});
#ifndef TENON_PASSES_BIND_PARAMS_H_
#define TENON_PASSES_BIND_PARAMS_H_

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

using ParamKey = std::variant<std::string, ir::Var>;
using ParamValues = std::vector<std::pair<ParamKey, NDArray>>;

ir::Module BindParams(const ir::Module& module, const std::string& function,
                      const ParamValues& values);

}  // namespace tenon::passes

#endif  // TENON_PASSES_BIND_PARAMS_H_
