// FuseOps: groups operator calls that one kernel can compute.
//
// Each group becomes a function literal with attribute Primitive=1, called in place; its parameters
// p0, p1, ... are what the group reads, in order of first use. Constants of rank 0 stay inside,
// others become parameters. A group of reshapes alone has relay.reshape_only=1. Primitive functions
// that exist are left alone. Requires checked types and keeps them.
//
//   Module fused = FuseOps(InferType(module));
#ifndef TENON_PASSES_FUSE_OPS_H_
#define TENON_PASSES_FUSE_OPS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

struct FuseOptions {
  bool group = true;    // false: every call is a group of its own
  int max_depth = 256;  // calls in a group
};

ir::Module FuseOps(const ir::Module& module, const FuseOptions& options = {});

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSE_OPS_H_
