// Lowered loop functions to C99 functions. Only files inside jit/ include this header.
//
// Parallel loops become OpenMP loops, which run one after the other when the C compiler is not
// asked for OpenMP: the results are the same. Vectors become loops over their lanes, which C
// compilers vectorise again. Requires a verified function (loop/verify.h).
#ifndef TENON_JIT_C_C_FUNCTION_CODEGEN_H_
#define TENON_JIT_C_C_FUNCTION_CODEGEN_H_

#include <string>
#include <vector>

#include "tenon/jit/c/c_expr_codegen.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

struct CParameter {
  std::string type;  // "const float*", "int64_t"
  std::string name;
};

struct CFunctionText {
  std::vector<CParameter> parameters;  // buffers, then extents
  std::string body;                    // indented, with the return
};

CFunctionText GenerateC(const loop::Function& function, CHelpers& helpers, CPrototypes& externs);

// The parameters alone, as GenerateC names them.
std::vector<CParameter> CParameters(const loop::Function& function);

}  // namespace tenon::jit

#endif  // TENON_JIT_C_C_FUNCTION_CODEGEN_H_
