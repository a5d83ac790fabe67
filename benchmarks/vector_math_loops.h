// Hand-written loops over glibc's vector mathematics (libmvec), the floor of generated kernels that
// compute transcendental functions. They need glibc 2.35, and a CPU as baselines.h does.
#ifndef TENON_BENCHMARKS_VECTOR_MATH_LOOPS_H_
#define TENON_BENCHMARKS_VECTOR_MATH_LOOPS_H_

#include <cstdint>

namespace tenon::benchmarks {

enum class VectorFunction {
  kExp,
  kTanh,
  kErf,
  kLog,
  kSigmoid,  // 1 / (1 + exp(-x))
  kGelu,     // x * (1 + erf(x / sqrt(2))) / 2
  kSwish,    // x / (1 + exp(-x))
};

// dst[i] = f(src[i]) for i in [0, n); n is a multiple of 16. Split over `threads` of OpenMP's pool.
void MapArray(VectorFunction f, float* dst, const float* src, std::int64_t n, int threads);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_VECTOR_MATH_LOOPS_H_
