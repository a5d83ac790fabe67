// An index that is to be compared with the elements of its buffer, and how it moves out of loops
// (jit/bounds/bounds_checks.h). Only files inside jit/ include this header.
#ifndef TENON_JIT_BOUNDS_BOUNDS_POINTS_H_
#define TENON_JIT_BOUNDS_BOUNDS_POINTS_H_

#include <cstdint>
#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::jit {

// Which of the indices it is, for an access that has many.
enum class End { kOnly, kLowest, kHighest };

// An index to compare. It reads no memory.
struct Point {
  std::int64_t access = 0;  // its number
  loop::Expr index, elements;
  std::vector<loop::Expr> iteration;
  std::vector<loop::Expr> when;  // the conditions around it, outermost first
  End end = End::kOnly;
};

loop::Expr ElementsOf(const loop::Buffer& buffer);

// The points that stand for `point` in all iterations of the loop, whose bounds read no memory.
// None if it has to be compared in each iteration.
std::vector<Point> AtEnds(const loop::ForNode& node, const Point& point);

// The statement that compares and reports. Null if the access is known to fit.
loop::Stmt Compare(const Point& point, const loop::Var& report);

}  // namespace tenon::jit

#endif  // TENON_JIT_BOUNDS_BOUNDS_POINTS_H_
