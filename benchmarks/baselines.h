// Hand-written loops of vectors that generated kernels are measured against.
//
// All of them need a CPU with AVX-512F, or AVX2 and FMA, `threads` >= 1 and sizes >= 0. Sizes count
// floats, and any size and any float alignment will do; 64-byte aligned arrays are fastest. Stores
// go through the cache (no streaming stores) unless a comment says that they do not. Work is split
// statically over an OpenMP team of `threads`, so warm the team up with one call before timing.
#ifndef TENON_BENCHMARKS_BASELINES_H_
#define TENON_BENCHMARKS_BASELINES_H_

#include <cstdint>

namespace tenon::benchmarks {

// c[i] = a[i] + b[i]; moves 12 * n bytes, not counting reads for ownership of `c`. `c` may be `a`
// or `b`, but must not overlap them in any other way.
void AddArrays(const float* a, const float* b, float* c, int64_t n, int threads);

// y[r] = the sum of row r of the row-major rows x cols array `x`. Only rows are split over threads,
// so fewer rows than threads leave threads idle. `y` must not overlap `x`.
void RowSum(const float* x, float* y, int64_t rows, int64_t cols, int threads);

// dst[i] = src[i]; moves 8 * n bytes, not counting reads for ownership. No overlap.
void CopyArray(float* dst, const float* src, int64_t n, int threads);

// std::memcpy, split over the threads. It may use streaming stores for large sizes.
void CopyBytes(void* dst, const void* src, int64_t bytes, int threads);

// Does `flops` float32 operations, a multiply-add counting as two, as independent FMAs in
// registers: the time that arithmetic alone must take.
void MultiplyAdds(double flops, int threads);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_BASELINES_H_
