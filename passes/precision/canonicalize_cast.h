// CanonicalizeCast: gives each elementwise reader of a widening cast its own cast.
//
// A cast to a type with more bits that has several readers of pattern elementwise or broadcast is
// repeated for each of them, so that every fused kernel reads the narrow tensor. Other readers keep
// sharing one cast. Requires checked types and keeps them.
#ifndef TENON_PASSES_PRECISION_CANONICALIZE_CAST_H_
#define TENON_PASSES_PRECISION_CANONICALIZE_CAST_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

ir::Module CanonicalizeCast(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PRECISION_CANONICALIZE_CAST_H_
