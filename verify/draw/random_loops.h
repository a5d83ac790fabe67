// Random loops as a schedule or a user's transform might give them, with the arrays that they run
// on.
//
// They nest serial, parallel, vector and unrolled loops with conditions, variables, memory of their
// own and sums, and store to any buffer. They read no element that was not written, access nothing
// outside a buffer, and an iteration of a parallel or vector loop reads nothing that another one
// writes. So their results are the same in any order that the loops allow. Numbers are whole and
// small where rounding would matter: results are the same to the bit.
//
//   const RandomLoops loops = MakeRandomLoops(7, LoopKinds::kAll);
#ifndef TENON_VERIFY_DRAW_RANDOM_LOOPS_H_
#define TENON_VERIFY_DRAW_RANDOM_LOOPS_H_

#include <cstdint>
#include <vector>

#include "tenon/loop/function.h"
#include "tenon/support/ndarray.h"

namespace tenon::verify {

struct RandomLoops {
  loop::Function function;  // its buffers are shaped
  std::vector<NDArray> arrays;
  std::vector<std::int64_t> scalars;
};

enum class LoopKinds : std::uint8_t {
  kAll,
  kLowered,  // serial and parallel: what code generation takes
};

RandomLoops MakeRandomLoops(std::uint64_t seed, LoopKinds kinds);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_RANDOM_LOOPS_H_
