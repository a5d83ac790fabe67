// A reduction's iterations in blocks of lanes. Only files inside loop/ include this header.
//
//   const auto [fetches, bare] = SplitFetches(loop);
//   Stmt blocks = InOverlappingBlocks(*bare.As<ForNode>(), 8, fetches, take_in_a_block);
#ifndef TENON_LOOP_TRANSFORM_REDUCTION_BLOCKS_H_
#define TENON_LOOP_TRANSFORM_REDUCTION_BLOCKS_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::loop {

// What an iteration fetches before it does anything else, and the loop without that.
std::pair<std::vector<Stmt>, Stmt> SplitFetches(const Stmt& loop);

// A body gets the first iteration of a block, counted from the loop's own first one.
using BlockBody = std::function<Stmt(const Expr& block)>;

// The last block may reach past the end.
Stmt InBlocks(const ForNode& loop, std::int64_t lanes, const BlockBody& body,
              std::int64_t from = 0);
// The last block begins early enough to be whole, so what is taken twice must not change a result.
// Blocks before `from` are fetched for all the same. A block fetches each line that it reads once.
Stmt InOverlappingBlocks(const ForNode& loop, std::int64_t lanes, const std::vector<Stmt>& fetches,
                         const BlockBody& body, std::int64_t from = 0);

// Halves of the lanes are combined until one is left: `combine(lane, half)` takes lane + half in.
void CombineHalves(const Var& k, std::int64_t lanes, std::vector<Stmt>& steps,
                   const std::function<Stmt(const Var& lane, std::int64_t half)>& combine);

}  // namespace tenon::loop

#endif  // TENON_LOOP_TRANSFORM_REDUCTION_BLOCKS_H_
