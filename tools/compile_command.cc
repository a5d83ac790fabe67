// tenon compile: shows a model on its way to machine code.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include "tenon/ir/text_format.h"
#include "tenon/jit/kernel.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/model.h"

namespace tenon::tools {
namespace {

struct EmitArguments {
  ModelArguments model;
  CompileArguments compile;
  std::string emit = "fused";
  std::string output = "-";
  bool explain = false;
};

std::string WithTitle(const LoweredKernel& kernel, const std::string& text) {
  return StrCat("// ", kernel.name, " [", kernel.choice.implementation, "]\n", text,
                text.ends_with('\n') ? "\n" : "\n\n");
}

// A library's kernel has no text of ours.
std::string KernelTexts(const Lowered& lowered, const EmitArguments& arguments) {
  std::string text;
  for (const LoweredKernel& kernel : lowered.kernels) {
    if (arguments.emit == "te") {
      const auto function = strategies::LowerFunction(*kernel.function.As<ir::FunctionNode>());
      text += WithTitle(kernel, te::Print(function.outputs));
      continue;
    }
    const auto* loops = std::get_if<loop::Function>(&kernel.choice.built.kernel);
    if (loops == nullptr) {
      const auto& callable =
          std::get<std::shared_ptr<const jit::Callable>>(kernel.choice.built.kernel);
      text += WithTitle(kernel, StrCat("// ", callable->implementation()));
      continue;
    }
    const jit::Kernel compiled =
        ValueOrThrow(jit::Compile(*loops, {.cpu_features = arguments.compile.cpu_features}));
    text += WithTitle(kernel, arguments.emit == "loops"  ? compiled.Loops()
                              : arguments.emit == "llvm" ? compiled.LlvmIr()
                                                         : compiled.Assembly());
  }
  return text;
}

std::string Emit(const EmitArguments& arguments) {
  const ir::Module module = LoadModel(arguments.model);
  if (arguments.emit == "graph")
    return ir::PrintModule(passes::InferType(module), {.metadata = false});
  const Lowered lowered = ValueOrThrow(Lower(module, arguments.compile.Options()));
  if (arguments.explain) {
    for (const LoweredKernel& kernel : lowered.kernels)
      std::cerr << kernel.name << "\n" << kernel.choice.explanation;
  }
  if (arguments.emit == "fused") return ir::PrintModule(lowered.module, {.metadata = false});
  if (arguments.emit == "json") return runtime::ToGraphJson(lowered.plan) + "\n";
  return KernelTexts(lowered, arguments);
}

void Write(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return;
  }
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw NotFound(StrCat("the file ", path, " cannot be written"));
}

}  // namespace

void AddCompileCommand(CLI::App* app) {
  const auto arguments = std::make_shared<EmitArguments>();
  CLI::App* command =
      app->add_subcommand("compile", "Show a model at a stage on its way to machine code");
  arguments->model.AddTo(command);
  arguments->compile.AddTo(command);
  command
      ->add_option("--emit", arguments->emit,
                   "graph: as imported; fused: after the passes; te: tensor expressions; loops; "
                   "llvm; asm; json: the plan")
      ->check(CLI::IsMember({"graph", "fused", "te", "loops", "llvm", "asm", "json"}))
      ->capture_default_str();
  command->add_option("-o,--out", arguments->output, "file to write; - for standard output")
      ->capture_default_str();
  command->add_flag("--explain", arguments->explain,
                    "say on standard error which implementations were weighed, and why");
  command->footer("Example:\n  tenon compile model.onnx --shape x=1,3,48,192 --emit=llvm -o m.ll");
  command->callback([arguments] { Write(arguments->output, Emit(*arguments)); });
}

}  // namespace tenon::tools
