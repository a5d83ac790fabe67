// tenon compile: shows a model on its way to machine code, or exports it.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/compiler/export.h"
#include "tenon/compiler/lower_program.h"
#include "tenon/compiler/save_executable.h"
#include "tenon/ir/text_format.h"
#include "tenon/jit/c/c_reference.h"
#include "tenon/loop/pipeline.h"
#include "tenon/onnx/export.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/explain.h"
#include "tenon/tools/fill_cache.h"
#include "tenon/tools/kernel_texts.h"
#include "tenon/tools/loop_steps.h"
#include "tenon/tools/lowered_model.h"
#include "tenon/tools/model.h"

namespace tenon::tools {
namespace {

struct EmitArguments {
  ModelArguments model;
  CompileArguments compile;
  std::string emit;  // empty: as the ending of the output says
  std::string output = "-";
  std::string after;  // a step of the loop pipeline; empty: the last
  std::string dump_folder;
  std::string explain;         // empty, "text" or "json"
  std::string form = "tenon";  // of C source
  ExportOptions exported;
};

constexpr char kExecutable[] = "executable";
constexpr char kCache[] = "cache";

// What the endings of files stand for when --emit is not given.
constexpr std::pair<const char*, const char*> kEndings[] = {
    {".so", "so"},     {".o", "o"},         {".c", "c"},       {".ll", "llvm"},  {".s", "asm"},
    {".json", "json"}, {".relay", "fused"}, {".txt", "fused"}, {".onnx", "onnx"}};

// The stage or the kind of export: a value of --emit, "so" or "o".
std::string WhatToMake(const EmitArguments& arguments) {
  if (!arguments.after.empty() && arguments.emit != "loops")
    throw InvalidArgument("--after shows loops; give --emit=loops as well");
  const std::string& output = arguments.output;
  const std::string ending = std::filesystem::path(output).extension();
  if (!arguments.emit.empty()) {
    if (ending == ".so" || ending == ".o")
      throw InvalidArgument(StrCat("-o ", output, " asks for machine code and --emit=",
                                   arguments.emit, " for text; give one of them"));
    return arguments.emit;
  }
  if (output == "-") return "fused";
  for (const auto& [known, what] : kEndings) {
    if (ending == known) return what;
  }
  throw InvalidArgument(StrCat(
      "-o ", output, ": the file's ending does not say what to make; it may be ",
      StrJoin(kEndings, ", ", [](std::string* text, const auto& e) { StrAppend(text, e.first); }),
      ", or say --emit"));
}

void Write(const std::string& path, const std::string& text) {
  if (path == "-") {
    std::cout << text << std::flush;
    return;
  }
  WriteFile(path, {text});
}

// The values of --emit that show kernels.
constexpr std::pair<const char*, jit::KernelText> kKernelTexts[] = {
    {"te", jit::KernelText::kTensorExpressions},
    {"schedule", jit::KernelText::kSchedule},
    {"loops", jit::KernelText::kLoops},
    {"llvm", jit::KernelText::kLlvmIr},
    {"asm", jit::KernelText::kAssembly}};

// Whether it needs no plan, which programs and some models of symbolic extents do not have.
bool ShowsKernels(const std::string& stage) {
  return stage == "fused" ||
         std::ranges::any_of(kKernelTexts, [&](const auto& known) { return stage == known.first; });
}

std::string WithTitle(const std::string& name, const LoweredKernel& kernel,
                      const std::string& text) {
  return StrCat("// ", name, " [", kernel.choice.implementation, "]\n", text,
                text.ends_with('\n') ? "\n" : "\n\n");
}

// At the last state of that kind, or the loops after a step.
std::string KernelTexts(const Lowered& lowered, jit::KernelText kind, const LoopSteps& steps,
                        const jit::CompileOptions& code) {
  std::string text;
  for (const LoweredKernel& kernel : lowered.kernels) {
    if (const std::string library = LibraryCode(kernel); !library.empty())
      text += WithTitle(kernel.name, kernel, StrCat("// ", library));
    for (const loop::Function& part : GeneratedParts(kernel))
      text +=
          WithTitle(part.name, kernel,
                    steps.ShowsAStep() ? steps.LoopsAfter(part.name) : PartText(part, kind, code));
  }
  return text;
}

std::string Text(const LoweredModel& made, const EmitArguments& arguments, const std::string& stage,
                 const LoopSteps& steps, const jit::CompileOptions& code) {
  const Lowered& lowered = made.program.whole;
  if (stage == "c" && made.is_program)
    return ValueOrThrow(CSource(made.program, arguments.exported));
  if (stage == "fused") return ir::PrintModule(lowered.module, {.metadata = false});
  if (stage == "json") return runtime::ToGraphJson(lowered.plan) + "\n";
  if (stage == "c")
    return ValueOrThrow(arguments.form == "reference"
                            ? ReferenceCSource(lowered, arguments.exported)
                            : CSource(lowered, arguments.exported));
  for (const auto& [name, kind] : kKernelTexts) {
    if (stage == name) return KernelTexts(lowered, kind, steps, code);
  }
  Unreachable("every value of --emit makes a text");
}

// Throws if `status` is not a success.
void Require(const absl::Status& status) {
  if (!status.ok()) throw FromStatus(status);
}

bool IsExport(std::string_view what) {
  return what == "so" || what == "o" || what == "c" || what == kExecutable;
}

void RequireExportable(const CompileArguments& compile) {
  if (compile.library == "onednn")
    throw InvalidArgument(
        "an export stands alone and cannot hold oneDNN's kernels; use --library te");
  if (compile.check_bounds)
    throw InvalidArgument("an export does not check its bounds; leave out --check-bounds");
}

// Lower leaves the last phase to those who make code.
void ObserveLastPhase(const Lowered& lowered, jit::CompileOptions code,
                      const loop::PipelineObserver& observer) {
  code.pipeline.observer = observer;
  for (const LoweredKernel& kernel : lowered.kernels) {
    for (const loop::Function& part : GeneratedParts(kernel))
      ValueOrThrow(jit::FinalLoops(part, code));
  }
}

LoweringOf GoalOf(const EmitArguments& arguments, const std::string& what) {
  if (ShowsKernels(what)) return LoweringOf::kKernels;
  const bool is_c = what == "c" && arguments.form != "reference";
  const bool is_written =
      is_c || what == kExecutable || what == kCache || what == "so" || what == "o";
  return is_written ? LoweringOf::kWritten : LoweringOf::kPlan;
}

void Make(EmitArguments arguments) {
  const std::string what = WhatToMake(arguments);
  if (what == kExecutable && arguments.output == "-")
    throw InvalidArgument("--emit=executable makes a folder; name it with -o");
  if (IsExport(what)) {
    RequireExportable(arguments.compile);
    arguments.compile.library = "te";  // every kernel of an export is generated
  }
  arguments.exported.target = jit::HostTarget(arguments.compile.cpu_features);
  arguments.exported.reproducible = arguments.compile.reproducible;
  arguments.compile.WarnOfCache();
  const LoweringOf goal = GoalOf(arguments, what);
  arguments.model.control_flow = what == "graph" || goal != LoweringOf::kPlan;
  LoadedModel model = LoadModel(arguments.model);
  const ir::Module module = arguments.compile.Partitioned(model.module);
  if (what == "graph") {
    Write(arguments.output, ir::PrintModule(passes::InferType(module), {.metadata = false}));
    return;
  }
  if (what == "onnx") {
    Write(arguments.output, ValueOrThrow(onnx_export::ExportOnnx(module)));
    return;
  }
  PassDecisions decisions;
  LoopSteps steps(arguments.after, arguments.dump_folder);
  CompileOptions options = arguments.compile.Options();
  options.loop_observer = steps.Observer();
  options.fusion_report = &decisions.fusion;
  options.folding_report = &decisions.folding;
  const LoweredModel made = LowerModel(module, goal, options);
  const LoweredProgram& program = made.program;
  const Lowered& lowered = program.whole;
  if (arguments.explain == "text") std::cerr << ExplainText(lowered, options.target, decisions);
  if (arguments.explain == "json") std::cerr << ExplainJson(lowered, options.target, decisions);
  const jit::CompileOptions code = {.target = arguments.exported.target,
                                    .reassociate_reductions = what != "c",
                                    .reproducible = options.reproducible,
                                    .check_bounds = arguments.compile.check_bounds,
                                    .cache_dir = arguments.compile.CacheFolder()};
  if (options.loop_observer) {
    ObserveLastPhase(lowered, code, options.loop_observer);
    steps.WriteDumps();
  }
  if (what == kCache) {
    FillCacheByAll(module, lowered, options);
  } else if (what == kExecutable) {
    const SaveOptions save = {.code = arguments.exported,
                              .threads = arguments.compile.threads,
                              .result_names = std::move(model.results)};
    Require(made.is_program ? SaveExecutable(program, arguments.output, save)
                            : SaveExecutable(lowered, arguments.output, save));
  } else if (what == "so") {
    Require(made.is_program ? ExportSharedLibrary(program, arguments.output, arguments.exported)
                            : ExportSharedLibrary(lowered, arguments.output, arguments.exported));
  } else if (what == "o") {
    Require(made.is_program ? ExportObject(program, arguments.output, arguments.exported)
                            : ExportObject(lowered, arguments.output, arguments.exported));
  } else if (what == "c" && arguments.form == "reference" && arguments.output != "-") {
    const std::filesystem::path file = arguments.output;
    WriteFile(file, {Text(made, arguments, what, steps, code)});
    WriteFile(file.parent_path() / jit::kPackedRuntimeHeader, {jit::PackedRuntimeHeader()});
  } else if (what == "c" && arguments.output != "-") {
    Require(made.is_program ? ExportCSource(program, arguments.output, arguments.exported)
                            : ExportCSource(lowered, arguments.output, arguments.exported));
  } else {
    Write(arguments.output, Text(made, arguments, what, steps, code));
  }
}

}  // namespace

void AddCompileCommand(CLI::App* command) {
  const auto arguments = std::make_shared<EmitArguments>();
  arguments->model.AddTo(command);
  arguments->compile.AddTo(command);
  command
      ->add_option(
          "--emit", arguments->emit,
          "graph: as imported; fused: after the passes; te: tensor expressions; schedule: "
          "its calls; loops; "
          "llvm; asm; c: source that compiles alone; json: the plan; onnx: the model as imported; "
          "executable: a folder that tenon run and programs load without compiling; "
          "cache: compiled code in the cache folder, by all processes of mpirun; "
          "when it is not given, the ending of the file decides, or fused")
      ->check(CLI::IsMember({"graph", "fused", "te", "schedule", "loops", "llvm", "asm", "c",
                             "json", "onnx", kExecutable, kCache}));
  command
      ->add_option("--after", arguments->after,
                   "with --emit=loops: the loops after this step of the loop pipeline")
      ->type_name("STEP")
      ->check(CLI::IsMember(loop::StepNames()));
  command
      ->add_option("--dump-loops", arguments->dump_folder,
                   "folder for the loops of each kernel after each step that changed them, and for "
                   "the times of the steps")
      ->type_name("FOLDER");
  command
      ->add_option("-o,--out", arguments->output,
                   "file to write, - for standard output; FILE.so: a shared library, FILE.o: an "
                   "object, each with the header FILE.h; --emit=c: FILE.c and FILE.h, or a "
                   "folder; FILE.onnx: an ONNX model; .ll, .s, .json, .relay and .txt: as --emit "
                   "llvm, asm, json and fused")
      ->capture_default_str();
  command
      ->add_option("--name", arguments->exported.name,
                   "prefix of an export's C names; otherwise from the file's name")
      ->type_name("NAME");
  command
      ->add_option("--form", arguments->form,
                   "of --emit=c: tenon, which stands alone; or reference: only the kernels, with "
                   "the names, default schedules and calling convention of the reference system, "
                   "and its runtime header beside the file")
      ->check(CLI::IsMember({"tenon", "reference"}))
      ->capture_default_str();
  command->add_option("--cc", arguments->exported.c_compiler, "C compiler that links machine code")
      ->capture_default_str();
  command
      ->add_flag(
          "--explain{text}", arguments->explain,
          "say on standard error what was folded and fused or not and which implementations were "
          "weighed, and why; --explain=json")
      ->check(CLI::IsMember({"text", "json"}));
  command->footer(
      "Examples:\n  tenon compile model.onnx --shape x=1,3,48,192 --emit=llvm -o m.ll\n"
      "  tenon compile model.onnx --shape x=1,3,48,192 -o model.so\n"
      "  tenon compile model.onnx --shape x=1,3,48,192 --emit=c -o out/\n"
      "  tenon compile model.onnx --shape x=1,3,48,192 --emit=executable -o saved/\n"
      "  tenon compile model:resnet50 -o resnet50.onnx\n"
      "  mpirun -n 4 tenon compile model:resnet50 --emit=cache --cache-dir shared/");
  command->callback([arguments] { Make(*arguments); });
}

}  // namespace tenon::tools
