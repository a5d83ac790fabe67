// Constants that no kernel of a plan reads.
//
//   DropUnreadConstants(lowered, source);
#ifndef TENON_COMPILER_PLAN_UNREAD_CONSTANTS_H_
#define TENON_COMPILER_PLAN_UNREAD_CONSTANTS_H_

#include "tenon/compiler/plan/kernel_source.h"

namespace tenon::compiler {

// Removes the constants that no node reads, such as a weight of which only the packed form is read.
// The others get new numbers, including those that `source` has yet to compute.
void DropUnreadConstants(Lowered& lowered, KernelSource& source);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_UNREAD_CONSTANTS_H_
