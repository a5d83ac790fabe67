#include "tenon/jit/parallel_runtime.h"

#include <algorithm>
#include <cstdlib>
#include <vector>

#include <omp.h>
#include <xmmintrin.h>

#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"

namespace tenon::jit {
namespace {

constexpr unsigned kFlushToZero = 0x8000;
constexpr unsigned kDenormalsAreZero = 0x0040;

// Blocks given back on this thread. A block carries its size in a header of one alignment unit.
constexpr std::size_t kKeptBlocks = 8;

struct BlockCache {
  std::vector<void*> blocks;
  ~BlockCache() {
    for (void* block : blocks) std::free(block);
  }
};
thread_local BlockCache cache;

std::size_t& BlockBytes(void* block) { return *static_cast<std::size_t*>(block); }

}  // namespace

void* TakeMemory(std::int64_t bytes) {
  const std::size_t wanted =
      RoundUp(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)), kAlignment);
  for (auto it = cache.blocks.begin(); it != cache.blocks.end(); ++it) {
    if (BlockBytes(*it) < wanted || BlockBytes(*it) > 2 * wanted) continue;
    void* block = *it;
    cache.blocks.erase(it);
    return static_cast<char*>(block) + kAlignment;
  }
  void* block = std::aligned_alloc(kAlignment, wanted + kAlignment);
  if (block == nullptr) return nullptr;
  BlockBytes(block) = wanted;
  return static_cast<char*>(block) + kAlignment;
}

void GiveMemory(void* memory) {
  void* block = static_cast<char*>(memory) - kAlignment;
  if (cache.blocks.size() == kKeptBlocks) {
    std::free(cache.blocks.front());
    cache.blocks.erase(cache.blocks.begin());
  }
  cache.blocks.push_back(block);
}

ScopedFlushDenormals::ScopedFlushDenormals() : previous_(_mm_getcsr()) {
  _mm_setcsr(previous_ | kFlushToZero | kDenormalsAreZero);
}

ScopedFlushDenormals::~ScopedFlushDenormals() { _mm_setcsr(previous_); }

ScopedThreads::ScopedThreads(int threads) {
  if (threads <= 0 || threads == omp_get_max_threads()) return;
  previous_ = omp_get_max_threads();
  omp_set_num_threads(threads);
}

ScopedThreads::~ScopedThreads() {
  if (previous_ > 0) omp_set_num_threads(previous_);
}

void ParallelFor(ParallelBody body, void* closure, std::int64_t extent) {
  if (extent <= 0) return;
  const int threads = static_cast<int>(std::min<std::int64_t>(extent, omp_get_max_threads()));
  if (threads == 1 || omp_in_parallel()) {
    body(closure, 0, extent);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const ScopedFlushDenormals flush;
    // Chunk t is [t * extent / count, (t + 1) * extent / count): sizes differ by one at most.
    const std::int64_t count = omp_get_num_threads();
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t share = extent / count;
    const std::int64_t longer = extent % count;
    const std::int64_t begin = thread * share + std::min(thread, longer);
    body(closure, begin, begin + share + (thread < longer ? 1 : 0));
  }
}

}  // namespace tenon::jit
