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

// A call of the operator with any arguments and attributes, some of them far from those that fit:
// mostly one that must be refused. Nothing checks it: types are not inferred. Throws as
// DrawAttributes.
ir::Module AnyCall(const std::string& op, Random& random);

// Draws values for some fields at random, each accepted by its field; the others keep their
// defaults. `extreme_percent` of integers are far from usual ones. Throws InvalidArgument where a
// required field takes only a text that cannot be drawn.
attrs::Attrs DrawAttributes(const ops::OpDef& op, Random& random, int extreme_percent = 0);

// `attributes` of the operator with another value of one field; the same where none is accepted.
attrs::Attrs WithOtherField(const ops::OpDef& op, const attrs::Attrs& attributes, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_OPERATOR_H_
