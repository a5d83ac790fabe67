// Random calls of a registered operator, as computations to fuzz schedules of.
//
// Shapes, element types and attributes are drawn (attributes by reflection) until the operator's
// type relation takes them, which may also give the type of an argument; its compute gives the
// tensors.
//
//   std::string refusal;
//   if (auto call = MakeRandomCall("nn.conv2d", random, &refusal))
//     auto finding = FuzzSchedule(call->graph, seed, &statistics);
#ifndef TENON_VERIFY_RANDOM_OPERATOR_H_
#define TENON_VERIFY_RANDOM_OPERATOR_H_

#include <optional>
#include <string>

#include "tenon/ir/module.h"
#include "tenon/ops/op.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/random_graph.h"

namespace tenon::verify {

struct OperatorCall {
  RandomGraph graph;
  ir::Module module;  // @main is the call
  std::string text;   // "nn.relu(float32 (3, 5))"
};

// Nothing when none of many draws is a call: arguments that only fit by chance, or an attribute
// whose text must be known; `refusal` is then what the last one lacked. Throws NotFound for an
// unknown operator.
std::optional<OperatorCall> MakeRandomCall(const std::string& op, Random& random,
                                           std::string* refusal);

// Some of them at random, each of a value that its field takes, the rest by default. Throws
// InvalidArgument where a required one only takes a text that nobody can draw.
attrs::Attrs DrawAttributes(const ops::OpDef& op, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_RANDOM_OPERATOR_H_
