// tenon ops: prints what the registry knows.
#include <cstdio>
#include <memory>
#include <string>

#include "tenon/onnx/import.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/model.h"
#include "tenon/tools/ops_markdown.h"
#include "tenon/tools/option_checks.h"

namespace tenon::tools {
namespace {

struct OpsArguments {
  std::string name;
  int level = 0;
  bool onnx = false;
  bool markdown = false;
  std::vector<std::string> plugins;
};

void PrintList(const ops::OpRegistry& registry, int level) {
  for (const std::string& name : registry.Names()) {
    const ops::OpDef& op = *ops::OpOf(registry.Get(name));
    if (level != 0 && op.support_level != level) continue;
    std::printf("%-28s level %-2d  %s\n", name.c_str(), op.support_level, op.description.c_str());
  }
}

void PrintRow(const std::string& name, int priority) {
  std::printf("    %s%s\n", name.c_str(),
              priority == 0 ? "" : StrCat(" (priority ", priority, ")").c_str());
}

void PrintOne(const ops::OpDef& op) {
  std::printf("%s: %s\n", op.name.c_str(), op.description.c_str());
  std::printf("  %s\n", StrJoin(FactsOf(op), ", ").c_str());
  std::puts("  arguments:");
  for (const ops::ArgumentDoc& argument : op.arguments)
    std::printf("    %-14s %-18s %s\n", argument.name.c_str(), argument.type.c_str(),
                argument.help.c_str());
  if (op.schema != nullptr) {
    std::printf("  attributes (%s):\n", op.schema->name.c_str());
    for (const attrs::FieldInfo& field : op.schema->fields) {
      const std::string value =
          field.is_required ? std::string("required") : "= " + attrs::ToText(field.default_value);
      std::printf("    %-20s %-14s %s: %s%s\n", field.name.c_str(), value.c_str(),
                  field.type.c_str(), field.help.c_str(),
                  field.bounds.empty() ? "" : StrCat(" (", field.bounds, ")").c_str());
    }
  }
  std::puts("  implementations:");
  if (const auto* strategy = op.Column<strategies::Strategy>()) {
    for (const strategies::Implementation& implementation : strategy->implementations)
      PrintRow(implementation.name, implementation.priority);
  }
  if (const auto* compute = op.Column<strategies::TeCompute>()) {
    if (compute->forms.empty()) PrintRow("te", 0);
    for (const strategies::TeForm& form : compute->forms)
      PrintRow(StrCat("te.", form.name), form.priority);
  }
}

void Print(const OpsArguments& arguments) {
  if (arguments.onnx && arguments.markdown) {
    std::fputs(onnx_import::OnnxOpsMarkdown().c_str(), stdout);
    return;
  }
  if (arguments.onnx) {
    for (const std::string& name : onnx_import::SupportedOnnxOps()) std::puts(name.c_str());
    return;
  }
  LoadPlugins(arguments.plugins);
  ops::OpRegistry& registry = ops::OpRegistry::Global();
  strategies::RegisterStrategies(registry);
  if (arguments.markdown) {
    std::fputs(OpsMarkdown(registry).c_str(), stdout);
  } else if (arguments.name.empty()) {
    PrintList(registry, arguments.level);
  } else {
    PrintOne(*ops::OpOf(registry.Get(arguments.name)));
  }
}

}  // namespace

void AddOpsCommand(CLI::App* command) {
  const auto arguments = std::make_shared<OpsArguments>();
  command->add_option("name", arguments->name, "an operator, for instance nn.conv2d");
  command->add_option("--level", arguments->level, "only operators of this support level")
      ->check(WholeNumber(1, 11));
  command->add_flag("--onnx", arguments->onnx, "the ONNX operators that can be imported");
  command->add_flag("--markdown", arguments->markdown,
                    "every operator in full, as in docs/operators.md; with --onnx, the limits of "
                    "ONNX operators, as in docs/onnx.md");
  command->add_option("--plugin", arguments->plugins, "shared object that registers operators")
      ->type_name("FILE.so");
  command->callback([arguments] { Print(*arguments); });
}

}  // namespace tenon::tools
