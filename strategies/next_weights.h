// Fetches of weights that leave the cache between two runs.
#ifndef TENON_STRATEGIES_NEXT_WEIGHTS_H_
#define TENON_STRATEGIES_NEXT_WEIGHTS_H_

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/accesses.h"

namespace tenon::strategies {

// `tile`, a register tile that is scheduled inside its reader, fetches the block of a large
// argument that the tiles of the next block of rows or pixels share, while those of this one are
// computed.
void PrefetchNextWeights(schedule::Schedule& schedule, Accesses& accesses, schedule::Stage& tile);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_NEXT_WEIGHTS_H_
