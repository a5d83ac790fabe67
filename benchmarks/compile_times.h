// How long code generation takes: the fused kernels of a real model, one by one and all together.
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

}  // namespace tenon::benchmarks

#endif  // TENON_BENCHMARKS_COMPILE_TIMES_H_
