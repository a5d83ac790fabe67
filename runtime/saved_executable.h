// Runs a saved executable: a folder that compiler/save_executable.h wrote.
//
//   SavedExecutable net = LoadExecutable("net/").value();
//   std::vector<NDArray> y = net.executable.Run({{"x", x}}).value();
//
// Nothing is compiled, and neither LLVM nor the rest of the compiler need be linked: tenon::runtime
// is enough. The folder holds machine code, so whoever may write to it may run code here.
#ifndef TENON_RUNTIME_SAVED_EXECUTABLE_H_
#define TENON_RUNTIME_SAVED_EXECUTABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/runtime/executable.h"

namespace tenon::runtime {

struct SavedExecutable {
  Executable executable;
  std::vector<std::string> result_names;  // as saved; empty: they have none
};

struct LoadOptions {
  // Compares the parameters with their mark, which reads all of them. Without it, pages of weights
  // come into memory when a run needs them.
  bool check_params = true;
};

// Whether the folder claims to be one.
bool IsSavedExecutable(const std::string& folder);

// Weights stay mapped from the folder's file, which must not be cut while the executable lives.
// Errors: NotFound for a file that is missing; DataLoss naming the file for one that is damaged or
// belongs to another save; FailedPrecondition for a CPU that lacks a feature, naming it;
// Unimplemented for another version of the format.
absl::StatusOr<SavedExecutable> LoadExecutable(const std::string& folder,
                                               const LoadOptions& options = {});

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_SAVED_EXECUTABLE_H_
