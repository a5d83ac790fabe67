// Calls of take_first: where an extent that values decide enters a model.
#ifndef TENON_OPS_RUN_TIME_CUT_H_
#define TENON_OPS_RUN_TIME_CUT_H_

#include "tenon/ir/expr.h"

namespace tenon::ops {

// The call, or null for anything else.
inline const ir::CallNode* AsRunTimeCut(const ir::Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  return call != nullptr && call->op() != nullptr && call->op()->name == "take_first" ? call
                                                                                      : nullptr;
}

}  // namespace tenon::ops

#endif  // TENON_OPS_RUN_TIME_CUT_H_
