#include "tenon/passes/layout/alter_op_layout.h"

#include "tenon/ops/known_ops.h"
#include "tenon/passes/layout/blocked_conv.h"
#include "tenon/passes/layout/rewrite_layouts.h"

namespace tenon::passes {

ir::Module AlterOpLayout(const ir::Module& module) {
  const auto* column = ops::OpOf(ops::Known().conv2d)->Column<ops::AlterLayout>();
  if (column == nullptr) return module;
  return RewriteLayouts(module, [&](const ir::CallNode& call) -> std::optional<LayoutAlteration> {
    if (!(call.callee == ops::Known().conv2d)) return std::nullopt;
    const auto blocks = column->choose(call);
    return blocks ? BlockedConv2D(call, *blocks) : std::nullopt;
  });
}

}  // namespace tenon::passes
