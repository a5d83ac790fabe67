// Source of the names: "Vector Function Application Binary Interface", Intel, 2015.
#include "tenon/benchmarks/vector_math_loops.h"

#include <immintrin.h>

#define TENON_AVX512 __attribute__((target("avx512f")))

extern "C" {
TENON_AVX512 __m512 _ZGVeN16v_expf(__m512 x);
TENON_AVX512 __m512 _ZGVeN16v_tanhf(__m512 x);
TENON_AVX512 __m512 _ZGVeN16v_erff(__m512 x);
}

namespace tenon::benchmarks {
namespace {

constexpr std::int64_t kLanes = 16;
// Floats that a thread takes at a time.
constexpr std::int64_t kBlock = 4096;

TENON_AVX512 inline __m512 OnePlusExpOfMinus(__m512 x) {
  const __m512 minus = _mm512_sub_ps(_mm512_setzero_ps(), x);
  return _mm512_add_ps(_mm512_set1_ps(1.0F), _ZGVeN16v_expf(minus));
}

template <VectorFunction F>
TENON_AVX512 inline __m512 Apply(__m512 x) {
  if constexpr (F == VectorFunction::kExp) return _ZGVeN16v_expf(x);
  if constexpr (F == VectorFunction::kTanh) return _ZGVeN16v_tanhf(x);
  if constexpr (F == VectorFunction::kErf) return _ZGVeN16v_erff(x);
  if constexpr (F == VectorFunction::kSigmoid)
    return _mm512_div_ps(_mm512_set1_ps(1.0F), OnePlusExpOfMinus(x));
  if constexpr (F == VectorFunction::kSwish) return _mm512_div_ps(x, OnePlusExpOfMinus(x));
  if constexpr (F == VectorFunction::kGelu) {
    const __m512 erf = _ZGVeN16v_erff(_mm512_mul_ps(x, _mm512_set1_ps(0.70710678F)));
    const __m512 half = _mm512_mul_ps(x, _mm512_set1_ps(0.5F));
    return _mm512_fmadd_ps(half, erf, half);
  }
}

template <VectorFunction F>
TENON_AVX512 __attribute__((noinline)) void MapRange(float* dst, const float* src, std::int64_t n) {
  for (std::int64_t i = 0; i + kLanes <= n; i += kLanes)
    _mm512_storeu_ps(dst + i, Apply<F>(_mm512_loadu_ps(src + i)));
}

template <VectorFunction F>
void Map(float* dst, const float* src, std::int64_t n, int threads) {
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t begin = block * kBlock;
    MapRange<F>(dst + begin, src + begin, n - begin < kBlock ? n - begin : kBlock);
  }
}

}  // namespace

void MapArray(VectorFunction f, float* dst, const float* src, std::int64_t n, int threads) {
  switch (f) {
    case VectorFunction::kExp:
      return Map<VectorFunction::kExp>(dst, src, n, threads);
    case VectorFunction::kTanh:
      return Map<VectorFunction::kTanh>(dst, src, n, threads);
    case VectorFunction::kErf:
      return Map<VectorFunction::kErf>(dst, src, n, threads);
    case VectorFunction::kSigmoid:
      return Map<VectorFunction::kSigmoid>(dst, src, n, threads);
    case VectorFunction::kGelu:
      return Map<VectorFunction::kGelu>(dst, src, n, threads);
    case VectorFunction::kSwish:
      return Map<VectorFunction::kSwish>(dst, src, n, threads);
  }
}

}  // namespace tenon::benchmarks
