// Checks that a module is well formed. Every pass and front end must make such modules.
//
// Rules: every variable that is used is bound, once, by a parameter or a let. The value of a let
// does not use its own variable. Every global that is named is defined. An operator is called with
// the number of arguments and the attributes that it declares. Every projection of a known tuple
// type is within it. Errors are InvalidArgument and name the function and the rule.
//
//   VerifyModule(module);
#ifndef TENON_IR_VERIFY_H_
#define TENON_IR_VERIFY_H_

#include "tenon/ir/module.h"

namespace tenon::ir {

void VerifyModule(const Module& module);

}  // namespace tenon::ir

#endif  // TENON_IR_VERIFY_H_
