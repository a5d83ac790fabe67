// tenon explore: one page of a model's kernels, what each takes, why it is what it is, and its
// code.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "tenon/ir/text_format.h"
#include "tenon/runtime/origins_text.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/explain.h"
#include "tenon/tools/explore_page.h"
#include "tenon/tools/floors_report.h"
#include "tenon/tools/kernel_texts.h"
#include "tenon/tools/model.h"
#include "tenon/tools/model_records.h"
#include "tenon/tools/option_checks.h"
#include "tenon/tools/random_inputs.h"

namespace tenon::tools {
namespace {

using Json = nlohmann::ordered_json;

struct ExploreArguments {
  ModelArguments model;
  CompileArguments compile;
  std::uint64_t seed = 0;  // of random inputs
  int repeat = 10;
  std::string output;
};

// Text of one stage of one kernel that a page holds.
constexpr std::size_t kMaxText = 1 << 18;

std::string Cut(std::string text) {
  if (text.size() <= kMaxText) return text;
  const std::size_t left = text.size() - kMaxText;
  text.resize(kMaxText);
  StrAppend(&text, "\n... ", left, " more characters; tenon compile --emit prints all\n");
  return text;
}

Json TextsOf(const LoweredKernel& kernel, const jit::CompileOptions& options) {
  const auto text = [&](jit::KernelText kind) {
    std::string all;
    for (const loop::Function& part : GeneratedParts(kernel))
      StrAppend(&all, PartText(part, kind, options), "\n");
    return Cut(std::move(all));
  };
  return {{"graph", Cut(ir::PrintExpr(kernel.function))},
          {"choice", kernel.choice.Explanation()},
          {"te", text(jit::KernelText::kTensorExpressions)},
          {"schedule", text(jit::KernelText::kSchedule)},
          {"loops", text(jit::KernelText::kLoops)},
          {"llvm", text(jit::KernelText::kLlvmIr)},
          {"asm", text(jit::KernelText::kAssembly)}};
}

Json ReportOf(const ExploreArguments& arguments) {
  const ir::Module module = arguments.compile.Partitioned(LoadModel(arguments.model).module);
  PassDecisions decisions;
  CompileOptions options = arguments.compile.Options();
  options.fusion_report = &decisions.fusion;
  options.folding_report = &decisions.folding;
  const Lowered lowered = ValueOrThrow(Lower(module, options));
  const Executable exe = ValueOrThrow(Link(lowered, options));
  const Dim::Values extents = AllExtents(exe, arguments.model.ExtentValues());
  const auto times = LeastTimes(
      exe, RandomInputs(exe, arguments.seed, arguments.model.ExtentValues()), arguments.repeat);

  const tune::MachineSpeed machine = tune::MeasureMachine(options.target, options.threads);
  const jit::CompileOptions code = {.target = options.target,
                                    .reassociate_reductions = options.reassociate_reductions,
                                    .reproducible = options.reproducible,
                                    .check_bounds = options.check_bounds,
                                    .cache_dir = options.cache_dir};
  const bool is_watched = isatty(STDERR_FILENO) != 0;
  Json kernels = Json::array();
  for (const LoweredKernel& kernel : lowered.kernels) {
    if (is_watched)
      std::cerr << "\rkernel " << kernels.size() + 1 << " of " << lowered.kernels.size()
                << std::flush;
    kernels.push_back({{"name", kernel.name},
                       {"implementation", kernel.choice.implementation},
                       {"library", LibraryCode(kernel)},
                       {"texts", TextsOf(kernel, code)}});
  }
  if (is_watched) std::cerr << "\n";
  Json nodes = Json::array();
  std::int64_t total = 0;
  for (const runtime::Node& node : lowered.plan.nodes) {
    const auto time = times.find(node.name);
    if (time == times.end()) continue;
    total += time->second;
    nodes.push_back({{"name", node.name},
                     {"kernel", node.kernel},
                     {"ns", time->second},
                     {"origins", runtime::OriginsText(node.origins)}});
  }
  return {
      {"model", arguments.model.path},
      {"nanoseconds", total},
      {"extents", extents},
      {"repeat", arguments.repeat},
      {"threads", arguments.compile.threads},
      {"decisions", Cut(ExplainText(decisions))},
      {"module", Cut(ir::PrintModule(lowered.module, {.metadata = false}))},
      {"kernels", std::move(kernels)},
      {"nodes", std::move(nodes)},
      {"floors", Json::parse(FloorsJson(FloorsOf(lowered, times, extents, options.target, machine,
                                                 RecordsRead(arguments.compile, options)),
                                        machine))}};
}

void Explore(const ExploreArguments& arguments) {
  RequireWritable(arguments.output);
  arguments.compile.WarnOfCache();
  const Json report = ReportOf(arguments);
  WriteFile(arguments.output,
            {ExplorePage(report.dump(-1, ' ', false, Json::error_handler_t::replace))});
}

}  // namespace

void AddExploreCommand(CLI::App* command) {
  const auto arguments = std::make_shared<ExploreArguments>();
  arguments->model.AddTo(command);
  arguments->model.AddExtentTo(command);
  arguments->model.control_flow = false;  // a plan is shown
  arguments->compile.AddTo(command);
  command->add_option("-o,--out", arguments->output, "HTML page to write, which stands alone")
      ->type_name("FILE.html")
      ->required();
  command->add_option("--seed", arguments->seed, "of random inputs")
      ->check(WholeNumber(0))
      ->capture_default_str();
  command->add_option("--repeat", arguments->repeat, "runs; the least time of each kernel counts")
      ->check(WholeNumber(1, 1000000))
      ->capture_default_str();
  command->footer(
      "Example:\n  tenon explore model.onnx --shape x=1,3,48,192 --threads 1 -o report.html");
  command->callback([arguments] { Explore(*arguments); });
}

}  // namespace tenon::tools
