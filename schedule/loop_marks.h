// What the marks of a stage make of its loops. Only files inside schedule/ include this header.
#ifndef TENON_SCHEDULE_LOOP_MARKS_H_
#define TENON_SCHEDULE_LOOP_MARKS_H_

#include <unordered_map>
#include <vector>

#include "tenon/schedule/marks.h"
#include "tenon/schedule/region.h"

namespace tenon::schedule {

// Statements that fetch the box `region` of the buffer into the cache, one line of it at a time, to
// read or to write it.
loop::Stmt PrefetchBox(const loop::Buffer& buffer, const std::vector<Range>& region,
                       bool is_written);

// Unrolls the loops whose variables are keys, as their marks say. Requires that vectorised and
// unrolled loops are expanded.
using UnrollMarks = std::unordered_map<loop::Expr, UnrollMark, loop::ExprHash, loop::ExprSame>;
loop::Stmt AutoUnroll(const loop::Stmt& stmt, const UnrollMarks& marks);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_LOOP_MARKS_H_
