// Refuses a module that computes in floating point between qnn.dequantize and qnn.quantize. It is
// for those who want to know that FakeQuantizationToInteger left nothing.
#ifndef TENON_PASSES_QUANTIZE_REQUIRE_INTEGERS_H_
#define TENON_PASSES_QUANTIZE_REQUIRE_INTEGERS_H_

#include "tenon/ir/module.h"

namespace tenon::passes {

// Returns `module` itself. Throws Unimplemented, naming the first operator between the two and the
// function that it is in.
ir::Module RequireIntegers(const ir::Module& module);

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_REQUIRE_INTEGERS_H_
