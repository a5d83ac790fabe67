// Kernels of generated code: a fused function becomes tensor expressions and a schedule.
#ifndef TENON_STRATEGIES_LOWER_BUILD_FROM_TE_H_
#define TENON_STRATEGIES_LOWER_BUILD_FROM_TE_H_

#include "tenon/strategies/built.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/strategy.h"

namespace tenon::strategies {

// How the group is lowered, as far as its options and its constants say.
LowerFunctionOptions LoweringOf(const Group& group);

// The kernel of the group, by the form that `options` name. Refused where a compute says that it
// cannot be.
BuildResult BuildFromTe(const Group& group, const LowerFunctionOptions& options);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_LOWER_BUILD_FROM_TE_H_
