// Ahead-of-time export: graphs and kernels as C source, object file or shared library, each with a
// C header beside it. What is exported runs without Tenon, LLVM and oneDNN.
//
//   Lowered net = Lower(module, {.library = LibraryChoice::kTe}).value();
//   absl::Status status = ExportSharedLibrary(net, "out/net.so");  // and out/net.h
//   // C: int32_t net_run(const void* const* inputs, void* const* outputs, void* workspace);
//
// Every kernel is a function of its own, too (jit/c/c_source.h): for kernels with symbolic extents
// it is the way in. The header says what each array holds. A native export is code for the CPU that
// made it, or for options.target. On a CPU that lacks one of the features, its functions return 3.
// It needs libc, libm and OpenMP's runtime (libgomp) only; an object file is linked with -fopenmp
// -lm.
//
// A program (LowerProgram) has the same function, which runs its ifs and calls, and takes what it
// carries from call to call from malloc. Where its arrays have other sizes in each run, it takes
// memory for its results as well, which the caller frees:
//   int32_t net_run(const void* const* inputs, const int64_t* const* shapes, void** outputs,
//                   int64_t* const* output_shapes);
//
// Files are written whole or not at all: under other names first, then renamed. Errors:
// InvalidArgument for a kernel that a library runs, an unknown ending of the path and a name that
// is not a C identifier; NotFound when a file cannot be written or the C compiler cannot be
// started; FailedPrecondition with the compiler's words when it fails.
#ifndef TENON_COMPILER_EXPORT_H_
#define TENON_COMPILER_EXPORT_H_

#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tenon/compiler/compile.h"
#include "tenon/compiler/lower_program.h"

namespace tenon {

struct ExportOptions {
  // Prefix of the C names; empty: the file's name, with "_" for what C does not allow.
  std::string name;
  Target target = jit::HostTarget();  // of native code; graphs are lowered for theirs
  // As in CompileOptions, for the order inside a loop. Graphs are lowered with options of their
  // own.
  bool reassociate_reductions = true;
  bool reproducible = false;      // as in CompileOptions, for native code
  std::string c_compiler = "cc";  // compiles the small C part of native exports and links
};

// Writes PATH.so and PATH.h.
absl::Status ExportSharedLibrary(const Lowered& graph, const std::string& path,
                                 const ExportOptions& options = {});
absl::Status ExportSharedLibrary(const LoweredProgram& program, const std::string& path,
                                 const ExportOptions& options = {});
absl::Status ExportSharedLibrary(std::span<const loop::Function> kernels, const std::string& path,
                                 const ExportOptions& options = {});

// Writes PATH.o and PATH.h.
absl::Status ExportObject(const Lowered& graph, const std::string& path,
                          const ExportOptions& options = {});
absl::Status ExportObject(const LoweredProgram& program, const std::string& path,
                          const ExportOptions& options = {});
absl::Status ExportObject(std::span<const loop::Function> kernels, const std::string& path,
                          const ExportOptions& options = {});

// Writes PATH.c and PATH.h, or NAME.c and NAME.h in the folder PATH (which ends in "/" or exists).
// They are C99 that a C compiler alone compiles. Constants are arrays in the text, so graphs of
// many megabytes of weights are better exported as libraries. The C compiler chooses the target
// here.
absl::Status ExportCSource(const Lowered& graph, const std::string& path,
                           const ExportOptions& options = {});
absl::Status ExportCSource(const LoweredProgram& program, const std::string& path,
                           const ExportOptions& options = {});
absl::Status ExportCSource(std::span<const loop::Function> kernels, const std::string& path,
                           const ExportOptions& options = {});

// The text of PATH.c alone.
absl::StatusOr<std::string> CSource(const Lowered& graph, const ExportOptions& options = {});
absl::StatusOr<std::string> CSource(const LoweredProgram& program,
                                    const ExportOptions& options = {});

// The kernels alone, for the reference system's target "c", with its names, default schedules,
// calling convention and prologue (compiler/export/reference_c.h). If `options.name` is empty, the
// name is "default".
absl::StatusOr<std::string> ReferenceCSource(const Lowered& graph,
                                             const ExportOptions& options = {});

}  // namespace tenon

#endif  // TENON_COMPILER_EXPORT_H_
