// Modules with one result or one call less, for reducing what is wrong.
//
//   for (const RandomModule& smaller : SmallerModules(module, &inputs_made)) ...
#ifndef TENON_VERIFY_CHECK_SMALLER_MODULES_H_
#define TENON_VERIFY_CHECK_SMALLER_MODULES_H_

#include <vector>

#include "tenon/verify/draw/random_module.h"

namespace tenon::verify {

// First, each has one result of several; then, the value of one call is an input. Parameters that
// nothing reads are left out. `*inputs_made` numbers the names of such inputs, through all
// reductions of a module.
std::vector<RandomModule> SmallerModules(const RandomModule& given, int* inputs_made);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_SMALLER_MODULES_H_
