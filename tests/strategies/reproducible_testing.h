// Runs what was decided for one target as code of another, to compare the bits of reproducible
// code.
//
//   ExpectSameBitsEverywhere(module, inputs);
#ifndef TENON_TESTS_STRATEGIES_REPRODUCIBLE_TESTING_H_
#define TENON_TESTS_STRATEGIES_REPRODUCIBLE_TESTING_H_

#include <cmath>
#include <vector>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/target_testing.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::testing_reproducible {

// Kernels are chosen and scheduled for `decided`. Their code is that of AVX2.
inline std::vector<NDArray> RunAs(const Target& decided, const ir::Module& module,
                                  const runtime::Inputs& inputs, int threads = 1) {
  CompileOptions options{.target = decided, .threads = threads, .reproducible = true};
  const Lowered lowered = ValueOrThrow(Lower(module, options));
  options.target = testing_targets::Avx2();
  return ValueOrThrow(ValueOrThrow(Link(lowered, options)).Run(inputs));
}

inline void ExpectSameBits(const std::vector<NDArray>& got, const std::vector<NDArray>& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t r = 0; r < got.size(); ++r) {
    ASSERT_EQ(got[r].shape(), expected[r].shape());
    if (got[r].SameBytes(expected[r])) continue;
    for (std::int64_t i = 0; i < got[r].size(); ++i) {
      const double a = testing_graphs::ValueAt(got[r], i);
      const double b = testing_graphs::ValueAt(expected[r], i);
      ASSERT_TRUE((std::isnan(a) && std::isnan(b)) ||
                  (a == b && std::signbit(a) == std::signbit(b)))
          << "element " << i << " of result " << r << ": " << a << " and " << b;
    }
  }
}

// Vectors and registers as AVX-512 has them, for code that AVX2 runs.
inline Target Wide() {
  Target target = testing_targets::Avx2();
  target.vector_bytes = 64;
  target.vector_registers = 32;
  return target;
}

// Gives the results.
inline std::vector<NDArray> ExpectSameBitsInWideVectors(const ir::Module& module,
                                                        const runtime::Inputs& inputs) {
  std::vector<NDArray> results = RunAs(testing_targets::Avx2(), module, inputs);
  ExpectSameBits(RunAs(Wide(), module, inputs), results);
  return results;
}

// Also with other caches, more cores and two threads.
inline std::vector<NDArray> ExpectSameBitsEverywhere(const ir::Module& module,
                                                     const runtime::Inputs& inputs) {
  std::vector<NDArray> results = ExpectSameBitsInWideVectors(module, inputs);
  SCOPED_TRACE("decided for larger caches");
  Target larger = Wide();
  larger.l1_bytes = 64 << 10;
  larger.l2_bytes = 4 << 20;
  larger.cores = 16;
  ExpectSameBits(RunAs(larger, module, inputs, /*threads=*/2), results);
  return results;
}

}  // namespace tenon::testing_reproducible

#endif  // TENON_TESTS_STRATEGIES_REPRODUCIBLE_TESTING_H_
