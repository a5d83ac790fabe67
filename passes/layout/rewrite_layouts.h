// The rewriter that ConvertLayout and AlterOpLayout share. It gives operators new layouts and
// inserts transforms where producers and consumers disagree.
//
// Every value has its current layout and its old one. An operator asks for the layouts of its
// inputs by its LayoutInference column. Without the column, and where blocks do not divide an axis,
// it gets its old layouts. Parameters and results of functions keep their layouts. Equal transforms
// of a value are made once. Needs checked types and leaves them.
//
//   Module out = RewriteLayouts(module, [](const CallNode& call) { return std::nullopt; });
#ifndef TENON_PASSES_LAYOUT_REWRITE_LAYOUTS_H_
#define TENON_PASSES_LAYOUT_REWRITE_LAYOUTS_H_

#include <functional>
#include <optional>

#include "tenon/ir/module.h"
#include "tenon/ops/layout/alter_layout.h"

namespace tenon::passes {

using ops::LayoutAlteration;
using AlterLayoutRule = std::function<std::optional<LayoutAlteration>(const ir::CallNode& call)>;

// `alter` gets calls with a LayoutInference column, in their original form. If it returns nothing,
// the operator stays.
ir::Module RewriteLayouts(const ir::Module& module, const AlterLayoutRule& alter);

}  // namespace tenon::passes

#endif  // TENON_PASSES_LAYOUT_REWRITE_LAYOUTS_H_
