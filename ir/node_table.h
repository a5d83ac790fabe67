// A table from nodes to values, for walks over large graphs: open addressing in one array, without
// counting references. Nodes must outlive it.
//
//   NodeTable<int> depth;
//   auto [value, added] = depth.TryEmplace(expr, 0);
#ifndef TENON_IR_NODE_TABLE_H_
#define TENON_IR_NODE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tenon/ir/expr.h"

namespace tenon::ir {

template <typename Value>
class NodeTable {
 public:
  // Returns the value of `e`, and whether it was added. The pointer is valid until the next
  // addition.
  std::pair<Value*, bool> TryEmplace(const Expr& e, Value value) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = slots_[Find(e.get())];
    const bool is_new = slot.node == nullptr;
    if (is_new) {
      slot = {e.get(), std::move(value)};
      ++count_;
    }
    return {&slot.value, is_new};
  }
  // Null when there is none.
  const Value* Get(const Expr& e) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[Find(e.get())];
    return slot.node == nullptr ? nullptr : &slot.value;
  }
  const Value& at(const Expr& e) const {
    const Value* value = Get(e);
    CheckInvariant(value != nullptr, "the node was visited");
    return *value;
  }

 private:
  struct Slot {
    const ExprNode* node = nullptr;
    Value value = {};
  };

  // The slot where the node is or belongs. Nodes made one after the other are neighbours in memory;
  // multiplying spreads them (Fibonacci hashing).
  std::size_t Find(const ExprNode* node) const {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15U;
    auto at =
        static_cast<std::size_t>((reinterpret_cast<std::uintptr_t>(node) * kGolden) >> shift_);
    while (slots_[at].node != nullptr && slots_[at].node != node) at = (at + 1) % slots_.size();
    return at;
  }
  void Grow() {
    std::vector<Slot> old = std::move(slots_);
    shift_ = old.empty() ? 64 - 4 : shift_ - 1;
    slots_ = std::vector<Slot>(std::size_t{1} << (64 - shift_));
    for (Slot& slot : old) {
      if (slot.node != nullptr) slots_[Find(slot.node)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t count_ = 0;
  int shift_ = 64;
};

}  // namespace tenon::ir

#endif  // TENON_IR_NODE_TABLE_H_
