#include "tenon/benchmarks/vector_math_loops.h"

#include "tenon/benchmarks/vector_loops.h"

namespace tenon::benchmarks {

void MapArray(VectorFunction f, float* dst, const float* src, std::int64_t n, int threads) {
  const VectorLoops& loops = LoopsOfThisCpu();
  if (threads == 1) return loops.map(f, dst, src, n);
  constexpr std::int64_t kBlock = 4096;  // floats that a thread takes at a time
  const std::int64_t blocks = (n + kBlock - 1) / kBlock;
#pragma omp parallel for num_threads(threads) schedule(static)
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t begin = block * kBlock;
    loops.map(f, dst + begin, src + begin, n - begin < kBlock ? n - begin : kBlock);
  }
}

}  // namespace tenon::benchmarks
