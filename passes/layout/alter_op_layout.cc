#include "tenon/passes/layout/alter_op_layout.h"

#include "tenon/ops/layout/alter_layout.h"
#include "tenon/ops/op.h"
#include "tenon/passes/layout/blocked_conv.h"
#include "tenon/passes/layout/rewrite_layouts.h"

namespace tenon::passes {

ir::Module AlterOpLayout(const ir::Module& module) {
  return RewriteLayouts(module, [](const ir::CallNode& call) -> std::optional<LayoutAlteration> {
    const auto* column = ops::OpOf(call)->Column<ops::AlterLayout>();
    if (column == nullptr) return std::nullopt;
    if (column->alter != nullptr) return column->alter(call);
    const auto blocks = column->choose(call);
    return blocks ? BlockedConvolution(call, *blocks) : std::nullopt;
  });
}

}  // namespace tenon::passes
