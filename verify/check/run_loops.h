// Runs loops as they are written, one iteration after the other: what transforms and machine code
// are compared with. It shares the arithmetic of te::Interpret, and nothing with the compiler.
//
//   RunLoops(function, {x, y}, {5});   // of one symbolic extent, which is 5
#ifndef TENON_VERIFY_CHECK_RUN_LOOPS_H_
#define TENON_VERIFY_CHECK_RUN_LOOPS_H_

#include <cstdint>
#include <vector>

#include "tenon/loop/function.h"
#include "tenon/support/ndarray.h"

namespace tenon::verify {

// `arrays` are the function's buffers and `scalars` the values of its scalars. Memory that the
// loops allocate has the byte `fill` in each place. Loops are those of a schedule: without vectors
// and without calls of functions (Unimplemented). Throws OutOfRange naming an access outside a
// buffer. Prefetches do nothing.
void RunLoops(const loop::Function& function, const std::vector<NDArray>& arrays,
              const std::vector<std::int64_t>& scalars, unsigned char fill = 0);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_RUN_LOOPS_H_
