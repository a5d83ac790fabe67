// Source of the names: "Vector Function Application Binary Interface", Intel, 2015.
#include "tenon/benchmarks/vector_math_loops.h"

#include <immintrin.h>

#define TENON_AVX512 __attribute__((target("avx512f")))

extern "C" {
TENON_AVX512 __m512 _ZGVeN16v_expf(__m512 x);
TENON_AVX512 __m512 _ZGVeN16v_tanhf(__m512 x);
TENON_AVX512 __m512 _ZGVeN16v_erff(__m512 x);
TENON_AVX512 __m512 _ZGVeN16v_logf(__m512 x);
}

namespace tenon::benchmarks {
namespace {

constexpr std::int64_t kLanes = 16;
constexpr std::int64_t kGroup = 8 * kLanes;
// Floats that a thread takes at a time.
constexpr std::int64_t kBlock = 4096;

constexpr bool NeedsOuter(VectorFunction f) {
  return f == VectorFunction::kSigmoid || f == VectorFunction::kGelu || f == VectorFunction::kSwish;
}

// The call at the heart of f, and what follows it.
template <VectorFunction F>
TENON_AVX512 inline __m512 Inner(__m512 x) {
  if constexpr (F == VectorFunction::kExp) return _ZGVeN16v_expf(x);
  if constexpr (F == VectorFunction::kTanh) return _ZGVeN16v_tanhf(x);
  if constexpr (F == VectorFunction::kErf) return _ZGVeN16v_erff(x);
  if constexpr (F == VectorFunction::kLog) return _ZGVeN16v_logf(x);
  if constexpr (F == VectorFunction::kGelu)
    return _ZGVeN16v_erff(_mm512_mul_ps(x, _mm512_set1_ps(0.70710678F)));
  if constexpr (F == VectorFunction::kSigmoid || F == VectorFunction::kSwish)
    return _ZGVeN16v_expf(_mm512_sub_ps(_mm512_setzero_ps(), x));
}

template <VectorFunction F>
TENON_AVX512 inline __m512 Outer(__m512 x, __m512 inner) {
  if constexpr (F == VectorFunction::kGelu) {
    const __m512 half = _mm512_mul_ps(x, _mm512_set1_ps(0.5F));
    return _mm512_fmadd_ps(half, inner, half);
  }
  const __m512 one = _mm512_set1_ps(1.0F);
  const __m512 numerator = F == VectorFunction::kSwish ? x : one;
  return _mm512_div_ps(numerator, _mm512_add_ps(one, inner));
}

// No register survives a call, so the calls of some vectors come first and the arithmetic on what
// they give follows. They leave it on the stack: a store to `dst` could look to the CPU like one to
// the `src` that is read next.
template <VectorFunction F>
TENON_AVX512 __attribute__((noinline)) void MapRange(float* dst, const float* src, std::int64_t n) {
  alignas(64) float inner[kGroup];
  for (std::int64_t group = 0; group < n; group += kGroup) {
    const std::int64_t size = group + kGroup < n ? kGroup : n - group;
    const float* x = src + group;
    float* y = NeedsOuter(F) ? inner : dst + group;
    for (std::int64_t i = 0; i < size; i += kLanes)
      _mm512_storeu_ps(y + i, Inner<F>(_mm512_loadu_ps(x + i)));
    if constexpr (NeedsOuter(F)) {
      for (std::int64_t i = 0; i < size; i += kLanes) {
        const __m512 result = Outer<F>(_mm512_loadu_ps(x + i), _mm512_load_ps(inner + i));
        _mm512_storeu_ps(dst + group + i, result);
      }
    }
  }
}

template <VectorFunction F>
void Map(float* dst, const float* src, std::int64_t n, int threads) {
  if (threads == 1) return MapRange<F>(dst, src, n);
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
    case VectorFunction::kLog:
      return Map<VectorFunction::kLog>(dst, src, n, threads);
    case VectorFunction::kSigmoid:
      return Map<VectorFunction::kSigmoid>(dst, src, n, threads);
    case VectorFunction::kGelu:
      return Map<VectorFunction::kGelu>(dst, src, n, threads);
    case VectorFunction::kSwish:
      return Map<VectorFunction::kSwish>(dst, src, n, threads);
  }
}

}  // namespace tenon::benchmarks
