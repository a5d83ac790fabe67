// A block of statements allocates its buffers one inside the other, so that all would exist until
// its end. Each is used from one of its statements to another one; buffers whose intervals do not
// meet share memory. Taken in the order in which they begin, each gets the smallest place that is
// free and large enough, or else the largest one that is free, which grows (linear scan: Poletto
// and Sarkar, "Linear Scan Register Allocation", TOPLAS 21, 1999).
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tenon/loop/block.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

// A buffer of at least so many bytes is too large for registers.
constexpr std::int64_t kMinBytes = 4096;

// Elements of a buffer that may share, or nothing.
std::optional<std::int64_t> SharedSize(const Buffer& buffer) {
  const std::optional<std::int64_t> elements = ConstantElements(buffer);
  const auto bytes = static_cast<std::int64_t>(buffer->dtype.bytes());
  if (elements && *elements < kMinBytes / bytes) return std::nullopt;
  return elements;
}

// The items between which a buffer is used, both included.
struct Interval {
  std::size_t first = std::numeric_limits<std::size_t>::max();
  std::size_t last = 0;
};

class Intervals {
 public:
  explicit Intervals(const std::vector<Item>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!items[i].stmt) continue;
      const auto note = [&](const Buffer* buffer) {
        if (buffer == nullptr) return;
        Interval& interval = intervals_[*buffer];
        interval.first = std::min(interval.first, i);
        interval.last = i;
      };
      VisitStmts(items[i].stmt, [&](const Stmt& s) { note(BufferOf(s)); });
      VisitExprs(items[i].stmt, [&](const Expr& e) { note(BufferOf(e)); });
    }
  }
  Interval Of(const Buffer& buffer) const {
    const auto found = intervals_.find(buffer);
    return found == intervals_.end() ? Interval{} : found->second;
  }

 private:
  std::unordered_map<Buffer, Interval, BufferHash> intervals_;
};

// Memory that several buffers have, one after the other.
struct Place {
  std::vector<Buffer> buffers;
  std::int64_t size;
  std::size_t last;  // use

  bool IsFreeFor(const Buffer& buffer, const Interval& interval) const {
    const Buffer& owner = buffers.front();
    return last < interval.first && owner->dtype == buffer->dtype &&
           owner->memory == buffer->memory;
  }
  bool SuitsBetterThan(const Place& other, std::int64_t wanted) const {
    const bool fits = size >= wanted, other_fits = other.size >= wanted;
    if (fits != other_fits) return fits;
    return fits ? size < other.size : size > other.size;
  }
};

std::vector<Place> PlacesOf(std::vector<Buffer> buffers, const Intervals& intervals) {
  std::stable_sort(buffers.begin(), buffers.end(), [&](const Buffer& a, const Buffer& b) {
    return intervals.Of(a).first < intervals.Of(b).first;
  });
  std::vector<Place> places;
  for (const Buffer& buffer : buffers) {
    const Interval interval = intervals.Of(buffer);
    const std::int64_t size = *SharedSize(buffer);
    Place* best = nullptr;
    for (Place& place : places) {
      if (place.IsFreeFor(buffer, interval) &&
          (best == nullptr || place.SuitsBetterThan(*best, size)))
        best = &place;
    }
    if (best == nullptr) {
      places.push_back({{buffer}, size, interval.last});
      continue;
    }
    best->buffers.push_back(buffer);
    best->size = std::max(best->size, size);
    best->last = interval.last;
  }
  return places;
}

// A loop may allocate a buffer of the block, too: its body was copied. That is memory of its own,
// which each iteration has, on whatever thread it runs.
class InnerMemory : public StmtMutator {
 public:
  explicit InnerMemory(const BufferMap& moved) : moved_(moved) {}

 protected:
  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt inside = MutateStmtChildren(stmt);
    const auto* allocate = inside.As<AllocateNode>();
    if (allocate == nullptr || !moved_.contains(allocate->buffer)) return inside;
    const Buffer& outer = allocate->buffer;
    const Buffer own = Buffer::Make(outer->name, outer->dtype, outer->shape, outer->memory);
    return Allocate(own, ReplaceBuffers(allocate->body, {{outer, own}}));
  }

 private:
  const BufferMap& moved_;
};

// Returns whether buffers of the block were joined.
bool ShareIn(std::vector<Item>& items) {
  std::vector<Buffer> buffers;
  for (const Item& item : items) {
    if (!item.stmt && SharedSize(item.buffer)) buffers.push_back(item.buffer);
  }
  if (buffers.size() < 2) return false;
  BufferMap moved, owners;
  for (const Place& place : PlacesOf(std::move(buffers), Intervals(items))) {
    if (place.buffers.size() < 2) continue;
    const Buffer& owner = place.buffers.front();
    const Buffer memory =
        place.size == *SharedSize(owner)
            ? owner
            : Buffer::Make(owner->name, owner->dtype, {Expr(place.size)}, owner->memory);
    owners[owner] = memory;
    for (const Buffer& buffer : place.buffers) moved[buffer] = memory;
  }
  if (moved.empty()) return false;
  std::vector<Item> kept;
  for (const Item& item : items) {
    if (item.stmt) {
      kept.push_back({ReplaceBuffers(InnerMemory(moved)(item.stmt), moved), {}});
    } else if (const auto owner = owners.find(item.buffer); owner != owners.end()) {
      kept.push_back({{}, owner->second});
    } else if (!moved.contains(item.buffer)) {
      kept.push_back(item);
    }
  }
  items = std::move(kept);
  return true;
}

class Sharer : public BlockMutator {
 protected:
  bool Change(std::vector<Item>& items) override { return ShareIn(items); }
};

}  // namespace

Stmt ShareMemory(const Stmt& stmt) { return Sharer()(stmt); }

}  // namespace tenon::loop
