// The ranks of MPI, for commands that mpirun has started.
#ifndef TENON_TOOLS_START_RANKS_H_
#define TENON_TOOLS_START_RANKS_H_

#include "tenon/tune/ranks.h"

namespace tenon::tools {

// Where another rank dies while all of them start, MPI waits for it for ever (Open MPI 4). So the
// program ends in words when MPI has not started within two minutes. Nothing has been written then.
// Throws what tune::Ranks::Start gives.
tune::Ranks StartRanks();

}  // namespace tenon::tools

#endif  // TENON_TOOLS_START_RANKS_H_
