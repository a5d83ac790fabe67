// CanonicalizeCast: gives each elementwise reader of a widening cast a cast of its own.
//
// A cast to a type of more bits with several readers of pattern elementwise or broadcast is
// repeated, one for each of them, so that every fused kernel reads the narrow tensor. Other readers
// keep sharing one. Requires checked types and keeps them.
#ifndef TENON_PASSES_CANONICALIZE_CAST_H_
#define TENON_PASSES_CANONICALIZE_CAST_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module CanonicalizeCast(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_CANONICALIZE_CAST_H_
