// Results whose extents values decide: calls of take_first among the results of @main. The model
// computes the whole and the count, and a run cuts the whole to the count (runtime/plan.h). Cuts in
// the middle of a model make it a program (compiler/control). Only files of compiler/ include this
// header.
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

bool HasCut(const ir::Module& module);
// The first call of take_first or count_up whose value is not a result of @main and nothing else;
// null where there is none. Types need not be known.
ir::Expr InnerCut(const ir::Module& module);
inline bool HasInnerCut(const ir::Module& module) { return bool(InnerCut(module)); }
// A module without calls of take_first comes back as it is. For others types are inferred, which
// throws what InferType throws. There must be no inner cut.
RunTimeExtents SplitRunTimeExtents(const ir::Module& module);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_PLAN_RUN_TIME_EXTENTS_H_
