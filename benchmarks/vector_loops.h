// Loops of vectors that generated kernels are measured against, on one thread.
//
// vector_loops.cc is compiled once for each set of instructions below.
//
//   LoopsOfThisCpu().add(a, b, c, n);
#ifndef TENON_BENCHMARKS_VECTOR_LOOPS_H_
#define TENON_BENCHMARKS_VECTOR_LOOPS_H_

#include <cstdint>

#include "tenon/benchmarks/vector_math_loops.h"

namespace tenon::benchmarks {

// Sizes count floats. What the functions do stands in baselines.h and vector_math_loops.h.
struct VectorLoops {
  void (*add)(const float* a, const float* b, float* c, std::int64_t n);
  float (*sum)(const float* x, std::int64_t n);
  void (*copy)(float* dst, const float* src, std::int64_t n);
  // `steps` steps of independent chains x = x * multiplier + addend.
  void (*multiply_add)(float multiplier, float addend, std::int64_t steps);
  void (*map)(VectorFunction f, float* dst, const float* src, std::int64_t n);
  double flops_per_step;  // of multiply_add
};

extern const VectorLoops kAvx512Loops;  // AVX-512F
extern const VectorLoops kAvx2Loops;    // AVX2 and FMA

// Ends the program, in words, on a CPU that has neither.
const VectorLoops& LoopsOfThisCpu();

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_VECTOR_LOOPS_H_
