// Vectors of TENON_LANES floats, 8 or 16, and the functions of glibc's libmvec on them.
// Source of their names: "Vector Function Application Binary Interface", Intel, 2015.
#ifndef TENON_BENCHMARKS_VECTOR_INSTRUCTIONS_H_
#define TENON_BENCHMARKS_VECTOR_INSTRUCTIONS_H_

#include <cstdint>

// GCC 12 warns about its own _mm512_reduce_add_ps.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

extern "C" {
#if TENON_LANES == 16
__m512 _ZGVeN16v_expf(__m512 x);
__m512 _ZGVeN16v_tanhf(__m512 x);
__m512 _ZGVeN16v_erff(__m512 x);
__m512 _ZGVeN16v_logf(__m512 x);
#else
__m256 _ZGVdN8v_expf(__m256 x);
__m256 _ZGVdN8v_tanhf(__m256 x);
__m256 _ZGVdN8v_erff(__m256 x);
__m256 _ZGVdN8v_logf(__m256 x);
#endif
}

namespace tenon::benchmarks {
namespace {

constexpr std::int64_t kLanes = TENON_LANES;

#if TENON_LANES == 16

using Vector = __m512;

// The first `count` (0 to 15) lanes.
inline __mmask16 FirstLanes(std::int64_t count) {
  return static_cast<__mmask16>((1U << count) - 1);
}

inline Vector Splat(float x) { return _mm512_set1_ps(x); }
inline Vector Load(const float* p) { return _mm512_loadu_ps(p); }
inline void Store(float* p, Vector x) { _mm512_storeu_ps(p, x); }
// Other lanes are 0, and are not stored.
inline Vector LoadFirst(const float* p, std::int64_t count) {
  return _mm512_maskz_loadu_ps(FirstLanes(count), p);
}
inline void StoreFirst(float* p, std::int64_t count, Vector x) {
  _mm512_mask_storeu_ps(p, FirstLanes(count), x);
}
inline Vector MultiplyAdd(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
inline float SumOfLanes(Vector x) { return _mm512_reduce_add_ps(x); }
inline Vector Exp(Vector x) { return _ZGVeN16v_expf(x); }
inline Vector Tanh(Vector x) { return _ZGVeN16v_tanhf(x); }
inline Vector Erf(Vector x) { return _ZGVeN16v_erff(x); }
inline Vector Log(Vector x) { return _ZGVeN16v_logf(x); }

#else

using Vector = __m256;

// The first `count` (0 to 7) lanes.
inline __m256i FirstLanes(std::int64_t count) {
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lanes);
}

inline Vector Splat(float x) { return _mm256_set1_ps(x); }
inline Vector Load(const float* p) { return _mm256_loadu_ps(p); }
inline void Store(float* p, Vector x) { _mm256_storeu_ps(p, x); }
// Other lanes are 0, and are not stored.
inline Vector LoadFirst(const float* p, std::int64_t count) {
  return _mm256_maskload_ps(p, FirstLanes(count));
}
inline void StoreFirst(float* p, std::int64_t count, Vector x) {
  _mm256_maskstore_ps(p, FirstLanes(count), x);
}
inline Vector MultiplyAdd(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
inline float SumOfLanes(Vector x) {
  __m128 sum = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  sum = _mm_add_ps(sum, _mm_movehl_ps(sum, sum));
  return _mm_cvtss_f32(_mm_add_ss(sum, _mm_movehdup_ps(sum)));
}
inline Vector Exp(Vector x) { return _ZGVdN8v_expf(x); }
inline Vector Tanh(Vector x) { return _ZGVdN8v_tanhf(x); }
inline Vector Erf(Vector x) { return _ZGVdN8v_erff(x); }
inline Vector Log(Vector x) { return _ZGVdN8v_logf(x); }

#endif

}  // namespace
}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_VECTOR_INSTRUCTIONS_H_
