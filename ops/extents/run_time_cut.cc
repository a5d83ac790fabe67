#include "tenon/ops/extents/run_time_cut.h"

#include <string_view>
#include <utility>

#include "tenon/ops/extents/count_up_attrs.h"
#include "tenon/ops/extents/extent_attrs.h"

namespace tenon::ops {
namespace {

const ir::CallNode* AsCallOf(const ir::Expr& e, std::string_view name) {
  const auto* call = e.As<ir::CallNode>();
  return call != nullptr && call->op() != nullptr && call->op()->name == name ? call : nullptr;
}

}  // namespace

const ir::CallNode* AsRunTimeCut(const ir::Expr& e) { return AsCallOf(e, "take_first"); }
const ir::CallNode* AsCountUp(const ir::Expr& e) { return AsCallOf(e, "count_up"); }
const ir::CallNode* AsRunTimeExtent(const ir::Expr& e) {
  const ir::CallNode* cut = AsRunTimeCut(e);
  return cut != nullptr ? cut : AsCountUp(e);
}

const std::string& VariableOf(const ir::CallNode& call) {
  return call.args.size() == 1 ? call.attrs.As<CountUpAttrs>().extent
                               : call.attrs.As<RunTimeCutAttrs>().extent;
}

bool KeepsName(const ir::CallNode& call) {
  return call.args.size() == 2 && call.attrs.As<RunTimeCutAttrs>().keeps_name;
}

attrs::Attrs WithVariable(const ir::CallNode& call, const std::string& variable) {
  const auto with = [&](auto attrs) {
    attrs.extent = variable;
    return attrs::Attrs::Make(std::move(attrs));
  };
  return call.args.size() == 1 ? with(call.attrs.As<CountUpAttrs>())
                               : with(call.attrs.As<RunTimeCutAttrs>());
}

}  // namespace tenon::ops
