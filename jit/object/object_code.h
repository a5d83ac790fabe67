// Machine code and data as relocatable object files, for linking ahead of time.
//
// A kernel's symbol is `int32_t symbol(void* const* buffers, const int64_t* extents)`, hidden: data
// pointers in the order of the parameters, then the values of the symbolic extents; it returns 0,
// or 1 when memory is out. The code refers to libm, libmvec, memcpy and its kin, and to three
// functions of the runtime (jit/runtime/parallel_runtime.h) under the names `runtime_prefix` +
// "_parallel_for",
// "_take_memory" and "_give_memory".
//
//   std::vector<std::string> objects =
//       EmitObjects(functions, {"vadd_native"}, {.runtime_prefix = "vadd"}).value();
#ifndef TENON_JIT_OBJECT_OBJECT_CODE_H_
#define TENON_JIT_OBJECT_OBJECT_CODE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/jit/kernel.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

struct ObjectOptions {
  CompileOptions compile;  // exported code does not check its bounds
  std::string runtime_prefix = "tenon";
};

// One object per function, compiled on all cores. `symbols` has as many names as there are
// functions.
absl::StatusOr<std::vector<std::string>> EmitObjects(std::span<const loop::Function> functions,
                                                     std::span<const std::string> symbols,
                                                     const ObjectOptions& options = {});

// `bytes` as a hidden read-only array of bytes named `symbol`, 64-byte aligned.
absl::StatusOr<std::string> EmitDataObject(std::string_view bytes, const std::string& symbol);

// What exported code may use: `target` with only those features that a C program can ask for. Code
// does not use others, such as avx512fp16, which compilers before GCC 11 cannot name.
Target ExportedTarget(Target target);

// The features of the target without which the code does not run on another machine, in the
// spelling that C compilers' __builtin_cpu_supports takes.
std::vector<std::string> RequiredCpuFeatures(const Target& target);

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_OBJECT_CODE_H_
