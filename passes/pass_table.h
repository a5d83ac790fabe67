// The table of named passes. Pipelines, tools and docs/passes.md are made from its rows.
//
//   const PassRow* row = FindRow("FoldConstant");
//   Module folded = row->function(InferType(module), {.evaluate = strategies::EvaluateCall});
#ifndef TENON_PASSES_PASS_TABLE_H_
#define TENON_PASSES_PASS_TABLE_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/passes/affine/fold_affine.h"
#include "tenon/passes/combine/combine_parallel_dense.h"
#include "tenon/passes/fusion/fuse_ops.h"
#include "tenon/passes/inline.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/pass_manager.h"
#include "tenon/passes/pass_options.h"
#include "tenon/passes/simplify/dead_code.h"
#include "tenon/passes/simplify/fold_constant.h"
#include "tenon/support/device.h"
#include "tenon/support/target.h"

namespace tenon::passes {

// What passes read besides the module. The defaults are for a pass that is run by name.
struct PassArguments {
  ConstantEvaluator evaluate;                    // FoldConstant, FoldScaleAxis
  FuseOptions fuse;                              // FuseOps
  FoldAffineReport* folding = nullptr;           // gets what FoldAffine did
  DataType mixed_type = BFloat16;                // ToMixedPrecision
  DesiredLayouts layouts = ImagesOf("NHWC");     // ConvertLayout
  InlineRule inline_rule = InlineRule::kMarked;  // Inline
  DenseForm dense_form = DenseForm::kBatch;      // CombineParallelDense
  int min_branches = 3;                          // CombineParallel*
  std::string batched_op = "nn.dense";           // CombineParallelOpBatch
  std::string batch_op = "nn.batch_matmul";      // CombineParallelOpBatch
  std::vector<std::string> weights;              // SimplifyFCTranspose
  bool keep_output_type = true;                  // ToMixedPrecision
  bool refuse_unlisted = false;                  // ToMixedPrecision
  bool fold_qnn = false;                         // FoldConstant
  bool hard_fail = false;                        // FakeQuantizationToInteger
  DeadCodeOptions dead_code = {};                // DeadCodeElimination
  Device device;                                 // RewriteAnnotatedOps
  std::vector<std::string> generators;           // AnnotateTarget, FuseOpsByPattern
  Target target;                                 // CanonicalizeQnn, Legalize
};

// What a pass does to the values of a module.
enum class Values : bool {
  kKept,     // they change at most by rounding in the types that they have
  kChanged,  // they are computed in other types
};

struct PassRow {
  std::string_view name;
  ir::Module (*function)(const ir::Module& module, const PassArguments& arguments);
  Facts needs;
  Facts makes;
  Facts keeps;  // where they held before
  Values values;
  Flow flow;
  std::string_view summary;  // "removes bindings that nobody reads"
  // What its options are in a text (pass_options.h), and what they say. Null: it has none.
  const attrs::Schema& (*options)() = nullptr;
  std::string_view further_options = {};
  void (*apply)(const GivenOptions& options, PassArguments* arguments) = nullptr;
  bool (*in_place)(ir::Module* module, const PassArguments& arguments) = nullptr;  // as Pass has it
};

// The rows, in the order in which tools list the passes.
std::span<const PassRow> PassTable();
// Null when no pass has this name.
const PassRow* FindRow(std::string_view name);
// A row as a pass of a pipeline.
Pass MakePass(const PassRow& row, const PassArguments& arguments, int min_opt_level = 0);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PASS_TABLE_H_
