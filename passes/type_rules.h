// What each kind of expression says about the types of itself and of the expressions inside. Only
// files inside passes/ include this header.
//
//   ApplyTypeRule(call, facts);  // learns the result's type from the arguments', and back
#ifndef TENON_PASSES_TYPE_RULES_H_
#define TENON_PASSES_TYPE_RULES_H_

#include <string>
#include <vector>

#include "tenon/ops/op.h"

namespace tenon::passes {

// The types that are known so far. What is not known is null, as a type or as a part of one.
class TypeFacts {
 public:
  virtual ~TypeFacts() = default;
  virtual const ir::Type& TypeOf(const ir::Expr& e) = 0;
  // Throws InvalidArgument for a type that does not fit what is known.
  virtual void Learn(const ir::Expr& e, const ir::Type& type) = 0;
  // The function of that name. Null if there is none.
  virtual ir::Expr GlobalOf(const std::string& name) = 0;
  // The rule that runs has more to say once it sees what it has taught.
  virtual void ApplyAgain() = 0;
};

// Applies the rule of `e`. Throws InvalidArgument for a contradiction.
void ApplyTypeRule(const ir::Expr& e, TypeFacts& facts);

// What the operator's relation learns from the types of the call's arguments and result. Throws
// InvalidArgument.
ops::TypeCall Relate(const ops::OpDef& op, const ir::CallNode& call, std::vector<ir::Type> inputs,
                     ir::Type result);

}  // namespace tenon::passes

#endif  // TENON_PASSES_TYPE_RULES_H_
