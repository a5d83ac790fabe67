// Registration of operators whose first argument is the data.
//
//   DataOp(registry, "tile", "copies side by side", 3, OpPattern::kBroadcast).Attrs<TileAttrs>();
#ifndef TENON_OPS_DATA_OP_H_
#define TENON_OPS_DATA_OP_H_

#include <source_location>

#include "tenon/ops/registry.h"

namespace tenon::ops {

// Throws AlreadyExists for a name that is taken.
OpBuilder DataOp(OpRegistry& registry, const char* name, const char* help, int level,
                 OpPattern pattern, std::source_location where = std::source_location::current());

}  // namespace tenon::ops

#endif  // TENON_OPS_DATA_OP_H_
