// References as values: every read becomes the value that was last written.
//
//   let %r = ref(%x); let %_ = ref_write(%r, exp(%x)); ref_read(%r)     becomes     exp(%x)
//
// A function that takes references takes their values instead, and returns their last values after
// its result. An if returns the last values of what its branches write.
#ifndef TENON_PASSES_CONTROL_REFERENCES_TO_VALUES_H_
#define TENON_PASSES_CONTROL_REFERENCES_TO_VALUES_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

// A module without references comes back as it is. For any other, types are inferred before and
// after. Arguments are evaluated from left to right, and a let's value before its body. Throws
// Unimplemented if it is not known which reference is meant: one that a function returns, that a
// branch of an if gives, that is passed twice or in a tuple, or that @main takes.
ir::Module ReferencesToValues(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_CONTROL_REFERENCES_TO_VALUES_H_
