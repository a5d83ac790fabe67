// The blocked layout in which an operator's kernels are fastest: a column of the registry entry
// that strategies attach and AlterOpLayout reads.
//
//   if (const auto* column = OpOf(call)->Column<AlterLayout>()) blocks = column->choose(call);
#ifndef TENON_OPS_ALTER_LAYOUT_H_
#define TENON_OPS_ALTER_LAYOUT_H_

#include <cstdint>
#include <functional>
#include <optional>

#include "tenon/ir/expr.h"

namespace tenon::ops {

// Number of input and output channels in a block.
struct ChannelBlocks {
  std::int64_t in = 0, out = 0;
};

struct AlterLayout {
  // Gets a call with checked types. Returns nothing when the call is to stay as it is.
  std::function<std::optional<ChannelBlocks>(const ir::CallNode& call)> choose;
};

}  // namespace tenon::ops

#endif  // TENON_OPS_ALTER_LAYOUT_H_
