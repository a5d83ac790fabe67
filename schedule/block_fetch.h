// Which block Schedule::PrefetchNextBlock fetches, and how near to the core.
//
//   s.PrefetchNextBlock(image, sums, column, 1, {.blocks = 4, .past_nearest = true});
#ifndef TENON_SCHEDULE_BLOCK_FETCH_H_
#define TENON_SCHEDULE_BLOCK_FETCH_H_

#include <cstdint>

namespace tenon::schedule {

struct BlockFetch {
  std::int64_t blocks = 1;    // the block that is so many later
  bool past_nearest = false;  // into the caches after the nearest one

  friend bool operator==(const BlockFetch&, const BlockFetch&) = default;
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_BLOCK_FETCH_H_
