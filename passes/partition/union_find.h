// Disjoint sets of the numbers 0, 1, ..., in nearly linear time (Tarjan): paths are halved, and the
// smaller set joins the larger one.
//
//   UnionFind sets(3);
//   sets.Join(0, 2);   // sets.Find(0) == sets.Find(2)
#ifndef TENON_PASSES_PARTITION_UNION_FIND_H_
#define TENON_PASSES_PARTITION_UNION_FIND_H_

#include <cstddef>
#include <utility>
#include <vector>

namespace tenon::passes {

class UnionFind {
 public:
  explicit UnionFind(std::size_t count = 0) {
    for (std::size_t i = 0; i < count; ++i) Add();
  }
  // Adds a set of one more number.
  void Add() {
    parent_.push_back(parent_.size());
    size_.push_back(1);
  }
  // The number that represents the set of `i`.
  std::size_t Find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void Join(std::size_t a, std::size_t b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return;
    if (size_[a] < size_[b]) std::swap(a, b);
    parent_[b] = a;
    size_[a] += size_[b];
  }

 private:
  std::vector<std::size_t> parent_, size_;
};

}  // namespace tenon::passes

#endif  // TENON_PASSES_PARTITION_UNION_FIND_H_
