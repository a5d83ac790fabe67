#include "tenon/runtime/result_memory.h"

#include <utility>

namespace tenon::runtime {
namespace {

// Whether a block is too large to be held for so few bytes.
bool IsFarAbove(const NDArray& block, std::size_t bytes) { return block.bytes() / 2 > bytes; }

}  // namespace

NDArray ResultMemory::Take(std::size_t place, std::size_t bytes) {
  NDArray block;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (place >= idle_.size()) idle_.resize(place + 1);
    for (NDArray* kept : {&idle_[place].last, &idle_[place].larger}) {
      const bool fits = kept->defined() && kept->bytes() >= bytes && !IsFarAbove(*kept, bytes);
      if (fits && !block.defined()) block = std::exchange(*kept, NDArray());
    }
  }
  if (!block.defined()) block = NDArray::Empty({static_cast<std::int64_t>(bytes)}, UInt8);
  // A weak reference: results do not keep idle memory alive.
  auto give_back = [weak = weak_from_this(), place, block](const void*) mutable {
    if (const auto memory = weak.lock()) memory->GiveBack(place, std::move(block));
  };
  std::shared_ptr<const void> owner(block.raw(), std::move(give_back));
  return NDArray::View(block.shape(), UInt8, block.raw(), std::move(owner));
}

void ResultMemory::GiveBack(std::size_t place, NDArray block) {
  const std::lock_guard<std::mutex> lock(mutex_);
  auto& [last, larger] = idle_[place];
  if (!last.defined()) {
    last = std::move(block);
    return;
  }
  if (IsFarAbove(last, block.bytes())) std::swap(last, block);
  const bool is_largest = !larger.defined() || block.bytes() > larger.bytes();
  if (IsFarAbove(block, last.bytes()) && is_largest) larger = std::move(block);
}

}  // namespace tenon::runtime
