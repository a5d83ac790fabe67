// Compile: from a module to something that runs.
//
// The pipeline fuses the module, a strategy is chosen for every group, kernels are generated in
// parallel and equal groups share one. The steps can be taken one by one: Lower stops before code
// generation, for those who want to read what would be compiled.
//
//   Executable exe = Compile(module, {.opt_level = 3}).value();
//   std::vector<Tensor> y = exe.Run({{"x", x}}).value();
#ifndef TENON_COMPILER_COMPILE_H_
#define TENON_COMPILER_COMPILE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/ir/module.h"
#include "tenon/jit/host_target.h"
#include "tenon/loop/pipeline_options.h"
#include "tenon/passes/affine/fold_affine.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/pass_manager.h"
#include "tenon/runtime/executable.h"
#include "tenon/strategies/strategy.h"

namespace tenon {

using passes::FusionMode;
using runtime::Executable;
using runtime::Session;
using strategies::LibraryChoice;
using Tensor = NDArray;

struct CompileOptions {
  // What kernels are chosen, scheduled and generated for: the host, or the host with fewer features
  // (Target::Host("-avx512f")). oneDNN's kernels are left out if they would use a feature that it
  // lacks.
  Target target = Target::Host();
  int opt_level = 3;  // 0: no fusion; 1: fusion; 2: constant folding; 3: algebra; 4: branches
  // The number of threads that a run uses; 0: all cores. oneDNN's kernels are made for this number.
  // If a session asks for another one, they are made again at its first run.
  int threads = 0;
  LibraryChoice library = LibraryChoice::kAuto;
  // Compiles for a CPU of which nothing is known: every operator takes the plain form of its
  // computation under a generic schedule (strategies/generic_schedule.h), and no library is used.
  // This is slower, and is meant for comparisons.
  bool generic = false;
  // If it is not given, fusion is extended from level 3 on.
  std::optional<FusionMode> fusion;
  // Lets convolutions be other than plain sums. Those of 3 x 3 constant weights may take Winograd's
  // algorithm, which rounds differently, not worse by much: if an infinity is in the image,
  // neighbouring results become NaN. Others may leave out taps that meet only padding, where an
  // infinite weight would give NaN.
  bool winograd = true;
  // Keeps NaN where a library would not: oneDNN's relu, clip, sigmoid and tanh give a number for
  // it. Convolutions with such operators after them are then generated. Matrix products are
  // generated in any case, unless the library is asked for (docs/numerics.md).
  bool keep_nan = false;
  // Convolutions and matrix products take operands of this type, BFloat16 or Float16, and sum in
  // float32. Values between them stay in this type where that loses little (ToMixedPrecision).
  // Results differ by more than rounding. Images have channels last if the CPU multiplies matrices
  // of bfloat16.
  std::optional<DataType> mixed_precision;
  // Lets sums be added up in another order, fixed at compile time.
  bool reassociate_reductions = true;
  // Gives the same bits on every CPU with AVX2 and FMA, for any number of threads, with one version
  // of Tenon and of the C library (docs/numerics.md). Sums keep their order; no library, Winograd's
  // algorithm or measured choice is used. Refused for other targets.
  bool reproducible = false;
  std::vector<std::string> required_passes;
  std::vector<std::string> disabled_passes;
  bool verify = false;  // check the module after every pass, and loops after every transform
  // Generated kernels compare the index of every access with the elements of its array, and a run
  // ends in an error that names the access that does not fit (jit::CompileOptions). Kernels of
  // oneDNN and exported code have no such checks.
  bool check_bounds = false;
  // Folder of machine code that earlier calls made (jit::CompileOptions); empty: none.
  std::string cache_dir;
  // What measurements say about the choice of kernels (tune/records.h); null: nothing.
  strategies::MeasuredChoices measured = nullptr;
  // It is told of each step of the loop pipeline, by several threads. Kernels whose code is in the
  // cache take no steps, unless somebody asks for their loops.
  loop::PipelineObserver loop_observer;
  passes::PassReport* pass_report = nullptr;
  passes::FusionReport* fusion_report = nullptr;
  passes::FoldAffineReport* folding_report = nullptr;
};

// One kernel of a lowered module.
struct LoweredKernel {
  std::string name;
  ir::Expr function;  // the fused function
  strategies::Choice choice;
};

struct Lowered {
  ir::Module module;   // fused
  runtime::Plan plan;  // with variables where the module's extents have some
  std::vector<LoweredKernel> kernels;
  std::vector<NDArray> constants;
};

// Errors: those of the passes; Unimplemented, naming the operator, if no kernel can be made of
// something, or no plan for all values of variables.
absl::StatusOr<Lowered> Lower(const ir::Module& module, const CompileOptions& options = {});
// The same for a module that is fused already, as Lowered::module is. No passes are run.
absl::StatusOr<Lowered> LowerFused(const ir::Module& fused, const CompileOptions& options = {});
// The kernels alone, for those who want to read them. If the module's extents are variables, or if
// it is a program (compiler/lower_program.h), it may have kernels and no plan. Then `constants` is
// empty, and `plan` has its conditions and a node for each use of a kernel, with the places of the
// model, and nothing else. Of a program, these are the kernels of all its parts. Errors: those of
// Lower.
absl::StatusOr<Lowered> LowerKernels(const ir::Module& module, const CompileOptions& options = {});
absl::StatusOr<Executable> Link(const Lowered& lowered, const CompileOptions& options = {});
// Compiles generated code into the folder `options.cache_dir`, where it is not there yet: of all
// functions those from number `part` on, in steps of `parts`. Says how many these are. Errors:
// InvalidArgument where the options name no folder, and unless 0 <= part < parts.
absl::StatusOr<int> FillCache(const Lowered& lowered, const CompileOptions& options, int part = 0,
                              int parts = 1);
// Lowers and links.
absl::StatusOr<Executable> Compile(const ir::Module& module, const CompileOptions& options = {});
// The same for a module that is given away. Weights that nobody else holds are freed as soon as
// what kernels read has been made from them, so that a compile needs less memory.
//   Executable exe = Compile(std::move(module)).value();
absl::StatusOr<Executable> Compile(ir::Module&& module, const CompileOptions& options = {});

}  // namespace tenon

#endif  // TENON_COMPILER_COMPILE_H_
