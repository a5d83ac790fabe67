#include "tenon/passes/pipeline.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tenon/passes/pass_table.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

// A step, the condition under which it runs, and how its arguments differ from those of a run by
// name.
struct Step {
  std::string_view pass;
  int min_opt_level;
  // Empty: always.
  std::string_view when;
  // The reason for its place. Empty if any place will do.
  std::string_view why;
  // Null: always.
  bool (*asked)(const PipelineOptions& options) = nullptr;
  void (*adjust)(PassArguments* arguments) = nullptr;
};

bool AsksForPrecision(const PipelineOptions& options) {
  return options.mixed_precision.has_value();
}
bool AsksForLayouts(const PipelineOptions& options) { return !options.layouts.empty(); }
bool AsksForEither(const PipelineOptions& options) {
  return AsksForPrecision(options) || AsksForLayouts(options);
}

constexpr std::string_view kIfPrecision = "mixed precision is asked for";
constexpr std::string_view kIfLayouts = "layouts are asked for";
constexpr std::string_view kIfEither = "either of these ran";

constexpr std::array kSteps = {
    Step{"RemoveUnusedFunctions", 1, "", ""},
    Step{"ReferencesToValues", 0, "", "arguments of calls are evaluated before their bodies"},
    Step{"PartitionGraph", 0, "", "marked regions go where those in functions go"},
    Step{"Inline", 0, "", "kernels are made of one function: whatever can be inlined is", nullptr,
         [](PassArguments* a) { a->inline_rule = InlineRule::kAll; }},
    Step{"NameRunTimeExtents", 0, "", "of functions that are called twice, each call has its own"},
    Step{"InferType", 0, "", ""},
    Step{"OutlineBranches", 0, "", "what follows sees straight-line code"},
    Step{"FakeQuantizationToInteger", 3, "", "makes quantised operators"},
    Step{"CanonicalizeQnn", 0, "", "quantised operators have no kernels"},
    Step{"EmbedComposites", 0, "", ""},
    Step{"Legalize", 1, "", "operators are still whole"},
    Step{"SimplifyInference", 0, "", ""},
    Step{"DeadCodeElimination", 1, "", ""},
    Step{"FoldAffine", 3, "", "before FoldConstant: it computes with factors that are not rounded"},
    Step{"CanonicalizeOps", 3, "", "joins of neighbouring additions must see each as one"},
    Step{"WidenHalfFloats", 0, "", "at every level: the type of sums decides results"},
    Step{"FoldConstant", 2, "", "casts of weights among them"},
    Step{"FoldAffine", 3, "", "weights that are constants only now"},
    Step{"ToMixedPrecision", 0, kIfPrecision, "rounds weights with the scales folded into them",
         AsksForPrecision},
    Step{"WidenHalfFloats", 0, kIfPrecision, "sums that ToMixedPrecision made", AsksForPrecision},
    Step{"ConvertLayout", 0, kIfLayouts, "", AsksForLayouts},
    Step{"FoldConstant", 2, kIfEither, "weights that they cast or moved", AsksForEither},
    Step{"SimplifyExpr", 3, "", ""},
    Step{"EliminateCommonSubexpr", 3, "", ""},
    Step{"FoldExplicitPadding", 3, "", ""},
    Step{"FlattenAtrousConv", 3, "", ""},
    Step{"DropPaddedTaps", 3, "", "FlattenAtrousConv makes dilations"},
    Step{"CombineParallelConv2D", 4, "", ""},
    Step{"CombineParallelDense", 4, "", "", nullptr,
         [](PassArguments* a) { a->dense_form = DenseForm::kFlat; }},
    Step{"CombineParallelBatchMatmul", 4, "", ""},
    Step{"PlanDevices", 0, "", ""},
    Step{"FuseOps", 0, "", "level 0 makes each call a kernel of its own"},
};

// The levels of passes that run only by name and are algebra, or combine branches.
constexpr std::array<std::pair<std::string_view, int>, 7> kOtherLevels = {
    {{"AlterOpLayout", 3},
     {"BackwardFoldScaleAxis", 3},
     {"CanonicalizeCast", 3},
     {"CombineParallelOpBatch", 4},
     {"FastMath", 4},
     {"FoldScaleAxis", 3},
     {"ForwardFoldScaleAxis", 3}}};

template <typename Condition>
std::vector<std::string> NamesOf(const Condition& condition) {
  std::vector<std::string> names;
  for (const PassRow& row : PassTable()) {
    if (condition(row)) names.emplace_back(row.name);
  }
  return names;
}

}  // namespace

Pipeline DefaultPipeline(const ConstantEvaluator& evaluate, int opt_level,
                         const PipelineOptions& options) {
  PassArguments arguments{.evaluate = evaluate,
                          .fuse = options.fuse,
                          .folding = options.folding,
                          .target = options.target};
  arguments.fuse.group = options.fuse.group && opt_level >= 1;
  if (AsksForPrecision(options)) arguments.mixed_type = *options.mixed_precision;
  if (AsksForLayouts(options)) arguments.layouts = options.layouts;
  Pipeline pipeline;
  for (const Step& step : kSteps) {
    if (step.asked != nullptr && !step.asked(options)) continue;
    PassArguments adjusted = arguments;
    if (step.adjust != nullptr) step.adjust(&adjusted);
    pipeline.push_back(MakePass(*FindRow(step.pass), adjusted, step.min_opt_level));
  }
  return pipeline;
}

int LevelOf(std::string_view pass) {
  if (const auto step = std::ranges::find(kSteps, pass, &Step::pass); step != kSteps.end())
    return step->min_opt_level;
  for (const auto& [name, level] : kOtherLevels) {
    if (name == pass) return level;
  }
  return 0;
}

std::string PassesMarkdown() {
  std::string text =
      "| from level | pass | what it does | needs | ensures | when, and why here |\n"
      "|---|---|---|---|---|---|\n";
  for (const Step& step : kSteps) {
    const PassRow& row = *FindRow(step.pass);
    const std::string when = step.when.empty() ? "" : StrCat("if ", step.when);
    StrAppend(&text, "| ", step.min_opt_level, " | ", row.name, " | ", row.summary, " | ",
              ToText(row.needs), " | ", ToText(row.makes), " | ", when,
              when.empty() || step.why.empty() ? "" : "; ", step.why, " |\n");
  }
  StrAppend(&text,
            "\nThese run by name alone:\n\n| pass | what it does | needs | ensures |\n"
            "|---|---|---|---|\n");
  for (const PassRow& row : PassTable()) {
    if (std::ranges::find(kSteps, row.name, &Step::pass) != kSteps.end()) continue;
    StrAppend(&text, "| ", row.name, " | ", row.summary, " | ", ToText(row.needs), " | ",
              ToText(row.makes), " |\n");
  }
  StrAppend(&text, "\nThese see ifs as they are: ",
            StrJoin(NamesOf([](const PassRow& row) { return row.flow == Flow::kWhole; }), ", "),
            ".\nAll others see straight-line code: where a module has ifs, they run between "
            "OutlineBranches and RestoreBranches.\n");
  return text;
}

std::vector<std::string> PassNames() {
  return NamesOf([](const PassRow&) { return true; });
}
std::vector<std::string> ExactPassNames() {
  return NamesOf([](const PassRow& row) { return row.values == Values::kKept; });
}

Pass FindPass(const std::string& name, const ConstantEvaluator& evaluate, const FuseOptions& fuse,
              FoldAffineReport* folding) {
  if (const PassRow* row = FindRow(name))
    return MakePass(*row, {.evaluate = evaluate, .fuse = fuse, .folding = folding});
  throw NotFound(StrCat("there is no pass named ", name, "; passes are ",
                        StrJoin(PassNames(), ", "), DidYouMean("; ", name, PassNames())));
}

}  // namespace tenon::passes
