// tenon opt: runs passes over a model and prints the result as Relay or Relax text.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tenon/compiler/named_passes.h"
#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/passes/pass_manager.h"
#include "tenon/passes/pass_registry.h"
#include "tenon/passes/pipeline.h"
#include "tenon/relax/text_format.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/explain.h"
#include "tenon/tools/model.h"
#include "tenon/tools/option_checks.h"

namespace tenon::tools {
namespace {

struct OptArguments {
  ModelArguments model;
  std::vector<std::string> passes, disabled, required;
  std::optional<int> opt_level;  // without it, what is named runs
  std::vector<std::string> layouts;
  std::vector<std::string> codegens;
  bool timing = false;
  bool dump = false;
  bool no_metadata = false;
  std::string print;  // empty: as the model was written
  std::string fusion = "relay";
  std::string explain;  // empty, "text" or "json"
};

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
  PassDecisions decisions;
  const passes::FuseOptions fuse{.mode = ParseFusion(arguments.fusion),
                                 .report = arguments.explain.empty() ? nullptr : &decisions.fusion};
  passes::PassArguments defaults = DefaultPassArguments();
  defaults.fuse = fuse;
  defaults.folding = &decisions.folding;
  defaults.generators = arguments.codegens;
  if (!arguments.layouts.empty()) defaults.layouts.clear();
  for (const std::string& layout : arguments.layouts)
    passes::AddDesiredLayout(layout, &defaults.layouts);
  passes::Pipeline pipeline = passes::ParsePipeline(StrJoin(arguments.passes, ","), defaults);
  if (arguments.opt_level) {
    for (passes::Pass& pass : pipeline)
      pass.min_opt_level = std::max(pass.min_opt_level, passes::LevelOf(pass.name));
  }
  passes::PassReport report;
  passes::PassContext context{.opt_level = arguments.opt_level.value_or(4),
                              .required = arguments.required,
                              .disabled = arguments.disabled,
                              .verify = true,
                              .report = &report};
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

void AddOptCommand(CLI::App* command) {
  const auto arguments = std::make_shared<OptArguments>();
  arguments->model.AddTo(command);
  RegisterNamedPasses();
  command
      ->add_option("--passes", arguments->passes,
                   StrCat("in order, some with options: ", passes::PassRegistry::Global().Help()))
      ->allow_extra_args(false)
      ->type_name("PASS,PASS{OPTION}");
  command
      ->add_option("--opt-level", arguments->opt_level,
                   "leave out passes of --passes that the compiler runs from a higher level on")
      ->check(WholeNumber(0, 4));
  command->add_option("--disable-pass", arguments->disabled, "pass of --passes to leave out")
      ->type_name("PASS");
  command->add_option("--require-pass", arguments->required, "pass of --passes to run at any level")
      ->type_name("PASS");
  command
      ->add_option("--layout", arguments->layouts,
                   "what ConvertLayout makes without options (nn.conv2d=NHWC); the kernel's layout "
                   "is one that goes "
                   "with it when it is not given")
      ->type_name("OPERATOR=DATA[:KERNEL]");
  command
      ->add_option(
          "--codegen", arguments->codegens,
          "a code generator that AnnotateTarget and FuseOpsByPattern ask without options, the "
          "first that takes a call: dnnl, one of a plug-in, or any name with the operators that it "
          "takes")
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
  command->footer(
      "Example:\n  tenon opt module.relay --passes=InferType,FuseOps{extended}\n"
      "  tenon opt module.py --passes=BindParams{params.npz},FuseOpsByPattern{dnnl}");
  command->callback([arguments] { Optimize(*arguments); });
}

}  // namespace tenon::tools
