// What operators mean, as plain loops in the widest types: integers of 128 bits and long doubles,
// rounded to the element type once. Every operator has one but marks of devices and compilers, and
// references. The interpreter evaluates the same expressions as kernels do, so it cannot show where
// these are wrong; this can.
//
//   TakesAnyValues("clip");  // true
//   DifferenceFromDefinition(call, {x}, {result});  // "element (3) is 0; by definition it is 1"
#ifndef TENON_VERIFY_DEFINE_PLAIN_DEFINITION_H_
#define TENON_VERIFY_DEFINE_PLAIN_DEFINITION_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/support/ndarray.h"

namespace tenon::verify {

// Whether the operator has a definition that holds for all values of its arguments.
bool TakesAnyValues(const std::string& op);

// How the results differ from what the call of an operator means. Operators that only choose,
// compare or convert elements have one right result; others may differ by rounding. Nothing for
// operators and types without a definition here, and for elements that are denormal. Of tuples, as
// arguments and results, the fields are given in order.
std::optional<std::string> DifferenceFromDefinition(const ir::CallNode& call,
                                                    const std::vector<NDArray>& args,
                                                    const std::vector<NDArray>& results);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DEFINE_PLAIN_DEFINITION_H_
