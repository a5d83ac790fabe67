// Fetches of what a register tile multiplies, before its turn comes.
#ifndef TENON_STRATEGIES_OPERAND_FETCHES_H_
#define TENON_STRATEGIES_OPERAND_FETCHES_H_

#include <cstdint>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/accesses.h"

namespace tenon::strategies {

// Bytes of an argument that hardly survives a run in the second-level cache.
inline constexpr std::int64_t kFarBytes = 1 << 20;

// `tile`, a register tile that is scheduled inside its reader, fetches the block of a large
// argument that the tiles of the next block of rows or pixels share, while those of this one are
// computed; and a few steps of its sum ahead, the pixels of an argument of which each step reads
// another channel.
void FetchOperandsAhead(schedule::Schedule& schedule, Accesses& accesses, schedule::Stage& tile);

// `result`, inside whose loops `tile` is computed, fetches what its elements of the next tile are
// added to; and where a tile does little with what it reads of a large image, the pixels of tiles
// that come after the next.
void FetchNextTiles(schedule::Schedule& schedule, Accesses& accesses, const schedule::Stage& result,
                    const schedule::Stage& tile);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_OPERAND_FETCHES_H_
