// Results whose extents are known at run time only: calls of take_first among the results of @main.
// The model computes the whole and the count, and a run cuts the one by the other
// (runtime/plan.h). Only files of compiler/ include this header.
//
//   const auto [plain, extents] = SplitRunTimeExtents(module);
#ifndef TENON_COMPILER_PLAN_RUN_TIME_EXTENTS_H_
#define TENON_COMPILER_PLAN_RUN_TIME_EXTENTS_H_

#include <vector>

#include "tenon/ir/module.h"
#include "tenon/runtime/plan.h"

namespace tenon::compiler {

struct RunTimeExtents {
  ir::Module module;  // with the counts as further results of @main
  std::vector<runtime::RunTimeExtent> extents;
};

// A module without such calls comes back as it is. Otherwise types are inferred, which throws what
// InferType throws. Throws Unimplemented for a call whose value is not a result of @main and
// nothing else.
RunTimeExtents SplitRunTimeExtents(const ir::Module& module);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_RUN_TIME_EXTENTS_H_
