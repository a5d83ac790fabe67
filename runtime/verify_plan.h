// Whether a plan from outside can be run: that every node reads what is there before it.
#ifndef TENON_RUNTIME_VERIFY_PLAN_H_
#define TENON_RUNTIME_VERIFY_PLAN_H_

#include <cstddef>

#include "tenon/runtime/plan.h"

namespace tenon::runtime {

// Storage need not be assigned; AssignStorage takes a plan that passes. Throws DataLoss naming the
// node and the rule that it breaks.
void VerifyPlan(const Plan& plan, std::size_t num_kernels, std::size_t num_constants);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_VERIFY_PLAN_H_
