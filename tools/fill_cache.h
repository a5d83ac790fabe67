// The cache of compiled code, filled by one process or by all that mpirun has started.
#ifndef TENON_TOOLS_FILL_CACHE_H_
#define TENON_TOOLS_FILL_CACHE_H_

#include "tenon/compiler/compile.h"

namespace tenon::tools {

// Compiles what the folder `options.cache_dir` lacks of the model, and says on standard output how
// many functions there are. Each rank compiles its share, in a folder that all of them see;
// `lowered` is the module, the same in all. Returns when the ranks have done so; where one dies,
// mpirun ends the others, and the same command goes on from what is in the folder. Throws
// InvalidArgument where there is no folder that can be written.
void FillCacheByAll(const ir::Module& module, const Lowered& lowered,
                    const CompileOptions& options);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_FILL_CACHE_H_
