#include "tenon/passes/pipeline.h"

#include <functional>
#include <utility>

#include "tenon/passes/alter_op_layout.h"
#include "tenon/passes/backward_fold_scale_axis.h"
#include "tenon/passes/canonicalize_cast.h"
#include "tenon/passes/canonicalize_ops.h"
#include "tenon/passes/canonicalize_qnn.h"
#include "tenon/passes/combine_parallel_batch_matmul.h"
#include "tenon/passes/combine_parallel_conv2d.h"
#include "tenon/passes/combine_parallel_dense.h"
#include "tenon/passes/convert_layout.h"
#include "tenon/passes/dead_code.h"
#include "tenon/passes/defuse_ops.h"
#include "tenon/passes/div_to_mul.h"
#include "tenon/passes/eliminate_common_subexpr.h"
#include "tenon/passes/embed_composites.h"
#include "tenon/passes/fake_quantization_to_integer.h"
#include "tenon/passes/flatten_atrous_conv.h"
#include "tenon/passes/fold_affine.h"
#include "tenon/passes/fold_explicit_padding.h"
#include "tenon/passes/fold_scale_axis.h"
#include "tenon/passes/forward_fold_scale_axis.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/inline.h"
#include "tenon/passes/merge_compiler_regions.h"
#include "tenon/passes/merge_composite_functions.h"
#include "tenon/passes/partition_graph.h"
#include "tenon/passes/plan_devices.h"
#include "tenon/passes/rewrite_annotated_ops.h"
#include "tenon/passes/simplify_expr.h"
#include "tenon/passes/simplify_inference.h"
#include "tenon/passes/to_mixed_precision.h"
#include "tenon/passes/widen_half_floats.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::Module;

Pass Infer() {
  return {"InferType", 0, [](const Module& m) { return InferType(m); }};
}
Pass Fold(const ConstantEvaluator& evaluate) {
  return {"FoldConstant", 2, [evaluate](const Module& m) { return FoldConstant(m, evaluate); }};
}
// Each pass below needs checked types and leaves them.
Pass Simplify() {
  return {"SimplifyInference", 0,
          [](const Module& m) { return InferType(SimplifyInference(InferType(m))); }};
}

}  // namespace

Pipeline DefaultPipeline(const ConstantEvaluator& evaluate, int opt_level,
                         const PipelineOptions& options) {
  FuseOptions grouping = options.fuse;
  grouping.group = grouping.group && opt_level >= 1;
  FoldAffineReport* const folding = options.folding;
  const std::optional<DataType> mixed = options.mixed_precision;
  const DesiredLayouts& layouts = options.layouts;
  const auto if_asked = [](bool asked, std::function<Module(const Module&)> function) {
    return asked ? std::move(function) : nullptr;
  };
  const auto typed = [](auto pass) {
    return [pass](const Module& m) { return InferType(pass(m)); };
  };
  Pipeline pipeline = {
      {"RemoveUnusedFunctions", 1, [](const Module& m) { return RemoveUnusedFunctions(m); }},
      // Regions that are marked still go where those in functions go.
      {"PartitionGraph", 0, [](const Module& m) { return PartitionGraph(m); }},
      // Kernels are made of one function: whatever can be inlined is.
      {"Inline", 0, [](const Module& m) { return Inline(m, InlineRule::kAll); }},
      Infer(),
      {"FakeQuantizationToInteger", 3,
       [](const Module& m) { return FakeQuantizationToInteger(m); }},
      // Quantised operators have no kernels.
      {"CanonicalizeQnn", 0, [](const Module& m) { return CanonicalizeQnn(m); }},
      {"EmbedComposites", 0, [](const Module& m) { return EmbedComposites(m); }},
      Simplify(),
      {"DeadCodeElimination", 1, [](const Module& m) { return DeadCodeElimination(m); }},
      // Before constants are folded: it calculates with those that are not rounded yet.
      {"FoldAffine", 3, [folding](const Module& m) { return FoldAffine(m, folding); }},
      // Joins of neighbouring additions need to know every one as such.
      {"CanonicalizeOps", 3, typed([](const Module& m) { return CanonicalizeOps(m); })},
      // At every level, as what sums are rounded to decides results. Weights that it casts are
      // constants again when these are folded.
      {"WidenHalfFloats", 0, [](const Module& m) { return WidenHalfFloats(m); }},
      Fold(evaluate),
      // Again, for weights that are constants only now.
      {"FoldAffine", 3, [folding](const Module& m) { return FoldAffine(m, folding); }},
      // Behind FoldAffine, so that weights are rounded with the scales that are folded into them.
      {"ToMixedPrecision", 0,
       if_asked(mixed.has_value(),
                [mixed](const Module& m) {
                  return WidenHalfFloats(ToMixedPrecision(m, {.type = *mixed}));
                }),
       /*keeps_values=*/false},
      {"ConvertLayout", 0,
       if_asked(!layouts.empty(),
                [layouts](const Module& m) { return ConvertLayout(m, layouts); })},
      // Weights that they cast or move.
      {"FoldConstant", 2, if_asked(mixed || !layouts.empty(), Fold(evaluate).function)},
      {"SimplifyExpr", 3, [](const Module& m) { return SimplifyExpr(m); }},
      {"EliminateCommonSubexpr", 3, [](const Module& m) { return EliminateCommonSubexpr(m); }},
      {"FoldExplicitPadding", 3, [](const Module& m) { return FoldExplicitPadding(m); }},
      {"FlattenAtrousConv", 3, [](const Module& m) { return FlattenAtrousConv(m); }},
      {"CombineParallelConv2D", 4, [](const Module& m) { return CombineParallelConv2D(m); }},
      {"CombineParallelDense", 4,
       [](const Module& m) { return CombineParallelDense(m, 3, DenseForm::kFlat); }},
      {"CombineParallelBatchMatmul", 4,
       [](const Module& m) { return CombineParallelBatchMatmul(m); }},
      {"PlanDevices", 0, [](const Module& m) { return PlanDevices(m); }},
      {"FuseOps", 0, [grouping](const Module& m) { return FuseOps(m, grouping); }},
  };
  std::erase_if(pipeline, [](const Pass& pass) { return pass.function == nullptr; });
  return pipeline;
}

namespace {

Pipeline AllPasses(const ConstantEvaluator& evaluate, const FuseOptions& fuse,
                   FoldAffineReport* folding = nullptr) {
  const auto typed = [](auto pass) {
    return [pass](const Module& m) { return InferType(pass(InferType(m))); };
  };
  return {
      Infer(),
      Simplify(),
      {"FoldConstant", 0,
       [evaluate](const Module& m) { return FoldConstant(InferType(m), evaluate); }},
      {"CanonicalizeOps", 0, typed([](const Module& m) { return CanonicalizeOps(m); })},
      {"SimplifyExpr", 0, typed([](const Module& m) { return SimplifyExpr(m); })},
      {"EliminateCommonSubexpr", 0,
       typed([](const Module& m) { return EliminateCommonSubexpr(m); })},
      {"FoldExplicitPadding", 0, typed([](const Module& m) { return FoldExplicitPadding(m); })},
      {"FlattenAtrousConv", 0, typed([](const Module& m) { return FlattenAtrousConv(m); })},
      {"CombineParallelConv2D", 0, typed([](const Module& m) { return CombineParallelConv2D(m); })},
      {"CombineParallelDense", 0, typed([](const Module& m) { return CombineParallelDense(m); })},
      {"CombineParallelBatchMatmul", 0,
       typed([](const Module& m) { return CombineParallelBatchMatmul(m); })},
      {"AlterOpLayout", 0, typed([](const Module& m) { return AlterOpLayout(m); })},
      // Images with channels last, as hardware and libraries for them prefer; `tenon opt --layout`
      // says others.
      {"ConvertLayout", 0, typed([](const Module& m) {
         return ConvertLayout(m, {{"nn.conv2d", {"NHWC"}}});
       })},
      {"CanonicalizeCast", 0, typed([](const Module& m) { return CanonicalizeCast(m); })},
      {"DefuseOps", 0, typed([](const Module& m) { return DefuseOps(m); })},
      {"DivToMul", 0, typed([](const Module& m) { return DivToMul(m); })},
      {"FoldAffine", 0, typed([folding](const Module& m) { return FoldAffine(m, folding); })},
      {"BackwardFoldScaleAxis", 0, typed([](const Module& m) { return BackwardFoldScaleAxis(m); })},
      {"ForwardFoldScaleAxis", 0, typed([](const Module& m) { return ForwardFoldScaleAxis(m); })},
      {"FoldScaleAxis", 0,
       typed([evaluate](const Module& m) { return FoldScaleAxis(m, evaluate); })},
      {"CanonicalizeQnn", 0, [](const Module& m) { return CanonicalizeQnn(InferType(m)); }},
      {"FakeQuantizationToInteger", 0,
       [](const Module& m) { return FakeQuantizationToInteger(InferType(m)); },
       /*keeps_values=*/false},
      {"DeadCodeElimination", 0, [](const Module& m) { return DeadCodeElimination(m); }},
      {"EmbedComposites", 0, [](const Module& m) { return EmbedComposites(InferType(m)); }},
      {"Inline", 0, [](const Module& m) { return Inline(m); }},
      {"MergeCompilerRegions", 0, typed([](const Module& m) { return MergeCompilerRegions(m); })},
      {"MergeCompositeFunctions", 0, [](const Module& m) { return MergeCompositeFunctions(m); }},
      {"PartitionGraph", 0, typed([](const Module& m) { return PartitionGraph(m); })},
      {"RemoveUnusedFunctions", 0, [](const Module& m) { return RemoveUnusedFunctions(m); }},
      {"FuseOps", 0, [fuse](const Module& m) { return FuseOps(InferType(m), fuse); }},
      {"PlanDevices", 0, [](const Module& m) { return PlanDevices(InferType(m)); }},
      {"RewriteAnnotatedOps", 0,
       [](const Module& m) { return RewriteAnnotatedOps(InferType(m), Device()); }},
      {"ToMixedPrecision", 0, [](const Module& m) { return ToMixedPrecision(InferType(m)); },
       /*keeps_values=*/false},
      {"WidenHalfFloats", 0, typed([](const Module& m) { return WidenHalfFloats(m); }),
       /*keeps_values=*/false},
  };
}

}  // namespace

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : AllPasses(nullptr, {})) names.push_back(pass.name);
  return names;
}
std::vector<std::string> ExactPassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : AllPasses(nullptr, {})) {
    if (pass.keeps_values) names.push_back(pass.name);
  }
  return names;
}

Pass FindPass(const std::string& name, const ConstantEvaluator& evaluate, const FuseOptions& fuse,
              FoldAffineReport* folding) {
  for (const Pass& pass : AllPasses(evaluate, fuse, folding)) {
    if (pass.name == name) return pass;
  }
  throw NotFound(StrCat("there is no pass named ", name, "; passes are ",
                        StrJoin(PassNames(), ", "), DidYouMean("; ", name, PassNames())));
}

}  // namespace tenon::passes
