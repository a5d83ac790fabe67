// An index that is to be compared with the elements of its buffer, and how it moves out of loops
// (jit/bounds/bounds_checks.h). Only files inside jit/ include this header.
#ifndef TENON_JIT_BOUNDS_BOUNDS_POINTS_H_
#define TENON_JIT_BOUNDS_BOUNDS_POINTS_H_

#include <cstdint>
#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::jit {

// Which of the indices of an access that has many.
enum class End { kOnly, kLowest, kHighest };

// Reads no memory.
struct Point {
  std::int64_t access = 0;  // its number
  loop::Expr index, elements;
  std::vector<loop::Expr> iteration;
  std::vector<loop::Expr> when;  // the conditions around it, outermost first
  End end = End::kOnly;
};

loop::Expr ElementsOf(const loop::Buffer& buffer);

// The points that stand for what `point` is in all iterations of the loop, whose bounds read no
// memory; none where it has to be compared in each of them.
std::vector<Point> AtEnds(const loop::ForNode& node, const Point& point);

// Compares and reports; null where it is known to fit.
loop::Stmt Compare(const Point& point, const loop::Var& report);

}  // namespace tenon::jit

#endif  // TENON_JIT_BOUNDS_BOUNDS_POINTS_H_
