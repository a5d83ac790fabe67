// tenon bench: measures how long a model takes on random inputs.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "tenon/support/error.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/model.h"
#include "tenon/tools/option_checks.h"
#include "tenon/tools/random_inputs.h"
#include "tenon/tools/run_times.h"

namespace tenon::tools {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchArguments {
  ModelArguments model;
  CompileArguments compile;
  std::uint64_t seed = 0;  // of random inputs
  double seconds = 1;
  bool json = false;
};

// This many runs are made however long they take.
constexpr std::size_t kMinRuns = 10;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void Bench(const BenchArguments& arguments) {
  arguments.compile.WarnOfCache();
  RunTimes times;
  auto start = Clock::now();
  ir::Module module = arguments.compile.Partitioned(LoadModel(arguments.model).module);
  times.import_s = SecondsSince(start);
  start = Clock::now();
  const Executable exe = ValueOrThrow(Compile(std::move(module), arguments.compile.Options()));
  times.compile_s = SecondsSince(start);

  const runtime::Inputs inputs = RandomInputs(exe, arguments.seed, arguments.model.ExtentValues());
  times.kernels = ValueOrThrow(exe.Bind(inputs)).num_kernel_calls();
  Session session(exe);
  (void)ValueOrThrow(session.Run(inputs));  // allocates its memory
  start = Clock::now();
  while (times.run_s.size() < kMinRuns || SecondsSince(start) < arguments.seconds) {
    const auto before = Clock::now();
    (void)ValueOrThrow(session.Run(inputs));
    times.run_s.push_back(SecondsSince(before));
  }
  std::fputs((arguments.json ? SummaryJson(times) : SummaryText(times)).c_str(), stdout);
}

}  // namespace

void AddBenchCommand(CLI::App* app) {
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::App* command =
      app->add_subcommand("bench", "Measure how long a model takes, on random inputs");
  arguments->model.AddTo(command);
  arguments->compile.AddTo(command);
  command->add_option("--seconds", arguments->seconds, "how long to run it, 10 times at least")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "of random inputs")
      ->check(WholeNumber(0))
      ->capture_default_str();
  command->add_flag("--json", arguments->json, "print JSON, times in seconds");
  command->footer("Example:\n  tenon bench model.onnx --shape x=1,3,48,192 --threads 2 --json");
  command->callback([arguments] { Bench(*arguments); });
}

}  // namespace tenon::tools
