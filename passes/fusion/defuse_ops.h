// DefuseOps: puts the bodies of primitive functions back where they are called; the inverse of
// FuseOps.
//
// Parameters are told apart by identity, so equal names do not matter. Requires checked types and
// leaves them.
#ifndef TENON_PASSES_FUSION_DEFUSE_OPS_H_
#define TENON_PASSES_FUSION_DEFUSE_OPS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module DefuseOps(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_FUSION_DEFUSE_OPS_H_
