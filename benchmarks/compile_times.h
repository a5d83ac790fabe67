// How long compiling takes: the passes over a model's graph, and the code of its fused kernels, one
// by one and all together.
#ifndef TENON_BENCHMARKS_COMPILE_TIMES_H_
#define TENON_BENCHMARKS_COMPILE_TIMES_H_

#include <string>
#include <vector>

#include "tenon/benchmarks/race.h"
#include "tenon/tenon.h"

namespace tenon::benchmarks {

// One kernel counts from the fused function to linked code: tensor expressions, schedule, loops,
// LLVM at full optimisation, linking. Throws when the module cannot be lowered or has no generated
// kernel.
void AddCompileTimes(const std::string& model, const ir::Module& module, std::vector<Race>& races);

// The default pipeline up to the fused module, without a plan and without code; `seconds` is what
// it may take, 0 as long as it will.
void AddPassTimes(const std::string& model, const ir::Module& module, double seconds,
                  std::vector<Race>& races);
// The same for graphs of 1,000 to 100,000 calls, and of 1,000 and 10,000 functions of four calls,
// of which the time should be a constant part each.
void AddGraphSizes(std::vector<Race>& races);

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_COMPILE_TIMES_H_
