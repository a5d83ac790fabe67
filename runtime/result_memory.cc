#include "tenon/runtime/result_memory.h"

#include <utility>

namespace tenon::runtime {

NDArray ResultMemory::Take(std::size_t place, std::size_t bytes) {
  NDArray block;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (place >= idle_.size()) idle_.resize(place + 1);
    block = std::exchange(idle_[place], NDArray());
  }
  const bool fits = block.defined() && block.bytes() >= bytes && block.bytes() / 2 <= bytes;
  if (!fits) block = NDArray::Empty({static_cast<std::int64_t>(bytes)}, UInt8);
  // A weak reference: results do not keep idle memory alive.
  auto give_back = [weak = weak_from_this(), place, block](const void*) mutable {
    if (const auto memory = weak.lock()) memory->GiveBack(place, std::move(block));
  };
  std::shared_ptr<const void> owner(block.raw(), std::move(give_back));
  return NDArray::View(block.shape(), UInt8, block.raw(), std::move(owner));
}

void ResultMemory::GiveBack(std::size_t place, NDArray block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!idle_[place].defined()) idle_[place] = std::move(block);
}

}  // namespace tenon::runtime
