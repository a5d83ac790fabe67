// What passes do with calls of an operator: columns that operators of users fill as built-in ones
// fill tables.
//
//   registry.Definition("my.qadd").SetColumn(LoweringRule{[](const LoweringCall& call) {
//     return Add(call.args[0], call.args[1]);
//   }});
#ifndef TENON_OPS_PASS_RULES_H_
#define TENON_OPS_PASS_RULES_H_

#include <functional>
#include <vector>

#include "tenon/attrs/attrs.h"
#include "tenon/ir/expr.h"

namespace tenon::ops {

// What ToMixedPrecision does with an operator.
enum class PrecisionRule {
  kAlways,  // low operands, a float32 sum: for operators with the attribute out_dtype
  kFollow,  // low where the operands are
  kNever,   // float32
};

// Folding of scales may move a factor that is greater than zero from the argument of a call to its
// result, as of relu.
struct KeepsPositiveScale {};

struct LoweringCall {
  const attrs::Attrs& attrs;
  std::vector<ir::Expr> args;  // with checked types; variables for all but constants
  ir::Type type;               // of the call, and of what takes its place
};

// Calls are replaced by other operators before any other pass (CanonicalizeQnn); so the operator
// needs no compute.
struct LoweringRule {
  std::function<ir::Expr(const LoweringCall& call)> lower;
};

}  // namespace tenon::ops

#endif  // TENON_OPS_PASS_RULES_H_
