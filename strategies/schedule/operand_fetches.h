// Fetches of what a register tile multiplies, before its turn comes.
#ifndef TENON_STRATEGIES_SCHEDULE_OPERAND_FETCHES_H_
#define TENON_STRATEGIES_SCHEDULE_OPERAND_FETCHES_H_

#include <cstdint>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/schedule/accesses.h"

namespace tenon::strategies {

// Bytes of an argument that hardly survives a run in the second-level cache: as many as that has.
inline std::int64_t FarBytes(const Target& target) { return target.l2_bytes; }

// Lets `tile`, a register tile that is scheduled inside its reader, fetch ahead. While the tiles of
// one block of rows or pixels are computed, it fetches the block of a large argument that the tiles
// of the next one share. It also fetches the pixels of an argument of which each step of its sum
// reads another channel, a few steps ahead.
void FetchOperandsAhead(schedule::Schedule& schedule, Accesses& accesses, schedule::Stage& tile);

// Lets `result`, inside whose loops `tile` is computed, fetch what its elements of the next tile
// are added to. Where a tile does little with what it reads of a large image, it also fetches the
// pixels of the tiles that come after those of its row.
void FetchNextTiles(schedule::Schedule& schedule, Accesses& accesses, const schedule::Stage& result,
                    const schedule::Stage& tile);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_OPERAND_FETCHES_H_
