// How much faster whole models run when they are compiled for operands of bfloat16.
#ifndef TENON_BENCHMARKS_MIXED_PRECISION_H_
#define TENON_BENCHMARKS_MIXED_PRECISION_H_

#include <vector>

#include "tenon/benchmarks/race.h"

namespace tenon::benchmarks {

void AddMixedPrecision(std::vector<Race>& races);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_MIXED_PRECISION_H_
