// Blocks that were used last are taken first, since they are in the caches. One that is too small
// makes room for a larger one, with some to spare, so that sizes that grow step by step do not ask
// the operating system for fresh pages each time.
#include "tenon/runtime/working_memory.h"

#include <utility>

namespace tenon::runtime {

NDArray WorkingMemory::Take(std::size_t bytes) {
  NDArray block;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!idle_.empty()) {
      block = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (block.defined() && block.bytes() >= bytes) return block;
  const std::size_t size = block.defined() ? bytes + bytes / 2 : bytes;
  block = {};
  return NDArray::Empty({static_cast<std::int64_t>(size)}, UInt8);
}

void WorkingMemory::Give(NDArray array) {
  const std::lock_guard<std::mutex> lock(mutex_);
  idle_.push_back(std::move(array));
}

}  // namespace tenon::runtime
