// What elementwise operators and reductions mean, as plain loops in the widest types: integers of
// 128 bits and long doubles, rounded to the element type once. The interpreter evaluates the same
// expressions as kernels do, so it cannot show where these are wrong; this can.
//
//   HasPlainDefinition("clip");  // true
//   DifferenceFromDefinition(call, {x}, result);  // "element (3) is 0; by definition it is 1"
#ifndef TENON_VERIFY_PLAIN_DEFINITION_H_
#define TENON_VERIFY_PLAIN_DEFINITION_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/support/ndarray.h"

namespace tenon::verify {

bool HasPlainDefinition(const std::string& op);

// How a result differs from what the call of an operator means. Operators that only choose, compare
// or convert elements have one right result; others may differ by rounding. Nothing for operators
// and types without a definition here, and for elements that are denormal.
std::optional<std::string> DifferenceFromDefinition(const ir::CallNode& call,
                                                    const std::vector<NDArray>& args,
                                                    const NDArray& result);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_PLAIN_DEFINITION_H_
