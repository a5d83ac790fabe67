// What a module needs of its variables before passes change it: they may drop the operators that
// ask for it.
//
//   const ExtentNeeds needs = NeedsOf(module);     // add(x: (5), zeros_like(y: (n)))
//   RequireNeeds(needs, {{"n", 7}});               // throws: 5 and n are broadcast together
#ifndef TENON_COMPILER_SYMBOLIC_EXTENT_NEEDS_H_
#define TENON_COMPILER_SYMBOLIC_EXTENT_NEEDS_H_

#include <utility>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/extent_condition.h"

namespace tenon::compiler {

struct ExtentNeeds {
  std::vector<ExtentCondition> conditions;
  std::vector<std::pair<Dim, Dim>> broadcast;  // equal, or one of both is 1
};

ExtentNeeds NeedsOf(const ir::Module& module);
// Throws InvalidArgument where the values break one.
void RequireNeeds(const ExtentNeeds& needs, const Dim::Values& values);
// Of the other variables.
ExtentNeeds WithValues(const ExtentNeeds& needs, const Dim::Values& values);
// For kernels of all values, which read extents that are broadcast together as one.
std::vector<ExtentCondition> StrictConditions(const ExtentNeeds& needs);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_EXTENT_NEEDS_H_
