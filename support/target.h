// Target: the machine that code is made for, as one value.
//
// Whatever decides by the machine (the form of an operator, its tiles, schedules, code generation)
// reads it here and asks nobody else, so that code for another machine is decided as if it were
// made there. jit/host_target.h makes the host's. In a value made by hand, members are not checked
// against each other.
//
//   const Target target = Target::Host("-avx512f");
//   target.vector_bytes == 32 && target.Lanes(sizeof(float)) == 8;
#ifndef TENON_SUPPORT_TARGET_H_
#define TENON_SUPPORT_TARGET_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace tenon {

struct Target {
  // The machine that this process runs on, without or with features changed (jit/host_target.h).
  // The jit room, which asks LLVM, defines it.
  static Target Host(std::string_view changes = "");

  std::string triple;              // "x86_64-unknown-linux-gnu"
  std::string cpu;                 // LLVM's name of the microarchitecture, "znver4"
  std::set<std::string> features;  // those that are on, as LLVM spells them
  std::int64_t vector_bytes = 16;  // of the widest registers
  std::int64_t vector_registers = 16;
  std::int64_t l1_bytes = 32 << 10, l2_bytes = 1 << 20, l3_bytes = 32 << 20;
  std::int64_t line_bytes = 64;
  int cores = 1;

  bool Has(const std::string& feature) const { return features.contains(feature); }
  // How many elements of so many bytes fill a vector.
  std::int64_t Lanes(std::size_t element_bytes) const {
    return vector_bytes / static_cast<std::int64_t>(element_bytes);
  }
  // Whether rows of transposed tiles are loaded faster whole than 128 bits at a time.
  bool loads_whole_rows() const;
  // Whether the CPU itself has fetched a row of a matrix in time when the one before it is done.
  bool fetches_rows() const;
  // Whether its dot product of bfloat16 does at least as many multiply-adds as the one of float32.
  bool has_fast_dots_of_bf16() const;
  // Throws InvalidArgument for vectors that no code can be made for.
  void RequireVectors() const;
  // One line for people.
  std::string ToString() const;

  friend bool operator==(const Target&, const Target&) = default;
};

}  // namespace tenon

#endif  // TENON_SUPPORT_TARGET_H_
