// Boxes of a buffer that are fetched into the cache, line by line. Only files inside schedule/
// include this header.
#ifndef TENON_SCHEDULE_FETCH_BOXES_H_
#define TENON_SCHEDULE_FETCH_BOXES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tenon/schedule/region.h"

namespace tenon::schedule {

std::optional<std::int64_t> ConstantOf(const loop::Expr& e);

// The most lines that a row of the box lies in, without one that the next iteration of `axis`
// begins with. Buffers begin where a line does, and rows begin at multiples of what divides their
// variables' steps.
loop::Expr LinesOfRow(const loop::Buffer& buffer, const std::vector<Range>& box,
                      const loop::Var& axis);

// Fetches so many lines of each row of the box of the buffer, by one of loop::IsPrefetch.
loop::Stmt FetchBox(const loop::Buffer& buffer, const std::vector<Range>& box,
                    const loop::Expr& lines, loop::Intrinsic fetch,
                    loop::ForKind kind = loop::ForKind::kSerial);

// How many dimensions of the box come before those that are one piece of memory. Nothing unless all
// extents are constant.
std::optional<std::size_t> DimensionsOfPieces(const loop::Buffer& buffer,
                                              const std::vector<Range>& box);

// Fetches share `number` of `shares` of the box. `dimensions` is how many come before
// its pieces. A share is a part of every piece. If there are as many pieces as shares, but no piece
// has as many lines, a share is some of the pieces. `axis` is as in LinesOfRow.
loop::Stmt FetchShare(const loop::Buffer& buffer, std::vector<Range> box, std::size_t dimensions,
                      const loop::Expr& number, std::int64_t shares, const loop::Var& axis,
                      loop::Intrinsic fetch);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_FETCH_BOXES_H_
