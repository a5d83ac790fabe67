// What functions have in common that differ in numbers only, such as extents, strides and offsets.
//
//   const Skeleton a = SkeletonOf(first), b = SkeletonOf(second);
//   if (a.bytes == b.bytes) {
//     const Generalized both = Generalize(first, {&a, &b});
//     both.numbers[1];  // called with these, both.function is `second`
//   }
#ifndef TENON_LOOP_SKELETON_H_
#define TENON_LOOP_SKELETON_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tenon/loop/function.h"

namespace tenon::loop {

// Functions of equal bytes are the same programs except for these numbers, which are nodes of them.
struct Skeleton {
  std::string bytes;
  std::vector<Expr> numbers;
};

// Numbers that shape the code stay in the bytes: integers below 2 and those that no index reaches,
// the steps of vectors, the bounds of loops that are unrolled, and floating numbers with which
// arithmetic is simpler.
Skeleton SkeletonOf(const Function& function);

// A function for all, which takes what differs as scalars after those that it has. Numbers that are
// equal in each of the functions are one scalar. Results are the same to the bit, unless code
// generation chooses the order of a sum by the number of its terms.
struct Generalized {
  Function function;
  std::vector<std::vector<std::int64_t>> numbers;  // by function: the values of the new scalars
};

// `members` are skeletons of equal bytes, the first that of `first`.
Generalized Generalize(const Function& first, std::span<const Skeleton* const> members);

}  // namespace tenon::loop

#endif  // TENON_LOOP_SKELETON_H_
