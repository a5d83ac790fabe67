// Whether convolutions over blocks of channels (AlterOpLayout) would run whole models faster than
// the default, which keeps them in NCHW.
#ifndef TENON_BENCHMARKS_BLOCKED_LAYOUTS_H_
#define TENON_BENCHMARKS_BLOCKED_LAYOUTS_H_

#include <vector>

#include "tenon/benchmarks/race.h"

namespace tenon::benchmarks {

void AddBlockedLayouts(std::vector<Race>& races);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_BLOCKED_LAYOUTS_H_
