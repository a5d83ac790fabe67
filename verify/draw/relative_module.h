// A module that differs from another in one place: what must not share the other's compiled code.
//
//   std::optional<ir::Module> other = RelativeOf(module, random);
//   // exp instead of tanh, keepdims=False, a constant times two
#ifndef TENON_VERIFY_DRAW_RELATIVE_MODULE_H_
#define TENON_VERIFY_DRAW_RELATIVE_MODULE_H_

#include <optional>

#include "tenon/ir/module.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// In @main of the module, whose types are inferred, one attribute, one elementwise operator or one
// floating constant is another. Its parameters and results have the same types. Nothing where no
// such change is found in a few tries.
std::optional<ir::Module> RelativeOf(const ir::Module& module, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RELATIVE_MODULE_H_
