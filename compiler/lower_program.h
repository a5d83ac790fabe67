// LowerProgram: a module whose values decide which code runs, or how large arrays are, up to code
// generation, as Lower does for one plan. It is what SaveExecutable saves of such a module.
//
//   LoweredProgram net = LowerProgram(module, {.library = LibraryChoice::kTe}).value();
//   absl::Status status = SaveExecutable(net, "net");
#ifndef TENON_COMPILER_LOWER_PROGRAM_H_
#define TENON_COMPILER_LOWER_PROGRAM_H_

#include "absl/status/statusor.h"
#include "tenon/compiler/compile.h"
#include "tenon/runtime/planned_program.h"

namespace tenon {

struct LoweredProgram {
  // The kernels and constants of all parts. Its plan has the inputs of @main, and nothing else; its
  // module has the attributes of what was lowered, and no function.
  Lowered whole;
  runtime::PlannedProgram program;
};

// Whether Compile makes a program of the module, and Lower refuses it: it has ifs or calls itself,
// or values decide an extent in its middle. Types need not be known. Throws what InferType throws
// for a module with operators whose results have as many elements as values say (argwhere).
bool IsProgram(const ir::Module& module);

// For an extent that values decide, the case 0 and, if the plan does not take it, the case 1 are
// lowered apart. Up to three such extents in a part are combined in all ways; with more, one of
// them or all take the value. Cases that operators refuse are left out. Any module with a @main may
// be given. Errors: those of Lower. Several threads may call it.
absl::StatusOr<LoweredProgram> LowerProgram(const ir::Module& module,
                                            const CompileOptions& options = {});

}  // namespace tenon

#endif  // TENON_COMPILER_LOWER_PROGRAM_H_
