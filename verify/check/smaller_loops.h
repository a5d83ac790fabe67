// Loops with one statement less, for reducing what is wrong.
//
//   for (const loop::Stmt& smaller : SmallerLoops(body)) ...
#ifndef TENON_VERIFY_CHECK_SMALLER_LOOPS_H_
#define TENON_VERIFY_CHECK_SMALLER_LOOPS_H_

#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::verify {

// Each has one change: a statement of a sequence or memory that nobody uses is left out, a branch
// stands for its condition, a value for its name, a loop is serial, or a stored value is one of its
// operands. Those that lose most come first.
std::vector<loop::Stmt> SmallerLoops(const loop::Stmt& stmt);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_SMALLER_LOOPS_H_
