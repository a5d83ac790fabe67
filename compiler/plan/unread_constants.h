// Constants that no kernel of a plan reads.
//
//   DropUnreadConstants(lowered, source);
#ifndef TENON_COMPILER_PLAN_UNREAD_CONSTANTS_H_
#define TENON_COMPILER_PLAN_UNREAD_CONSTANTS_H_

#include "tenon/compiler/plan/kernel_source.h"

namespace tenon::compiler {

// Removes them and numbers the rest anew, also those that `source` is to compute: a weight of which
// only the packed form is read need not be kept as it was.
void DropUnreadConstants(Lowered& lowered, KernelSource& source);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_UNREAD_CONSTANTS_H_
