// Random calls of an operator whose types nothing has checked yet: calls that often fit, calls of
// anything, and calls that fit except for one change.
//
//   const UntypedCall call = DrawCall(op, /*leaves_types=*/false, random);
//   const OperatorCall typed = Completed(call);
//   const UntypedCall near = WithOneChange({typed.module, typed.graph.values}, random);
#ifndef TENON_VERIFY_DRAW_RANDOM_CALL_H_
#define TENON_VERIFY_DRAW_RANDOM_CALL_H_

#include <string>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/ops/op.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// The most elements of an argument.
inline constexpr std::int64_t kMaxArgumentElements = 4096;

struct UntypedCall {
  ir::Module module;            // @main is the call of parameters
  std::vector<NDArray> values;  // of parameters, where the operator says what they may be
};

// By the operator's drawer (operands.h), if it has one, and otherwise by chance; then some of the
// arguments have no types, if `leaves_types`, because the type relation may know them. Throws as
// DrawAttributes.
UntypedCall DrawCall(const std::string& op, bool leaves_types, Random& random);

// Any arguments and attributes, some of them far from those that fit: mostly a call that must be
// refused. Throws as DrawAttributes.
UntypedCall AnyCall(const std::string& op, Random& random);

// A call whose types are inferred, with one change: a parameter has another extent, rank or type,
// an integer of the attributes is another, or two arguments are one. All its parameters have
// values.
UntypedCall WithOneChange(const UntypedCall& typed, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_CALL_H_
