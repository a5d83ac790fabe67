// tenon opt: runs passes over a model and prints the result as Relay or Relax text.
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "tenon/compiler/code_generator.h"
#include "tenon/compiler/partition_onednn.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/partition/annotate_target.h"
#include "tenon/passes/pattern/fuse_ops_by_pattern.h"
#include "tenon/passes/pipeline.h"
#include "tenon/relax/text_format.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/explain.h"
#include "tenon/tools/model.h"

namespace tenon::tools {
namespace {

struct OptArguments {
  ModelArguments model;
  std::vector<std::string> passes;
  std::vector<std::string> layouts;
  std::vector<std::string> codegens;
  bool timing = false;
  bool dump = false;
  bool no_metadata = false;
  std::string print;  // empty: as the model was written
  std::string fusion = "relay";
  std::string explain;  // empty, "text" or "json"
};

// Passes that ask a code generator are in a layer above the table of passes.
constexpr char kAnnotate[] = "AnnotateTarget";
constexpr char kFuseByPattern[] = "FuseOpsByPattern";
constexpr char kPartition[] = "PartitionForOneDnn";
constexpr char kConvert[] = "ConvertLayout";

// Parses a value of --codegen: a generator that is registered, or the name and operators of
// another one.
passes::CodeGenerator ParseCodegen(const std::string& text) {
  if (text.find('=') == std::string::npos) return CodeGeneratorRegistry::Global().AnnotatorOf(text);
  const auto [name, operators] = SplitAssignment(text, "--codegen");
  std::set<std::string> known;
  for (std::size_t begin = 0; begin <= operators.size();) {
    const std::size_t end = std::min(operators.find(',', begin), operators.size());
    const std::string op = operators.substr(begin, end - begin);
    ops::OpRegistry::Global().Get(op);  // throws for an unknown operator
    known.insert(op);
    begin = end + 1;
  }
  return {name, [known](const ir::Expr& call) {
            return known.contains(call.As<ir::CallNode>()->op()->name);
          }};
}

passes::Pass FindAnnotate(const std::vector<std::string>& codegens) {
  if (codegens.empty())
    throw InvalidArgument(StrCat(kAnnotate, " needs --codegen=", kOneDnnName,
                                 " or --codegen=NAME=OPERATOR,OPERATOR"));
  std::vector<passes::CodeGenerator> generators;
  for (const std::string& text : codegens) generators.push_back(ParseCodegen(text));
  return {kAnnotate, 0, [generators](const ir::Module& m) {
            return passes::AnnotateTarget(passes::InferType(m), generators);
          }};
}

// Those of the registered generators that are named; oneDNN's where there is none.
std::vector<passes::FusionPattern> PatternsOf(const std::vector<std::string>& codegens) {
  std::vector<passes::FusionPattern> patterns;
  const auto add = [&](const std::string& name) {
    for (passes::FusionPattern& pattern : CodeGeneratorRegistry::Global().PatternsOf(name))
      patterns.push_back(std::move(pattern));
  };
  for (const std::string& text : codegens) {
    if (text.find('=') == std::string::npos) add(text);
  }
  if (patterns.empty()) add(kOneDnnName);
  return patterns;
}

passes::Pass FindPass(const std::string& name, const passes::FuseOptions& fuse,
                      passes::FoldAffineReport* folding, const OptArguments& arguments) {
  if (name == kPartition) return {name, 0, PartitionForOneDnn};
  if (name == kAnnotate) return FindAnnotate(arguments.codegens);
  if (name == kFuseByPattern) {
    const auto patterns = PatternsOf(arguments.codegens);
    return {name, 0,
            [patterns](const ir::Module& m) { return passes::FuseOpsByPattern(m, patterns); }};
  }
  if (name == kConvert && !arguments.layouts.empty()) {
    passes::DesiredLayouts desired;
    for (const std::string& layout : arguments.layouts) passes::AddDesiredLayout(layout, &desired);
    return {name, 0, [desired](const ir::Module& m) {
              return passes::ConvertLayout(passes::InferType(m), desired);
            }};
  }
  return passes::FindPass(name, strategies::EvaluateCall, fuse, folding);
}

// The module in the language that is asked for.
std::string TextOf(const ir::Module& module, const OptArguments& arguments, bool metadata) {
  const bool is_relax = arguments.print.empty()
                            ? module.operator_names() == ir::OperatorNames::kRelax
                            : arguments.print == "relax";
  return is_relax ? relax::PrintRelax(module, {.metadata = metadata})
                  : ir::PrintModule(module, {.metadata = metadata});
}

void Optimize(const OptArguments& arguments) {
  const ir::Module module = LoadModel(arguments.model).module;
  passes::Pipeline pipeline;
  PassDecisions decisions;
  const passes::FuseOptions fuse{.mode = ParseFusion(arguments.fusion),
                                 .report = arguments.explain.empty() ? nullptr : &decisions.fusion};
  for (const std::string& name : arguments.passes)
    pipeline.push_back(FindPass(name, fuse, &decisions.folding, arguments));
  passes::PassReport report;
  passes::PassContext context{.verify = true, .report = &report};
  if (arguments.dump)
    context.dump = [&](const std::string& pass, const ir::Module& changed) {
      std::cerr << "// after " << pass << "\n" << TextOf(changed, arguments, false);
    };
  const ir::Module result = passes::RunPasses(pipeline, module, context);
  std::cout << TextOf(result, arguments, !arguments.no_metadata) << std::flush;
  if (!arguments.explain.empty())
    std::cerr << (arguments.explain == "json" ? ExplainJson(decisions) : ExplainText(decisions));
  if (arguments.timing) {
    for (const passes::PassRecord& record : report)
      std::cerr << record.name << ": " << static_cast<double>(record.nanoseconds) * 1e-6 << " ms"
                << (record.changed ? "" : ", no change") << "\n";
  }
}

}  // namespace

void AddOptCommand(CLI::App* app) {
  const auto arguments = std::make_shared<OptArguments>();
  CLI::App* command = app->add_subcommand("opt", "Run passes over a module and print the result");
  arguments->model.AddTo(command);
  command
      ->add_option("--passes", arguments->passes,
                   StrCat("in order: ", StrJoin(passes::PassNames(), ", "), ", ", kAnnotate, ", ",
                          kFuseByPattern, " (patterns of --codegen), ", kPartition))
      ->delimiter(',')
      ->type_name("PASS,PASS");
  command
      ->add_option(
          "--layout", arguments->layouts,
          "what ConvertLayout makes (nn.conv2d=NHWC); the kernel's layout is one that goes "
          "with it when it is not given")
      ->type_name("OPERATOR=DATA[:KERNEL]");
  command
      ->add_option(
          "--codegen", arguments->codegens,
          "a code generator that AnnotateTarget asks, the first that takes a call: dnnl, one "
          "of a plug-in, or any name with the operators that it takes")
      ->allow_extra_args(false)
      ->type_name("NAME[=OPERATOR,OPERATOR]");
  command->add_flag("--timing", arguments->timing, "time of each pass, on standard error");
  command->add_flag("--dump", arguments->dump,
                    "the module after each pass that changed it, on standard error");
  command->add_flag("--no-metadata", arguments->no_metadata, "leave out the bytes of constants");
  command
      ->add_option("--print", arguments->print,
                   "the text of the result: relay or relax; the model's own if it is one of them")
      ->check(CLI::IsMember({"relay", "relax"}));
  command->add_option("--fusion", arguments->fusion, "how FuseOps groups")
      ->check(CLI::IsMember({"relay", "extended"}))
      ->capture_default_str();
  command
      ->add_flag(
          "--explain{text}", arguments->explain,
          "say on standard error what FoldAffine left and why, and why FuseOps fused each edge "
          "or not; --explain=json")
      ->check(CLI::IsMember({"text", "json"}));
  command->footer("Example:\n  tenon opt module.relay --passes=InferType,FuseOps");
  command->callback([arguments] { Optimize(*arguments); });
}

}  // namespace tenon::tools
