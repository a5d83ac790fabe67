// What the marks of a stage make of its loops. Only files inside schedule/ include this header.
#ifndef TENON_SCHEDULE_LOOP_MARKS_H_
#define TENON_SCHEDULE_LOOP_MARKS_H_

#include <unordered_map>

#include "tenon/schedule/marks.h"

namespace tenon::schedule {

// Unrolls the loops whose variables are keys, as their marks say. Requires that vectorised and
// unrolled loops are expanded.
using UnrollMarks = std::unordered_map<loop::Expr, UnrollMark, loop::ExprHash, loop::ExprSame>;
loop::Stmt AutoUnroll(const loop::Stmt& stmt, const UnrollMarks& marks);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_LOOP_MARKS_H_
