#include "tenon/benchmarks/baselines.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <omp.h>

#include "tenon/benchmarks/vector_loops.h"

namespace tenon::benchmarks {
namespace {

constexpr int64_t kLine = 16;  // floats

struct Range {
  int64_t begin;
  int64_t size;
};

// The calling thread's share of n floats; shares begin at whole lines and the last has the tail.
Range MyShare(int64_t n) {
  const int64_t team = omp_get_num_threads();
  const int64_t me = omp_get_thread_num();
  const int64_t lines = n / kLine;
  const int64_t begin = lines * me / team * kLine;
  const int64_t end = me + 1 == team ? n : lines * (me + 1) / team * kLine;
  return {begin, end - begin};
}

}  // namespace

const VectorLoops& LoopsOfThisCpu() {
  if (__builtin_cpu_supports("avx512f")) return kAvx512Loops;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return kAvx2Loops;
  std::fputs("The benchmarks' own loops need a CPU with AVX2 and FMA.\n", stderr);
  std::exit(1);
}

// One thread does not go through OpenMP: entering a region costs more than a small array.
void AddArrays(const float* a, const float* b, float* c, int64_t n, int threads) {
  const VectorLoops& loops = LoopsOfThisCpu();
  if (threads == 1) return loops.add(a, b, c, n);
#pragma omp parallel num_threads(threads)
  {
    const Range share = MyShare(n);
    loops.add(a + share.begin, b + share.begin, c + share.begin, share.size);
  }
}

void RowSum(const float* x, float* y, int64_t rows, int64_t cols, int threads) {
  const VectorLoops& loops = LoopsOfThisCpu();
  if (threads == 1) {
    for (int64_t r = 0; r < rows; ++r) y[r] = loops.sum(x + r * cols, cols);
    return;
  }
#pragma omp parallel for num_threads(threads) schedule(static)
  for (int64_t r = 0; r < rows; ++r) y[r] = loops.sum(x + r * cols, cols);
}

void CopyArray(float* dst, const float* src, int64_t n, int threads) {
  const VectorLoops& loops = LoopsOfThisCpu();
  if (threads == 1) return loops.copy(dst, src, n);
#pragma omp parallel num_threads(threads)
  {
    const Range share = MyShare(n);
    loops.copy(dst + share.begin, src + share.begin, share.size);
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
  const VectorLoops& loops = LoopsOfThisCpu();
  const auto steps = static_cast<int64_t>(flops / loops.flops_per_step / threads);
  if (threads == 1) return loops.multiply_add(0.5f, 0.5f, steps);
#pragma omp parallel num_threads(threads)
  loops.multiply_add(0.5f, 0.5f, steps);
}

}  // namespace tenon::benchmarks
