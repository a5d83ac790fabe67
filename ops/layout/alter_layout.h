// The layout in which an operator's kernels are fastest: a column of the registry entry that
// strategies, and users' operators, attach and AlterOpLayout reads.
//
//   if (const auto* column = OpOf(call)->Column<AlterLayout>()) alteration = column->alter(call);
#ifndef TENON_OPS_LAYOUT_ALTER_LAYOUT_H_
#define TENON_OPS_LAYOUT_ALTER_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "tenon/ir/expr.h"
#include "tenon/ops/layout/layout_inference.h"

namespace tenon::ops {

// Number of input and output channels in a block.
struct ChannelBlocks {
  std::int64_t in = 0, out = 0;
};

// A replacement for a call's operator, over the same inputs in other layouts.
struct LayoutAlteration {
  ir::Expr callee;
  LayoutAnswer answer;
};

// Both functions get a call with checked types, and return nothing where it is to stay as it is.
struct AlterLayout {
  // Of a built-in convolution: the blocks of channels that it is convolved over.
  std::function<std::optional<ChannelBlocks>(const ir::CallNode& call)> choose;
  // Of any operator with a rule of layouts (LayoutInference), whose names of axes the answer keeps.
  std::function<std::optional<LayoutAlteration>(const ir::CallNode& call)> alter = nullptr;
};

}  // namespace tenon::ops

#endif  // TENON_OPS_LAYOUT_ALTER_LAYOUT_H_
