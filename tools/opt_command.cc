// tenon opt: runs passes over Relay text and prints the result.
#include <iostream>
#include <memory>
#include <string>

#include "tenon/compiler/partition_onednn.h"
#include "tenon/ir/text_format.h"
#include "tenon/passes/convert_layout.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/pipeline.h"
#include "tenon/strategies/lower_function.h"
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
  bool timing = false;
  bool dump = false;
  bool no_metadata = false;
  std::string fusion = "relay";
  std::string explain;  // empty, "text" or "json"
};

// The pass that asks a code generator lives above the table of passes.
constexpr char kPartition[] = "PartitionForOneDnn";
constexpr char kConvert[] = "ConvertLayout";

passes::Pass FindPass(const std::string& name, const passes::FuseOptions& fuse,
                      passes::FoldAffineReport* folding, const std::vector<std::string>& layouts) {
  if (name == kPartition) return {name, 0, PartitionForOneDnn};
  if (name == kConvert && !layouts.empty()) {
    passes::DesiredLayouts desired;
    for (const std::string& layout : layouts) passes::AddDesiredLayout(layout, &desired);
    return {name, 0, [desired](const ir::Module& m) {
              return passes::ConvertLayout(passes::InferType(m), desired);
            }};
  }
  return passes::FindPass(name, strategies::EvaluateCall, fuse, folding);
}

void Optimize(const OptArguments& arguments) {
  const ir::Module module = LoadModel(arguments.model);
  passes::Pipeline pipeline;
  PassDecisions decisions;
  const passes::FuseOptions fuse{.mode = ParseFusion(arguments.fusion),
                                 .report = arguments.explain.empty() ? nullptr : &decisions.fusion};
  for (const std::string& name : arguments.passes)
    pipeline.push_back(FindPass(name, fuse, &decisions.folding, arguments.layouts));
  passes::PassReport report;
  passes::PassContext context{.verify = true, .report = &report};
  const ir::PrintOptions print{.metadata = !arguments.no_metadata};
  if (arguments.dump)
    context.dump = [&](const std::string& pass, const ir::Module& changed) {
      std::cerr << "// after " << pass << "\n" << ir::PrintModule(changed, {.metadata = false});
    };
  const ir::Module result = passes::RunPasses(pipeline, module, context);
  std::cout << ir::PrintModule(result, print) << std::flush;
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
                   "in order: " + StrJoin(passes::PassNames(), ", ") + ", " + kPartition)
      ->delimiter(',')
      ->type_name("PASS,PASS");
  command
      ->add_option(
          "--layout", arguments->layouts,
          "what ConvertLayout makes (nn.conv2d=NHWC); the kernel's layout is one that goes "
          "with it when it is not given")
      ->type_name("OPERATOR=DATA[:KERNEL]");
  command->add_flag("--timing", arguments->timing, "time of each pass, on standard error");
  command->add_flag("--dump", arguments->dump,
                    "the module after each pass that changed it, on standard error");
  command->add_flag("--no-metadata", arguments->no_metadata, "leave out the bytes of constants");
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
