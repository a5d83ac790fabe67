// Kernels compiled from lowered loops.
//
// A Kernel is an immutable value handle: copies share the code, whose memory goes back when the
// last one dies. Calling is safe from many threads. Arrays are checked against the function's
// buffers before anything runs; symbolic extents are read off the arrays' shapes. gdb shows kernels
// by name; perf does when the environment variable TENON_PERF_MAP is 1.
//
//   Kernel vadd = Compile(function).value();
//   absl::Status status = vadd(a, b, c);
//   std::puts(vadd.LlvmIr().c_str());
#ifndef TENON_JIT_KERNEL_H_
#define TENON_JIT_KERNEL_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tenon/jit/callable.h"
#include "tenon/jit/host_target.h"
#include "tenon/loop/function.h"
#include "tenon/loop/pipeline_options.h"
#include "tenon/support/ndarray.h"

namespace tenon::jit {

struct CompileOptions {
  Target target = HostTarget();  // must be the host, or the host with fewer features
  // Lets a sum be added up in another order, so that it runs in vector registers. The order is
  // fixed at compile time: results are the same in every run and for every number of threads.
  bool reassociate_reductions = true;
  // Gives the same bits on every target with AVX2 and FMA, with one version of the C library, if
  // the loops add up in the same order. Sums keep their order then.
  bool reproducible = false;
  // Runs compare the index of every load and store with the elements of its buffer before they
  // touch memory, and end in an error that names the access that does not fit. This finds mistakes
  // in schedules and computations. Results stay the same to the bit, and runs take longer. Accesses
  // by C functions, and those that a C function with effects decides on, are not checked. Exported
  // code (C source, object files) has no checks.
  bool check_bounds = false;
  // For kernels that run once, as those that pack weights do. They are made in a fraction of the
  // time, and are slower.
  bool runs_once = false;
  // The folder of machine code that earlier calls made; empty: none. It is made if it is missing,
  // and not used if that fails. Whoever may write to it may run code here.
  std::string cache_dir;
  // What the folder may hold. Beyond that, the entries that were used least recently are removed.
  std::int64_t cache_bytes = std::int64_t{256} << 20;
  // Options of the last phase of the loop pipeline. Kernels whose code is in the cache run it when
  // somebody asks for their texts.
  loop::PipelineOptions pipeline;

  bool may_reassociate() const { return reassociate_reductions && !reproducible; }
};

class Kernel {
 public:
  const std::string& name() const;
  const loop::Function& function() const;

  // Runs on `arrays`, in the order of the function's parameters. An array that the kernel writes
  // must not overlap any other. Errors: InvalidArgument naming the parameter when the number,
  // element type, rank or an extent of the arrays is wrong, or if they overlap so (which is not
  // checked for a function with an origin). OutOfRange naming the array, the index and the loops of
  // an access outside an array, if the kernel checks its bounds; what it writes is undefined then.
  absl::Status Run(std::span<const NDArray> arrays) const;
  template <typename... Arrays>
  absl::Status operator()(const Arrays&... arrays) const {
    const NDArray list[] = {arrays...};
    return Run(list);
  }
  // The unchecked entry: data pointers in parameter order, to memory as Run demands it, then the
  // values of the function's
  // symbolic extents. Like every call it flushes denormals to zero, on all of the kernel's threads.
  void RunUnchecked(void* const* buffers, const std::int64_t* extents) const;
  // This kernel as a step of a compiled graph, with the values of the function's symbolic extents.
  std::shared_ptr<const Callable> AsCallable(std::vector<std::int64_t> extents = {}) const;

  // Texts, made again at each call. The linked symbol adds ".kernel" to the name that they show.
  // The loops are those that the code is made from (FinalLoops). Tensor expressions and schedule
  // are empty if loops were made without them.
  std::string Text(KernelText kind) const;
  std::string Loops() const { return Text(KernelText::kLoops); }
  std::string LlvmIr(bool optimized = true) const;
  std::string Assembly() const { return Text(KernelText::kAssembly); }
  // C99 that compiles without Tenon (jit/c/c_source.h). Throws what CSource gives as a status.
  std::string CSource() const;

 private:
  friend absl::StatusOr<std::vector<Kernel>> CompileAll(std::span<const loop::Function> functions,
                                                        const CompileOptions& options);
  struct State;
  std::shared_ptr<const State> state_;
};

// The loops that machine code is made from: those after the last phase of the loop pipeline, with
// the checks of bounds that the options ask for. Their key is the code's (jit/object/object_key.h).
absl::StatusOr<loop::Function> FinalLoops(const loop::Function& function,
                                          const CompileOptions& options = {});

// The text of the kernel that Compile would make, without making it.
absl::StatusOr<std::string> TextOf(const loop::Function& function, KernelText kind,
                                   const CompileOptions& options = {});

// Errors: InvalidArgument for a target that has what the host lacks.
absl::StatusOr<Kernel> Compile(const loop::Function& function, const CompileOptions& options = {});

// Compiles on all cores. The kernels come in the order of the functions; one error fails the whole.
absl::StatusOr<std::vector<Kernel>> CompileAll(std::span<const loop::Function> functions,
                                               const CompileOptions& options = {});

// Compiles into the folder of the cache what it lacks of the functions from number `part` on, in
// steps of `parts`, and says how many these are. Code that functions share is compiled with the
// first of them. Errors: those of CompileAll, and InvalidArgument unless 0 <= part < parts.
absl::StatusOr<int> FillCache(std::span<const loop::Function> functions,
                              const CompileOptions& options, int part, int parts);

}  // namespace tenon::jit

#endif  // TENON_JIT_KERNEL_H_
