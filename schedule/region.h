// Which part of a buffer a statement reads or writes.
#ifndef TENON_SCHEDULE_REGION_H_
#define TENON_SCHEDULE_REGION_H_

#include <optional>
#include <vector>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/stmt.h"

namespace tenon::schedule {

struct Range {
  loop::Expr min;
  loop::Expr extent;
};

// A box that covers every element of `buffer` that `stmt` loads, in terms of the variables that
// `stmt` does not define. Nothing if it loads none. `outer` has the ranges of those variables.
// Requires loads with one index per dimension.
std::optional<std::vector<Range>> RegionRead(const loop::Stmt& stmt, const loop::Buffer& buffer,
                                             const loop::Bounds& outer);

// The same for elements that `stmt` loads or stores to.
std::optional<std::vector<Range>> RegionTouched(const loop::Stmt& stmt, const loop::Buffer& buffer,
                                                const loop::Bounds& outer);

// The same for elements that `stmt` stores to.
std::optional<std::vector<Range>> RegionWritten(const loop::Stmt& stmt, const loop::Buffer& buffer,
                                                const loop::Bounds& outer);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_REGION_H_
