#include "tenon/benchmarks/baselines.h"

#include <algorithm>
#include <cstring>

// GCC 12 warns about its own _mm512_reduce_add_ps.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#include <omp.h>

// The vector code sits in functions of its own, not in the parallel regions: a compiler need not
// carry a target attribute over to the function it outlines from a region.
#define TENON_AVX512 __attribute__((target("avx512f"), noinline))

namespace tenon::benchmarks {
namespace {

constexpr int64_t kLanes = 16;  // floats in a 512-bit register

// The first `count` (0 to 15) lanes.
__mmask16 FirstLanes(int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }

struct Range {
  int64_t begin;
  int64_t size;
};

// The calling thread's share of n floats; shares begin at whole vectors and the last has the tail.
Range MyShare(int64_t n) {
  const int64_t team = omp_get_num_threads();
  const int64_t me = omp_get_thread_num();
  const int64_t vectors = n / kLanes;
  const int64_t begin = vectors * me / team * kLanes;
  const int64_t end = me + 1 == team ? n : vectors * (me + 1) / team * kLanes;
  return {begin, end - begin};
}

TENON_AVX512 void AddRange(const float* a, const float* b, float* c, int64_t n) {
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const __m512 s0 = _mm512_add_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i));
    const __m512 s1 = _mm512_add_ps(_mm512_loadu_ps(a + i + 16), _mm512_loadu_ps(b + i + 16));
    const __m512 s2 = _mm512_add_ps(_mm512_loadu_ps(a + i + 32), _mm512_loadu_ps(b + i + 32));
    const __m512 s3 = _mm512_add_ps(_mm512_loadu_ps(a + i + 48), _mm512_loadu_ps(b + i + 48));
    _mm512_storeu_ps(c + i, s0);
    _mm512_storeu_ps(c + i + 16, s1);
    _mm512_storeu_ps(c + i + 32, s2);
    _mm512_storeu_ps(c + i + 48, s3);
  }
  for (; i + kLanes <= n; i += kLanes) {
    _mm512_storeu_ps(c + i, _mm512_add_ps(_mm512_loadu_ps(a + i), _mm512_loadu_ps(b + i)));
  }
  if (i < n) {
    const __mmask16 tail = FirstLanes(n - i);
    const __m512 sum =
        _mm512_add_ps(_mm512_maskz_loadu_ps(tail, a + i), _mm512_maskz_loadu_ps(tail, b + i));
    _mm512_mask_storeu_ps(c + i, tail, sum);
  }
}

// Eight accumulators cover an add latency of 4 at two loads a cycle.
TENON_AVX512 float SumRange(const float* x, int64_t n) {
  __m512 s0 = _mm512_setzero_ps(), s1 = s0, s2 = s0, s3 = s0, s4 = s0, s5 = s0, s6 = s0, s7 = s0;
  int64_t i = 0;
  for (; i + 8 * kLanes <= n; i += 8 * kLanes) {
    s0 = _mm512_add_ps(s0, _mm512_loadu_ps(x + i));
    s1 = _mm512_add_ps(s1, _mm512_loadu_ps(x + i + 16));
    s2 = _mm512_add_ps(s2, _mm512_loadu_ps(x + i + 32));
    s3 = _mm512_add_ps(s3, _mm512_loadu_ps(x + i + 48));
    s4 = _mm512_add_ps(s4, _mm512_loadu_ps(x + i + 64));
    s5 = _mm512_add_ps(s5, _mm512_loadu_ps(x + i + 80));
    s6 = _mm512_add_ps(s6, _mm512_loadu_ps(x + i + 96));
    s7 = _mm512_add_ps(s7, _mm512_loadu_ps(x + i + 112));
  }
  for (; i + kLanes <= n; i += kLanes) s0 = _mm512_add_ps(s0, _mm512_loadu_ps(x + i));
  if (i < n) s1 = _mm512_add_ps(s1, _mm512_maskz_loadu_ps(FirstLanes(n - i), x + i));
  const __m512 low = _mm512_add_ps(_mm512_add_ps(s0, s1), _mm512_add_ps(s2, s3));
  const __m512 high = _mm512_add_ps(_mm512_add_ps(s4, s5), _mm512_add_ps(s6, s7));
  return _mm512_reduce_add_ps(_mm512_add_ps(low, high));
}

TENON_AVX512 void CopyRange(float* dst, const float* src, int64_t n) {
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    const __m512 v0 = _mm512_loadu_ps(src + i);
    const __m512 v1 = _mm512_loadu_ps(src + i + 16);
    const __m512 v2 = _mm512_loadu_ps(src + i + 32);
    const __m512 v3 = _mm512_loadu_ps(src + i + 48);
    _mm512_storeu_ps(dst + i, v0);
    _mm512_storeu_ps(dst + i + 16, v1);
    _mm512_storeu_ps(dst + i + 32, v2);
    _mm512_storeu_ps(dst + i + 48, v3);
  }
  for (; i + kLanes <= n; i += kLanes) _mm512_storeu_ps(dst + i, _mm512_loadu_ps(src + i));
  if (i < n) {
    const __mmask16 tail = FirstLanes(n - i);
    _mm512_mask_storeu_ps(dst + i, tail, _mm512_maskz_loadu_ps(tail, src + i));
  }
}

constexpr int64_t kFmaChains = 12;  // at least latency 4 times two units
constexpr double kFlopsPerStep = 2.0 * kLanes * kFmaChains;

// `steps` steps of kFmaChains independent chains x = x * m + d. With m = d = 0.5 every chain
// tends to 1, far from denormals and infinities.
TENON_AVX512 void FmaBlock(float multiplier, float addend, int64_t steps) {
  const __m512 m = _mm512_set1_ps(multiplier);
  const __m512 d = _mm512_set1_ps(addend);
  __m512 x0 = _mm512_set1_ps(0.0f), x1 = _mm512_set1_ps(0.1f), x2 = _mm512_set1_ps(0.2f);
  __m512 x3 = _mm512_set1_ps(0.3f), x4 = _mm512_set1_ps(0.4f), x5 = _mm512_set1_ps(0.5f);
  __m512 x6 = _mm512_set1_ps(0.6f), x7 = _mm512_set1_ps(0.7f), x8 = _mm512_set1_ps(0.8f);
  __m512 x9 = _mm512_set1_ps(0.9f), x10 = _mm512_set1_ps(1.1f), x11 = _mm512_set1_ps(1.2f);
  for (int64_t i = 0; i < steps; ++i) {
    x0 = _mm512_fmadd_ps(x0, m, d);
    x1 = _mm512_fmadd_ps(x1, m, d);
    x2 = _mm512_fmadd_ps(x2, m, d);
    x3 = _mm512_fmadd_ps(x3, m, d);
    x4 = _mm512_fmadd_ps(x4, m, d);
    x5 = _mm512_fmadd_ps(x5, m, d);
    x6 = _mm512_fmadd_ps(x6, m, d);
    x7 = _mm512_fmadd_ps(x7, m, d);
    x8 = _mm512_fmadd_ps(x8, m, d);
    x9 = _mm512_fmadd_ps(x9, m, d);
    x10 = _mm512_fmadd_ps(x10, m, d);
    x11 = _mm512_fmadd_ps(x11, m, d);
  }
  const __m512 a = _mm512_add_ps(_mm512_add_ps(x0, x1), _mm512_add_ps(x2, x3));
  const __m512 b = _mm512_add_ps(_mm512_add_ps(x4, x5), _mm512_add_ps(x6, x7));
  const __m512 c = _mm512_add_ps(_mm512_add_ps(x8, x9), _mm512_add_ps(x10, x11));
  const __m512 sum = _mm512_add_ps(_mm512_add_ps(a, b), c);
  // Uses the result, and keeps the compiler from taking this for a pure function and dropping or
  // merging calls.
  asm volatile("" : : "v"(sum) : "memory");
}

}  // namespace

// One thread does not go through OpenMP: entering a region costs more than a small array.
void AddArrays(const float* a, const float* b, float* c, int64_t n, int threads) {
  if (threads == 1) return AddRange(a, b, c, n);
#pragma omp parallel num_threads(threads)
  {
    const Range share = MyShare(n);
    AddRange(a + share.begin, b + share.begin, c + share.begin, share.size);
  }
}

void RowSum(const float* x, float* y, int64_t rows, int64_t cols, int threads) {
  if (threads == 1) {
    for (int64_t r = 0; r < rows; ++r) y[r] = SumRange(x + r * cols, cols);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < rows; ++r) y[r] = SumRange(x + r * cols, cols);
}

void CopyArray(float* dst, const float* src, int64_t n, int threads) {
  if (threads == 1) return CopyRange(dst, src, n);
#pragma omp parallel num_threads(threads)
  {
    const Range share = MyShare(n);
    CopyRange(dst + share.begin, src + share.begin, share.size);
  }
}

void CopyBytes(void* dst, const void* src, int64_t bytes, int threads) {
  if (threads == 1) {
    std::memcpy(dst, src, static_cast<size_t>(bytes));
    return;
  }
  // Whole pages a thread, so that no two write to one line.
  constexpr int64_t kPage = 4096;
  const int64_t share = (bytes / threads + kPage - 1) / kPage * kPage;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread) {
    const int64_t begin = std::min(bytes, thread * share);
    const int64_t size = std::min(share, bytes - begin);
    std::memcpy(static_cast<char*>(dst) + begin, static_cast<const char*>(src) + begin,
                static_cast<size_t>(size));
  }
}

void MultiplyAdds(double flops, int threads) {
  const auto steps = static_cast<int64_t>(flops / kFlopsPerStep / threads);
  if (threads == 1) return FmaBlock(0.5f, 0.5f, steps);
#pragma omp parallel num_threads(threads)
  FmaBlock(0.5f, 0.5f, steps);
}

}  // namespace tenon::benchmarks
