// Checks that a module is well formed: whatever a pass or a front end makes must be.
//
// Rules: every variable that is used is bound, once, by a parameter or a let; a let's value does
// not use its own variable; every global that is named is defined; an operator is called with the
// number of arguments and the attributes that it declares; every projection of a known tuple type
// is within it. Errors are InvalidArgument, naming function and rule.
//
//   VerifyModule(module);
#ifndef TENON_IR_VERIFY_H_
#define TENON_IR_VERIFY_H_

#include "tenon/ir/module.h"

namespace tenon::ir {

void VerifyModule(const Module& module);

}  // namespace tenon::ir

#endif  // TENON_IR_VERIFY_H_
