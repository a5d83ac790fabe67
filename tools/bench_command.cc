// tenon bench: measures how long a model takes on random inputs.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "tenon/support/error.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/compiled_model.h"
#include "tenon/tools/floors_report.h"
#include "tenon/tools/model.h"
#include "tenon/tools/model_records.h"
#include "tenon/tools/option_checks.h"
#include "tenon/tools/random_inputs.h"
#include "tenon/tools/records_race.h"
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
  bool floors = false;
  bool race = false;
  std::size_t hot_after = 0;
};

// This many runs are made however long they take.
constexpr std::size_t kMinRuns = 10;
// Of which the least time of each kernel counts.
constexpr int kFloorRuns = 30;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Each kernel beside the floor of its time, instead of the times of whole runs.
void BenchFloors(const BenchArguments& arguments) {
  const CompileOptions options = arguments.compile.Options();
  const ir::Module module = arguments.compile.Partitioned(LoadModel(arguments.model).module);
  const Lowered lowered = ValueOrThrow(Lower(module, options));
  const Executable exe = ValueOrThrow(Link(lowered, options));
  const Dim::Values extents = AllExtents(exe, arguments.model.ExtentValues());
  const auto times = LeastTimes(
      exe, RandomInputs(exe, arguments.seed, arguments.model.ExtentValues()), kFloorRuns);
  const tune::MachineSpeed machine = tune::MeasureMachine(options.target, options.threads);
  const auto floors = FloorsOf(lowered, times, extents, options.target, machine,
                               RecordsRead(arguments.compile, options));
  std::fputs((arguments.json ? FloorsJson(floors, machine) : FloorsText(floors, machine)).c_str(),
             stdout);
}

// The choices of the records against the default.
void BenchRecords(const BenchArguments& arguments) {
  const ir::Module module = arguments.compile.Partitioned(LoadModel(arguments.model).module);
  const RecordsRace race = RaceRecords(module, arguments.compile.Options(),
                                       arguments.model.ExtentValues(), arguments.seconds);
  std::fputs((arguments.json ? RecordsRaceJson(race) : RecordsRaceText(race)).c_str(), stdout);
}

void Bench(BenchArguments arguments) {
  arguments.compile.WarnOfCache();
  // The kernels of a plan are measured.
  if (arguments.race || arguments.floors) arguments.model.control_flow = false;
  if (arguments.race) return BenchRecords(arguments);
  if (arguments.floors) return BenchFloors(arguments);
  RunTimes times;
  auto start = Clock::now();
  ir::Module module = arguments.compile.Partitioned(LoadModel(arguments.model).module);
  times.import_s = SecondsSince(start);
  start = Clock::now();
  const CompiledModel model(std::move(module), arguments.compile.Options(), arguments.hot_after);
  const Executable& exe = model.executable();
  times.compile_s = SecondsSince(start);

  const runtime::Inputs inputs = RandomInputs(exe, arguments.seed, arguments.model.ExtentValues());
  times.kernels = ValueOrThrow(exe.Bind(inputs)).num_kernel_calls();
  Session session(exe);
  (void)model.Run(&session, inputs);  // allocates its memory
  start = Clock::now();
  while (times.run_s.size() < kMinRuns || SecondsSince(start) < arguments.seconds) {
    const auto before = Clock::now();
    (void)model.Run(&session, inputs);
    times.run_s.push_back(SecondsSince(before));
  }
  const auto threads =
      exe.is_symbolic() ? ValueOrThrow(exe.Bind(inputs)).thread_choice() : session.thread_choice();
  if (threads) times.threads = runtime::ToText(*threads);
  times.shapes = model.statistics();
  std::fputs((arguments.json ? SummaryJson(times) : SummaryText(times)).c_str(), stdout);
}

}  // namespace

void AddBenchCommand(CLI::App* command) {
  const auto arguments = std::make_shared<BenchArguments>();
  arguments->model.AddTo(command);
  arguments->model.AddExtentTo(command);
  arguments->compile.AddTo(command);
  command->add_option("--seconds", arguments->seconds, "how long to run it, 10 times at least")
      ->check(RealNumber(0, 3600))
      ->capture_default_str();
  command->add_option("--seed", arguments->seed, "of random inputs")
      ->check(WholeNumber(0))
      ->capture_default_str();
  CLI::Option* hot = AddHotAfter(command, &arguments->hot_after);
  CLI::Option* floors = command->add_flag(
      "--floors", arguments->floors,
      "each kernel beside the least time that the machine needs for its arithmetic and its bytes; "
      "the speeds of the machine are measured");
  floors->excludes(hot);
  command
      ->add_flag("--race", arguments->race,
                 "the choices of the records against the default, by turns: the model, and each "
                 "kernel inside it")
      ->excludes(floors)
      ->excludes(hot);
  command->add_flag("--json", arguments->json, "print JSON, times in seconds");
  command->footer("Example:\n  tenon bench model.onnx --shape x=1,3,48,192 --threads 2 --json");
  command->callback([arguments] { Bench(*arguments); });
}

}  // namespace tenon::tools
