// Arrays whose last element ends at a page that must not be touched, and arrays whose first element
// begins right after one: a kernel that reads or writes one byte outside ends the test.
#ifndef TENON_TESTS_JIT_GUARDED_ARRAY_H_
#define TENON_TESTS_JIT_GUARDED_ARRAY_H_

#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <utility>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tenon/support/ndarray.h"

namespace tenon::jit {

enum class Place { kAtTheEnd, kAtTheStart };

inline NDArray Guarded(Shape shape, DataType dtype, Place place) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t bytes = static_cast<std::size_t>(NumElements(shape)) * dtype.bytes();
  const std::size_t inner = (bytes + page - 1) / page * page;
  const std::size_t all = inner + 2 * page;
  void* memory = mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  char* const first = static_cast<char*>(memory) + page;
  if (inner > 0) {
    EXPECT_EQ(mprotect(first, inner, PROT_READ | PROT_WRITE), 0);
  }
  const std::shared_ptr<void> owner(memory, [all](void* m) { munmap(m, all); });
  char* const data = place == Place::kAtTheStart ? first : first + inner - bytes;
  return NDArray::View(std::move(shape), dtype, data, owner);
}

// The bits of a small number in a type's format.
inline std::uint64_t BitsOf(DataType dtype, int value) {
  const auto single = static_cast<float>(value);
  if (dtype == Float64) return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (dtype == Float32) return std::bit_cast<std::uint32_t>(single);
  if (dtype == BFloat16) return std::bit_cast<std::uint32_t>(single) >> 16;
  if (dtype == Float16) {
    if (value == 0) return 0;
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(single);
    const std::uint32_t exponent = ((bits >> 23) & 255) - 127 + 15;
    return ((bits >> 16) & 0x8000) | (exponent << 10) | ((bits >> 13) & 0x3ff);
  }
  if (dtype.is_bool()) return value > 0 ? 1 : 0;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

// Filled with small whole numbers, which every type holds.
inline NDArray GuardedNumbers(Shape shape, DataType dtype, Place place, unsigned seed) {
  const NDArray array = Guarded(std::move(shape), dtype, place);
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> numbers(dtype.is_uint() ? 0 : -5, 5);
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const std::uint64_t bits = BitsOf(dtype, numbers(generator));
    std::memcpy(static_cast<char*>(array.raw()) + static_cast<std::size_t>(i) * dtype.bytes(),
                &bits, dtype.bytes());
  }
  return array;
}

}  // namespace tenon::jit

#endif  // TENON_TESTS_JIT_GUARDED_ARRAY_H_
