// The pipeline table: which passes run in which order, and from which level.
#ifndef TENON_PASSES_PIPELINE_H_
#define TENON_PASSES_PIPELINE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/passes/affine/fold_affine.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/pass_manager.h"
#include "tenon/passes/simplify/fold_constant.h"
#include "tenon/support/target.h"

namespace tenon::passes {

// Goes from a module as it comes to one of fused functions. Level 0: every call is its own kernel;
// 1: fusion; 2: constant folding; 3: algebra (affine folding, simplification, common
// subexpressions); 4: combining of branches.
struct PipelineOptions {
  FuseOptions fuse;                     // how fusion groups from level 1 on
  FoldAffineReport* folding = nullptr;  // gets what affine folding did
  // Independent of the level: the type in which ToMixedPrecision computes, and the layouts that
  // ConvertLayout makes. These passes run only when they are asked for.
  std::optional<DataType> mixed_precision;
  DesiredLayouts layouts;
  Target target;  // CanonicalizeQnn
};
// At each level, the resulting module is kReadyForKernels.
Pipeline DefaultPipeline(const ConstantEvaluator& evaluate, int opt_level,
                         const PipelineOptions& options = {});

// The level from which a pass runs: that of its first step in the pipeline or, for one that runs
// only by name, that of similar passes. 0 for a pass that is not in the table.
int LevelOf(std::string_view pass);

// The steps in order, and the passes that run only by name, as Markdown tables. `tenon passes`
// prints them, and docs/passes.md holds them.
std::string PassesMarkdown();

// Any pass by name, for tools: those of the pipeline and those that run only by name.
Pass FindPass(const std::string& name, const ConstantEvaluator& evaluate,
              const FuseOptions& fuse = {}, FoldAffineReport* folding = nullptr);
std::vector<std::string> PassNames();
// The passes that change values at most by rounding.
std::vector<std::string> ExactPassNames();

}  // namespace tenon::passes

#endif  // TENON_PASSES_PIPELINE_H_
