// A loop begins when all of its threads are back from the one before, and ends when the last of
// them does. The time that this takes is weighed against what threads save
// (jit/runtime/wait_balance.h).
#include "tenon/jit/runtime/parallel_runtime.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include <omp.h>
#include <xmmintrin.h>

#include "tenon/jit/runtime/timeline.h"
#include "tenon/jit/runtime/wait_balance.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"

namespace tenon::jit {
namespace {

constexpr unsigned kFlushToZero = 0x8000;
constexpr unsigned kDenormalsAreZero = 0x0040;

// Blocks given back on this thread, the last one at the end. What a model's kernels need in one run
// fits, so that the next run touches no fresh pages. A single block may be larger, but only up to a
// bound, since threads live long.
constexpr std::size_t kKeptBlocks = 64;
constexpr std::size_t kKeptBytes = std::size_t{64} << 20;
constexpr std::size_t kKeptBlockBytes = std::size_t{512} << 20;

// A block carries its size in a header of one alignment unit.
struct Block {
  void* start;
  std::size_t bytes;
};

struct BlockCache {
  std::vector<Block> blocks;
  std::size_t bytes = 0;

  // Takes the smallest block that holds `wanted` bytes, unless half of it would lie idle. A loop
  // takes the blocks again that it has just given back.
  void* Take(std::size_t wanted) {
    auto best = blocks.end();
    for (auto it = blocks.end(); it != blocks.begin();) {
      --it;
      if (it->bytes < wanted || it->bytes > 2 * wanted) continue;
      if (best == blocks.end() || it->bytes < best->bytes) best = it;
      if (best->bytes == wanted) break;
    }
    if (best == blocks.end()) return nullptr;
    void* start = best->start;
    bytes -= best->bytes;
    blocks.erase(best);
    return start;
  }

  void Give(const Block& block) {
    if (block.bytes > kKeptBlockBytes) return std::free(block.start);
    blocks.push_back(block);
    bytes += block.bytes;
    while (blocks.size() > kKeptBlocks || (bytes > kKeptBytes && blocks.size() > 1)) {
      std::free(blocks.front().start);
      bytes -= blocks.front().bytes;
      blocks.erase(blocks.begin());
    }
  }

  ~BlockCache() {
    for (const Block& block : blocks) std::free(block.start);
  }
};
thread_local BlockCache cache;

using Clock = WaitBalance::Clock;
// The balance of the loops that this thread starts.
thread_local WaitBalance balance;
thread_local bool is_alone = false;

struct Span {
  Clock::time_point start, end;
};

}  // namespace

void* TakeMemory(std::int64_t bytes) {
  const std::size_t wanted =
      RoundUp(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1)), kAlignment);
  void* start = cache.Take(wanted);
  if (start == nullptr) {
    start = std::aligned_alloc(kAlignment, wanted + kAlignment);
    if (start == nullptr) return nullptr;
    *static_cast<std::size_t*>(start) = wanted;
  }
  return static_cast<char*>(start) + kAlignment;
}

void GiveMemory(void* memory) {
  void* start = static_cast<char*>(memory) - kAlignment;
  cache.Give({start, *static_cast<std::size_t*>(start)});
}

ScopedFlushDenormals::ScopedFlushDenormals() : previous_(_mm_getcsr()) {
  _mm_setcsr(previous_ | kFlushToZero | kDenormalsAreZero);
}

ScopedFlushDenormals::~ScopedFlushDenormals() { _mm_setcsr(previous_); }

int ParallelThreads() { return omp_get_max_threads(); }

int TeamThreads() {
  if (omp_in_parallel() || omp_get_active_level() >= omp_get_max_active_levels()) return 1;
  return std::min(omp_get_max_threads(), omp_get_thread_limit());
}

ScopedThreads::ScopedThreads(int threads) {
  if (threads <= 0 || threads == omp_get_max_threads()) return;
  previous_ = omp_get_max_threads();
  omp_set_num_threads(threads);
}

ScopedThreads::~ScopedThreads() {
  if (previous_ > 0) omp_set_num_threads(previous_);
}

ScopedTeamsOfOne::ScopedTeamsOfOne() : levels_(omp_get_max_active_levels()) {
  omp_set_max_active_levels(0);
}
ScopedTeamsOfOne::~ScopedTeamsOfOne() { omp_set_max_active_levels(levels_); }

ScopedAlone::ScopedAlone() : was_alone_(std::exchange(is_alone, true)) {}
ScopedAlone::~ScopedAlone() { is_alone = was_alone_; }

ScopedTeam::ScopedTeam(int threads) : threads_(threads), is_dynamic_(omp_get_dynamic() != 0) {
  if (is_dynamic_) omp_set_dynamic(0);
}

ScopedTeam::~ScopedTeam() {
  if (is_dynamic_) omp_set_dynamic(1);
}

void ParallelFor(ParallelBody body, void* closure, std::int64_t extent) {
  if (extent <= 0) return;
  const int threads = static_cast<int>(std::min<std::int64_t>(extent, omp_get_max_threads()));
  if (threads == 1 || is_alone || omp_in_parallel()) {
    body(closure, 0, extent);
    return;
  }
  const Clock::time_point start = Clock::now();
  if (balance.WorksAlone(start)) {
    body(closure, 0, extent);
    return;
  }
  Timeline* const timeline = Timeline::Current();
  std::vector<Span> spans(timeline == nullptr ? 0 : static_cast<std::size_t>(threads));
  Clock::duration alone;  // as long as all shares would take if they were like this thread's
#pragma omp parallel num_threads(threads)
  {
    const ScopedFlushDenormals flush;
    // Chunk t is [t * extent / count, (t + 1) * extent / count): sizes differ by one at most.
    const std::int64_t count = omp_get_num_threads();
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t share = extent / count;
    const std::int64_t longer = extent % count;
    const std::int64_t begin = thread * share + std::min(thread, longer);
    const bool is_timed = thread == 0 || timeline != nullptr;
    const Clock::time_point own_start = is_timed ? Clock::now() : start;
    const std::int64_t iterations = share + (thread < longer ? 1 : 0);
    body(closure, begin, begin + iterations);
    const Clock::time_point own_end = is_timed ? Clock::now() : start;
    if (thread == 0) {
      const double shares = static_cast<double>(extent) / static_cast<double>(iterations);
      alone = std::chrono::duration_cast<Clock::duration>((own_end - own_start) * shares);
    }
    if (timeline != nullptr) spans[static_cast<std::size_t>(thread)] = {own_start, own_end};
  }
  const Clock::time_point end = Clock::now();
  balance.Note(end, alone, end - start);
  for (std::size_t thread = 0; thread < spans.size(); ++thread) {
    const Span& span = spans[thread];
    // A team may be smaller than was asked for.
    if (span.start != Clock::time_point())
      timeline->AddShare(static_cast<int>(thread), span.start, span.end);
  }
}

}  // namespace tenon::jit
