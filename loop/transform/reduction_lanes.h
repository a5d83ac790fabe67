// A reduction's loop in vectors of `lanes` iterations. Only files inside loop/ include this header.
//
//   Stmt vectorised = LaneByLane(loop, *TakeApart(loop), 8, fetches, bounds);
#ifndef TENON_LOOP_TRANSFORM_REDUCTION_LANES_H_
#define TENON_LOOP_TRANSFORM_REDUCTION_LANES_H_

#include <cstdint>
#include <vector>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/reduction_update.h"

namespace tenon::loop {

// The values of a block, in vectors, and then their combination, in the same order. Requires one
// store.
Stmt ValuesFirst(const ForNode& loop, const ReductionUpdate& update, std::int64_t lanes);

// The extremum of floats, in two parts. One ignores NaN and takes one instruction per step. The
// other is zero, or a NaN that occurred. A single result that NaN may enter would wait for a
// comparison with itself at each step. Requires one store and as many iterations as lanes, as
// LaneByLane does.
Stmt ExtremumByLane(const ForNode& loop, const ReductionUpdate& update, std::int64_t lanes,
                    const std::vector<Stmt>& fetches);

// Each lane keeps a result of its own. Lanes start from r. If it helps that a lane's results are
// those of earlier iterations, they start from the first block, and r comes last. `bounds` has the
// variables of the loops around. Requires a reduction in any order, with r op r = r.
Stmt LaneByLane(const ForNode& loop, const ReductionUpdate& update, std::int64_t lanes,
                const std::vector<Stmt>& fetches, const Bounds& bounds);

}  // namespace tenon::loop

#endif  // TENON_LOOP_TRANSFORM_REDUCTION_LANES_H_
