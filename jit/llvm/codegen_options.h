// What code generation knows of the target and of the user's wishes. Only files inside jit/ include
// this header.
#ifndef TENON_JIT_LLVM_CODEGEN_OPTIONS_H_
#define TENON_JIT_LLVM_CODEGEN_OPTIONS_H_

namespace tenon::jit {

struct CodegenOptions {
  int vector_bits = 512;
  bool native_bfloat16 = false;  // the CPU converts float32 to bfloat16
  bool reassociate_reductions = true;
  bool math_by_table = false;  // the widest registers hold tables to look up in (AVX512-DQ)
  // Dot products within lanes: of bytes (AVX512-VNNI) and of bfloat16 (AVX512-BF16), both on the
  // widest registers; and whether they are there on narrower ones too (AVX512-VL).
  bool byte_dots = false;
  bool bfloat_dots = false;
  bool narrow_dots = false;
  bool word_dots = false;     // of 16-bit words on 256-bit registers (AVX2)
  bool check_bounds = false;  // jit/bounds/bounds_checks.h
  bool runs_once = false;     // few passes, quick instruction selection
  // Results do not depend on the width of vectors: a product is fused with a sum where the
  // expression says so, and mathematical functions are those of one width.
  bool reproducible = false;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_CODEGEN_OPTIONS_H_
