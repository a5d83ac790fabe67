// FuseOps: groups operator calls that one kernel can compute.
//
// Each group becomes a function literal with the attribute Primitive=1, called in place. Its
// parameters p0, p1, ... are what the group reads, in order of first use. Constants of rank 0 stay
// inside, others become parameters. A group of only reshapes has relay.reshape_only=1. A group with
// several values that are read outside gives a tuple. Existing primitive functions are left alone.
// Requires checked types and keeps them.
//
//   Module fused = FuseOps(InferType(module), {.mode = FusionMode::kExtended});
#ifndef TENON_PASSES_FUSION_FUSE_OPS_H_
#define TENON_PASSES_FUSION_FUSE_OPS_H_

#include "tenon/ir/module.h"
#include "tenon/passes/fusion/fusion_report.h"

namespace tenon::passes {

enum class FusionMode {
  kRelay,     // along post-dominators by pattern, nothing after a reduction (fusion_groups.h)
  kExtended,  // and around reductions that share outer axes (fuse_extended.h)
};

struct FuseOptions {
  bool group = true;    // false: every call is a group of its own
  int max_depth = 256;  // calls in a group
  FusionMode mode = FusionMode::kRelay;
  // What a row of a reduction and all that is computed from it may fill: the second-level cache.
  std::int64_t row_bytes = 1 << 19;
  FusionReport* report = nullptr;  // gets why each edge was fused or not, when given
};

ir::Module FuseOps(const ir::Module& module, const FuseOptions& options = {});

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_FUSE_OPS_H_
