// A module with variables in place of some extents of its inputs: what a compile for all shapes is
// checked with.
#ifndef TENON_VERIFY_SYMBOLIC_MODULE_H_
#define TENON_VERIFY_SYMBOLIC_MODULE_H_

#include <cstdint>
#include <optional>

#include "tenon/ir/module.h"

namespace tenon::verify {

// Equal extents of at least 2 become one variable, or stay, as the seed says. Nothing where none
// does, or where types do not follow from such variables.
std::optional<ir::Module> WithSymbols(const ir::Module& module, std::uint64_t seed);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_SYMBOLIC_MODULE_H_
