// Keeps a compiled graph as a folder that runs without compiling: graph.json, kernels.so,
// params.bin and tenon.json.
//
//   Lowered net = Lower(module, {.library = LibraryChoice::kTe}).value();
//   absl::Status status = SaveExecutable(net, "net");
//   runtime::SavedExecutable same = runtime::LoadExecutable("net").value();
//
//   status = SaveExecutable(LowerProgram(with_ifs).value(), "net");  // of any module with @main
//
// Results are those of the executable that Link makes, to the bit. graph.json is the executable's
// GraphJson; params.bin has the constants as kernels read them, packed weights included.
#ifndef TENON_COMPILER_SAVE_EXECUTABLE_H_
#define TENON_COMPILER_SAVE_EXECUTABLE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tenon/compiler/compile.h"
#include "tenon/compiler/export.h"
#include "tenon/compiler/lower_program.h"

namespace tenon {

struct SaveOptions {
  // Code is made for the target of `code`. On a CPU that lacks one of its features, the folder
  // cannot be loaded. The name in `code` has no effect.
  ExportOptions code;
  int threads = 0;  // of a run, as in CompileOptions
  // In order; empty: the module's own (ir/result_names.h).
  std::vector<std::string> result_names;
};

// Writes the whole folder or nothing. A folder that holds a saved executable is replaced; one that
// holds anything else is left alone. Errors: AlreadyExists for such a folder; InvalidArgument for a
// kernel that a library runs and for names that are not UTF-8; NotFound when a file cannot be
// written or the C compiler cannot be started; FailedPrecondition with the compiler's words.
absl::Status SaveExecutable(const Lowered& graph, const std::string& folder,
                            const SaveOptions& options = {});
// The same for a module with control flow or with extents that values decide. Also InvalidArgument
// for a program that LoadExecutable would not take.
absl::Status SaveExecutable(const LoweredProgram& program, const std::string& folder,
                            const SaveOptions& options = {});

}  // namespace tenon

#endif  // TENON_COMPILER_SAVE_EXECUTABLE_H_
