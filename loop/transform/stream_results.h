// Results with non-temporal stores, since none holds them long enough.
//
// A plain store to a large array first reads the line that it writes. A streaming one does not, so
// that copying takes two thirds of the time. What reads the array next then finds no part of it in
// a cache. From some size on that costs less.
#ifndef TENON_LOOP_TRANSFORM_STREAM_RESULTS_H_
#define TENON_LOOP_TRANSFORM_STREAM_RESULTS_H_

#include <cstdint>
#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::loop {

// The least bytes of such a result. With a large third-level cache, writing and reading again took
// 1.0 of the time at 32 MiB on one thread and 1.1 on two; at 48 MiB it took 0.95 and 1.0, at 64 MiB
// 0.93 and 0.95.
inline constexpr std::int64_t kStreamedBytes = std::int64_t{48} << 20;

// Whether runs that begin so many bytes apart are whole lines, or so long that few lines belong to
// two runs.
bool AreRunsOfLines(std::int64_t bytes);

// The only plain store of a parameter becomes a streaming one if the parameter is that large, its
// last axis is a run of lines, nothing else uses it, and a loop that calls no mathematics stores
// vectors of whole lines. Requires buffers that are not flat.
Stmt StreamResults(const Stmt& stmt, const std::vector<Buffer>& params);

}  // namespace tenon::loop

#endif  // TENON_LOOP_TRANSFORM_STREAM_RESULTS_H_
