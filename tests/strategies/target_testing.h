// Targets of tests that look at what is made for a CPU, whatever the tests run on.
//
//   const Lowered lowered = ValueOrThrow(Lower(module, {.target = testing_targets::Avx512()}));
#ifndef TENON_TESTS_STRATEGIES_TARGET_TESTING_H_
#define TENON_TESTS_STRATEGIES_TARGET_TESTING_H_

#include <set>
#include <string>

#include "tenon/jit/host_target.h"

namespace tenon::testing_targets {

// A CPU with AVX-512, with dot products or not; nothing runs on it.
inline Target Avx512(std::set<std::string> more = {}) {
  Target target = jit::HostTarget();
  target.cpu = "znver4";
  target.features.insert("avx512f");
  target.features.erase("avx512vnni");
  target.features.erase("avx512bf16");
  target.features.insert(more.begin(), more.end());
  target.vector_bytes = 64;
  target.vector_registers = 32;
  return target;
}

// A CPU with AVX2 alone.
inline Target Avx2() {
  Target target = jit::HostTarget("-avx512f");
  target.vector_bytes = 32;
  target.vector_registers = 16;
  return target;
}

}  // namespace tenon::testing_targets

#endif  // TENON_TESTS_STRATEGIES_TARGET_TESTING_H_
