// Which library function computes a mathematical intrinsic at a given vector width. Only files
// inside jit/ include this header.
//
// exp of floats is not a call at all, nor are erf, tanh and log on AVX-512
// (jit/llvm/inline_math.h). libmvec (glibc) has every function below at 4, 8 and 16 floats and at
// 2, 4 and 8 doubles; its results are within 4 ULP of the exact ones, and NaN, infinities and
// overflow follow the scalar functions of libm.
#ifndef TENON_JIT_LLVM_VECTOR_MATH_H_
#define TENON_JIT_LLVM_VECTOR_MATH_H_

#include <optional>
#include <string>
#include <string_view>

#include "tenon/loop/expr.h"

namespace tenon::jit {

// The C name of the double function ("exp"; the float one adds "f") that libmvec has for
// `intrinsic`; nothing where LLVM or plain arithmetic does better.
std::optional<std::string_view> LibmName(loop::Intrinsic intrinsic);

// "_ZGVeN16v_expf" for exp of 16 floats: the x86 vector function ABI's name.
std::string LibmvecName(std::string_view libm_name, DataType element, int lanes, int arguments);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_VECTOR_MATH_H_
