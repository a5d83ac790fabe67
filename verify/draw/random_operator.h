// Random calls of a registered operator, as computations whose schedules can be fuzzed.
//
// Shapes, element types and attributes (by reflection) are drawn until the operator's type relation
// accepts them; the relation may also give the type of an argument. Operators whose arguments must
// fit each other have drawers of their own (operands.h), which give the values, too. The operator's
// compute, or that of the operators that it stands for, gives the tensors.
//
//   std::string refusal;
//   if (auto call = MakeRandomCall("nn.conv2d", random, &refusal))
//     auto finding = FuzzSchedule(call->graph, seed, &statistics);
#ifndef TENON_VERIFY_DRAW_RANDOM_OPERATOR_H_
#define TENON_VERIFY_DRAW_RANDOM_OPERATOR_H_

#include <optional>
#include <string>

#include "tenon/ir/module.h"
#include "tenon/ops/op.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/draw/random_call.h"
#include "tenon/verify/draw/random_graph.h"

namespace tenon::verify {

struct OperatorCall {
  RandomGraph graph;  // has no outputs where values decide their extents
  ir::Module module;  // @main is the call
  std::string text;   // "nn.relu(float32 (3, 5))"
};

// Nothing when none of many draws is a call, because arguments rarely fit by chance or an attribute
// needs a text that must be known. `refusal` then says why the last draw failed. Throws NotFound
// for an unknown operator.
std::optional<OperatorCall> MakeRandomCall(const std::string& op, Random& random,
                                           std::string* refusal);

// The call with its types and what computes it. Throws InvalidArgument or Unimplemented for one
// that does not fit, that no operator computes, or that is too large to check.
OperatorCall Completed(UntypedCall call);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_OPERATOR_H_
