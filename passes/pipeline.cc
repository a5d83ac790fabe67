#include "tenon/passes/pipeline.h"

#include "tenon/passes/canonicalize_qnn.h"
#include "tenon/passes/dead_code.h"
#include "tenon/passes/fold_scale_axis.h"
#include "tenon/passes/fuse_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/inline.h"
#include "tenon/passes/simplify_inference.h"
#include "tenon/passes/to_mixed_precision.h"
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

Pipeline DefaultPipeline(const ConstantEvaluator& evaluate, int opt_level) {
  return {
      {"RemoveUnusedFunctions", 1, [](const Module& m) { return RemoveUnusedFunctions(m); }},
      // Kernels are made of one function: whatever can be inlined is.
      {"Inline", 0, [](const Module& m) { return Inline(m, InlineRule::kAll); }},
      Infer(),
      // Quantised operators have no kernels.
      {"CanonicalizeQnn", 0, [](const Module& m) { return CanonicalizeQnn(m); }},
      Simplify(),
      {"DeadCodeElimination", 1, [](const Module& m) { return DeadCodeElimination(m); }},
      Fold(evaluate),
      {"FoldScaleAxis", 3,
       [evaluate](const Module& m) { return FoldConstant(FoldScaleAxis(m), evaluate); }},
      {"FuseOps", 0,
       [opt_level](const Module& m) { return FuseOps(m, {.group = opt_level >= 1}); }},
  };
}

namespace {

Pipeline AllPasses(const ConstantEvaluator& evaluate) {
  const auto typed = [](auto pass) {
    return [pass](const Module& m) { return InferType(pass(InferType(m))); };
  };
  return {
      Infer(),
      Simplify(),
      {"FoldConstant", 0,
       [evaluate](const Module& m) { return FoldConstant(InferType(m), evaluate); }},
      {"CanonicalizeQnn", 0, [](const Module& m) { return CanonicalizeQnn(InferType(m)); }},
      {"FoldScaleAxis", 0, typed([](const Module& m) { return FoldScaleAxis(m); })},
      {"DeadCodeElimination", 0, [](const Module& m) { return DeadCodeElimination(m); }},
      {"Inline", 0, [](const Module& m) { return Inline(m); }},
      {"RemoveUnusedFunctions", 0, [](const Module& m) { return RemoveUnusedFunctions(m); }},
      {"FuseOps", 0, [](const Module& m) { return FuseOps(InferType(m)); }},
      {"ToMixedPrecision", 0, [](const Module& m) { return ToMixedPrecision(InferType(m)); },
       /*keeps_values=*/false},
  };
}

}  // namespace

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : AllPasses(nullptr)) names.push_back(pass.name);
  return names;
}
std::vector<std::string> ExactPassNames() {
  std::vector<std::string> names;
  for (const Pass& pass : AllPasses(nullptr)) {
    if (pass.keeps_values) names.push_back(pass.name);
  }
  return names;
}

Pass FindPass(const std::string& name, const ConstantEvaluator& evaluate) {
  for (const Pass& pass : AllPasses(evaluate)) {
    if (pass.name == name) return pass;
  }
  throw NotFound(StrCat("there is no pass named ", name, "; passes are ",
                        StrJoin(PassNames(), ", "), DidYouMean("; ", name, PassNames())));
}

}  // namespace tenon::passes
