// Calls with which an extent that values decide enters a model: take_first and count_up.
#ifndef TENON_OPS_EXTENTS_RUN_TIME_CUT_H_
#define TENON_OPS_EXTENTS_RUN_TIME_CUT_H_

#include <string>

#include "tenon/ir/expr.h"

namespace tenon::ops {

// The call of take_first, or null for anything else.
const ir::CallNode* AsRunTimeCut(const ir::Expr& e);
// The call of count_up, or null for anything else.
const ir::CallNode* AsCountUp(const ir::Expr& e);
// Either of them, or null. Its last argument is the count.
const ir::CallNode* AsRunTimeExtent(const ir::Expr& e);

// The variable of such a call; empty where it has none yet.
const std::string& VariableOf(const ir::CallNode& call);
// Whether other cuts may have its variable, whatever their counts.
bool KeepsName(const ir::CallNode& call);
attrs::Attrs WithVariable(const ir::CallNode& call, const std::string& variable);

}  // namespace tenon::ops

#endif  // TENON_OPS_EXTENTS_RUN_TIME_CUT_H_
