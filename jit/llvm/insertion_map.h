// A map whose entries are in the order in which their keys came, so that what is generated from all
// of them is the same in every run, wherever the keys lie in memory. Erasing the youngest entry, as
// scopes do, takes constant time.
//
//   InsertionMap<loop::Buffer, llvm::Value*, loop::BufferHash> addresses;
//   addresses[buffer] = address;
//   for (const auto& [buffer, address] : addresses) ...
#ifndef TENON_JIT_LLVM_INSERTION_MAP_H_
#define TENON_JIT_LLVM_INSERTION_MAP_H_

#include <cstddef>
#include <functional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tenon::jit {

template <typename Key, typename Value, typename Hash = std::hash<Key>,
          typename Equal = std::equal_to<Key>>
class InsertionMap {
 public:
  using key_type = Key;
  using value_type = std::pair<Key, Value>;
  using const_iterator = typename std::vector<std::pair<Key, Value>>::const_iterator;

  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  const_iterator find(const Key& key) const {
    const auto found = places_.find(key);
    return found == places_.end() ? end() : begin() + static_cast<std::ptrdiff_t>(found->second);
  }
  std::size_t size() const { return entries_.size(); }
  bool contains(const Key& key) const { return places_.contains(key); }
  // Throws std::out_of_range.
  const Value& at(const Key& key) const { return entries_[places_.at(key)].second; }
  // The value of a new key is Value().
  Value& operator[](const Key& key) {
    const auto [found, is_new] = places_.emplace(key, entries_.size());
    if (is_new) entries_.emplace_back(key, Value());
    return entries_[found->second].second;
  }
  void erase(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    const std::size_t place = found->second;
    places_.erase(found);
    entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(place));
    for (std::size_t i = place; i < entries_.size(); ++i) places_.at(entries_[i].first) = i;
  }

 private:
  std::vector<std::pair<Key, Value>> entries_;
  std::unordered_map<Key, std::size_t, Hash, Equal> places_;
};

// Gives a variable or a buffer its value, a pointer, for as long as it is in scope. A value must
// not be used, nor be captured by a parallel loop, where control flow need not have passed it.
template <typename Map>
class ScopedEntry {
 public:
  using Value = typename Map::value_type::second_type;

  ScopedEntry(Map& map, typename Map::key_type key, Value value) : map_(map), key_(std::move(key)) {
    Value& entry = map_[key_];
    outer_ = entry;
    entry = value;
  }
  ~ScopedEntry() {
    if (outer_ == nullptr) {
      map_.erase(key_);
    } else {
      map_[key_] = outer_;
    }
  }
  ScopedEntry(const ScopedEntry&) = delete;
  ScopedEntry& operator=(const ScopedEntry&) = delete;

 private:
  Map& map_;
  typename Map::key_type key_;
  Value outer_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_INSERTION_MAP_H_
