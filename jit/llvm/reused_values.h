// What was emitted before and need not be emitted again. Only files inside jit/ include this
// header.
//
// LLVM would find it, but each of its passes takes time for each instruction. A tile of sums reads
// each of its operands many times, by an address that takes ten instructions.
//
//   ReusedValues values;
//   values.Get({.kind = Kind::kAddress, .a = base, .b = index}, [&] { return ...; });
//   { const ReusedValues::Scope scope(values); ... }  // a branch, or the body of a loop
#ifndef TENON_JIT_LLVM_REUSED_VALUES_H_
#define TENON_JIT_LLVM_REUSED_VALUES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace llvm {
class Value;
}  // namespace llvm

namespace tenon::jit {

class ReusedValues {
 public:
  enum class Kind { kIntOperation, kAddress, kLoad, kSplat };
  struct Key {
    Kind kind;
    int detail = 0;  // which operation, or how many lanes
    const llvm::Value *a = nullptr, *b = nullptr;
    std::uint64_t time = 0;  // of a load: TimeOf the memory
    friend bool operator==(const Key&, const Key&) = default;
  };

  // The value that this gave in this scope or one around it, or else what `make` emits.
  template <typename Make>
  llvm::Value* Get(const Key& key, const Make& make) {
    if (const auto found = values_.find(key); found != values_.end()) return found->second;
    llvm::Value* value = make();
    if (values_.emplace(key, value).second) order_.push_back(key);
    return value;
  }

  // A store to `buffer`, and what may store anywhere.
  void Store(const void* buffer) { stored_[buffer] = ++clock_; }
  void ChangeMemory() { changed_ = ++clock_; }
  // When the buffer may have changed last. Loads of one time give the same.
  std::uint64_t TimeOf(const void* buffer) const {
    const auto stored = stored_.find(buffer);
    return stored == stored_.end() ? changed_ : std::max(changed_, stored->second);
  }

  // Code that need not run, or that runs many times: what is emitted in it is not there after it,
  // and memory may have changed before it and after.
  class Scope {
   public:
    explicit Scope(ReusedValues& values) : values_(values), begin_(values.order_.size()) {
      values_.ChangeMemory();
    }
    ~Scope() {
      values_.ChangeMemory();
      while (values_.order_.size() > begin_) {
        values_.values_.erase(values_.order_.back());
        values_.order_.pop_back();
      }
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ReusedValues& values_;
    const std::size_t begin_;
  };

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const {
      std::uint64_t hash =
          static_cast<std::uint64_t>(key.kind) + 8 * static_cast<std::uint64_t>(key.detail);
      for (const std::uint64_t part : {reinterpret_cast<std::uint64_t>(key.a),
                                       reinterpret_cast<std::uint64_t>(key.b), key.time})
        hash = (hash ^ part) * 0x9E3779B97F4A7C15 + (hash >> 29);
      return hash;
    }
  };
  std::unordered_map<Key, llvm::Value*, Hash> values_;
  std::vector<Key> order_;
  std::uint64_t clock_ = 0, changed_ = 0;
  std::unordered_map<const void*, std::uint64_t> stored_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_REUSED_VALUES_H_
