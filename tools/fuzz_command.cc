// tenon fuzz: compares with the interpreter: random schedules of random computations or of one
// operator, random loops, random modules through passes, and random ONNX models.
//
// Cases run in child processes, so a case that crashes is a finding like any other. What a child
// has done is in memory that it shares with the parent.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/ir/text_format.h"
#include "tenon/onnx/import.h"
#include "tenon/passes/pipeline.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/model.h"
#include "tenon/tools/option_checks.h"
#include "tenon/verify/draw/random_operator.h"
#include "tenon/verify/fuzz_loops.h"
#include "tenon/verify/fuzz_onnx.h"
#include "tenon/verify/fuzz_operator.h"
#include "tenon/verify/fuzz_passes.h"
#include "tenon/verify/fuzz_schedule.h"

namespace tenon::tools {
namespace {

using verify::FuzzStatistics;

// Of the processors, which other programs may keep busy, and by the clock, for a case that waits.
constexpr unsigned kSecondsACase = 60, kClockSecondsACase = 600;
constexpr int kFoundExit = 3;
constexpr std::uint64_t kMaxPairs = 1'000'000;
constexpr std::uint64_t kMaxCases = 1'000'000'000;

struct FuzzArguments {
  std::string op;
  bool loops = false;
  bool graphs = false;
  verify::PassFuzzOptions pass_options;
  bool onnx = false;
  verify::OnnxFuzzOptions onnx_options;
  bool exports = false;
  std::string save;  // folder for the models of findings
  std::vector<std::string> plugins;
  std::int64_t cases = 1000;
  std::uint64_t seed = 1;
  bool keep_going = false;
};

// What a child has done so far.
struct Shared {
  std::int64_t done;  // cases that ended
  FuzzStatistics statistics;
  verify::LoopFuzzStatistics loop_statistics;
  verify::PassFuzzStatistics pass_statistics;
  verify::OnnxFuzzStatistics onnx_statistics;
  // The last ONNX model that was imported, for the report of a crash. Larger models are left out.
  std::size_t model_bytes;
  char model[std::size_t{1} << 20];
};

class SharedMemory {
 public:
  SharedMemory()
      : memory_(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                     -1, 0)) {
    if (memory_ == MAP_FAILED) throw FailedPrecondition("fuzz: there is no memory to share");
    new (memory_) Shared{};
  }
  ~SharedMemory() { munmap(memory_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared* operator->() const { return static_cast<Shared*>(memory_); }

 private:
  void* memory_;
};

// Throws for what cannot be fuzzed, before anything runs.
std::string ExampleCall(const FuzzArguments& arguments) {
  constexpr std::uint64_t kSeeds = 5;
  std::string refusal;
  for (std::uint64_t i = 0; i < kSeeds; ++i) {
    verify::Random random(arguments.seed + i);  // which wraps around, as the seeds of cases do
    if (const auto call = verify::MakeRandomCall(arguments.op, random, &refusal)) return call->text;
  }
  throw FailedPrecondition(StrCat("fuzz: no call of ", arguments.op,
                                  " fits random shapes, types and attributes; the last was "
                                  "refused: ",
                                  refusal));
}

std::optional<std::string> RunCase(const FuzzArguments& arguments, std::uint64_t seed,
                                   const SharedMemory& shared) {
  if (arguments.loops) return verify::FuzzLoops(seed, {}, &shared->loop_statistics);
  if (arguments.graphs)
    return verify::FuzzPasses(seed, arguments.pass_options, &shared->pass_statistics);
  if (arguments.onnx)
    return verify::FuzzOnnx(seed, arguments.onnx_options, &shared->onnx_statistics);
  FuzzStatistics statistics;
  auto finding = arguments.op.empty() ? verify::FuzzRandomGraph(seed, &statistics)
                                      : verify::FuzzOperator(arguments.op, seed, &statistics,
                                                             arguments.pass_options.before_call);
  shared->statistics.Add(statistics);
  return finding;
}

// Ends this process by SIGPROF or SIGALRM, unless it is called again in time.
void LimitTime() {
  const itimerval limit = {.it_interval = {}, .it_value = {.tv_sec = kSecondsACase, .tv_usec = 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(kClockSecondsACase);
}

// Runs cases until the last one or until a finding.
[[noreturn]] void RunChild(const FuzzArguments& arguments, const SharedMemory& shared) {
  while (shared->done < arguments.cases) {
    LimitTime();
    const std::uint64_t seed = arguments.seed + static_cast<std::uint64_t>(shared->done);
    std::optional<std::string> finding;
    const absl::Status status = CatchErrors([&] { finding = RunCase(arguments, seed, shared); });
    if (!status.ok())
      finding = StrCat("finding of seed ", seed, ": ", FromStatus(status).message(), "\n");
    ++shared->done;
    if (finding) {
      std::fputs(finding->c_str(), stdout);
      std::fflush(stdout);
      _exit(kFoundExit);
    }
    if (shared->done % 500 == 0) {
      std::printf("%lld of %lld cases\n", static_cast<long long>(shared->done),
                  static_cast<long long>(arguments.cases));
      std::fflush(stdout);
    }
  }
  _exit(0);
}

void KeepModel(const std::string& bytes, const SharedMemory& shared) {
  shared->model_bytes = bytes.size() <= sizeof shared->model ? bytes.size() : 0;
  std::memcpy(shared->model, bytes.data(), shared->model_bytes);
}
std::string_view LastModel(const SharedMemory& shared) {
  return {shared->model, shared->model_bytes};
}

void SaveModel(const FuzzArguments& arguments, const SharedMemory& shared) {
  const std::int64_t seed = static_cast<std::int64_t>(arguments.seed) + shared->done - 1;
  const std::string path = StrCat(arguments.save, "/", seed, ".onnx");
  WriteFile(path, {LastModel(shared)});
  std::printf("the model is in %s\n", path.c_str());
}

// True when the child found something.
bool RunUntilFinding(const FuzzArguments& arguments, const SharedMemory& shared) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) throw FailedPrecondition("fuzz: no process can be started");
  if (child == 0) RunChild(arguments, shared);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status) != 0;
  const int signal = WTERMSIG(status);
  const std::uint64_t seed = arguments.seed + static_cast<std::uint64_t>(shared->done);
  const std::string what =
      signal == SIGPROF   ? StrCat("it takes more than ", kSecondsACase, " seconds of processors")
      : signal == SIGALRM ? StrCat("it takes more than ", kClockSecondsACase, " seconds")
                          : StrCat("the program crashes: ", strsignal(signal));
  std::printf("finding of seed %llu: %s\n", static_cast<unsigned long long>(seed), what.c_str());
  if (!arguments.onnx && shared->model_bytes > 0)
    std::printf("with this call:\n%s", std::string(LastModel(shared)).c_str());
  else if (arguments.graphs)
    std::printf("%s", ir::PrintModule(verify::MakeRandomModule(seed).module).c_str());
  if (arguments.loops) std::printf("%s", verify::LoopsOfCase(seed).c_str());
  if (arguments.onnx) std::printf("%s", verify::OnnxText(LastModel(shared)).c_str());
  ++shared->done;
  return true;
}

std::string StatisticsOf(const FuzzArguments& arguments, const SharedMemory& shared) {
  if (arguments.loops) return shared->loop_statistics.ToString();
  if (arguments.onnx) return shared->onnx_statistics.ToString();
  return arguments.graphs ? shared->pass_statistics.ToString() : shared->statistics.ToString();
}

void Fuzz(FuzzArguments arguments) {
  if (arguments.exports && !arguments.onnx && !arguments.pass_options.compile)
    throw InvalidArgument(
        "--export is for models and graphs that are compiled; say --onnx, or "
        "--graphs --compile");
  arguments.pass_options.exports = arguments.onnx_options.exports = arguments.exports;
  LoadPlugins(arguments.plugins);
  if (!arguments.op.empty()) std::printf("calls such as %s\n", ExampleCall(arguments).c_str());
  // An unknown pass is reported before anything runs, too.
  for (const std::string& pass : arguments.pass_options.passes)
    passes::FindPass(pass, strategies::EvaluateCall);
  if (arguments.onnx) verify::CheckOptions(arguments.onnx_options);
  const SharedMemory shared;
  arguments.pass_options.before_call = [&](const std::string& text) { KeepModel(text, shared); };
  arguments.onnx_options.before_import = [&](const std::string& bytes) {
    KeepModel(bytes, shared);
  };
  std::int64_t findings = 0;
  while (shared->done < arguments.cases) {
    if (!RunUntilFinding(arguments, shared)) break;
    ++findings;
    if (!arguments.save.empty()) SaveModel(arguments, shared);
    if (!arguments.keep_going) break;
  }
  std::printf("%s\n", StatisticsOf(arguments, shared).c_str());
  const FuzzStatistics& statistics = shared->statistics;
  if (statistics.undefined > 0 && statistics.undefined == statistics.cases)
    throw FailedPrecondition(
        StrCat("fuzz: no call of ", arguments.op,
               " is defined: its compute reads elements outside its inputs, whatever they hold"));
  if (findings > 0)
    throw FailedPrecondition(StrCat("fuzz: ", findings, findings == 1 ? " finding" : " findings"));
  std::puts("no findings");
}

}  // namespace

void AddFuzzCommand(CLI::App* command) {
  const auto arguments = std::make_shared<FuzzArguments>();
  CLI::Option* op =
      command->add_option("--op", arguments->op,
                          "instead, random calls of this operator, also under its automatic "
                          "schedule and with its own implementations");
  CLI::Option* loops =
      command->add_flag("--loops", arguments->loops,
                        "instead, random loops through all transforms or code generation alone");
  CLI::Option* graphs = command->add_flag("--graphs", arguments->graphs,
                                          "instead, random graphs of operators through the passes");
  loops->excludes(op, graphs);
  command
      ->add_option("--passes", arguments->pass_options.passes,
                   "passes to run alone and in pairs (all): " + StrJoin(passes::PassNames(), ", "))
      ->delimiter(',')
      ->type_name("PASS,PASS")
      ->needs(graphs);
  command
      ->add_option("--pairs", arguments->pass_options.pairs,
                   "random pairs of passes per graph, besides each pass alone (4)")
      ->check(WholeNumber(0, kMaxPairs))
      ->needs(graphs);
  CLI::Option* compile = command->add_flag("--compile", arguments->pass_options.compile,
                                           "compile and run each graph as well");
  compile->needs(graphs);
  CLI::Option* onnx = command->add_flag("--onnx", arguments->onnx,
                                        "instead, random ONNX models, valid and nearly valid");
  onnx->excludes(graphs, loops);
  command->add_flag("--export", arguments->exports,
                    "export each model, or graph that is compiled, as a saved executable, a shared "
                    "library or C source, and run that as well (a few of them)");
  command
      ->add_option("--nodes", arguments->onnx_options.ops,
                   "only draw nodes of these ONNX operators; tenon.NAME is a registered one (all "
                   "that can be "
                   "imported)")
      ->delimiter(',')
      ->type_name("OP,OP")
      ->needs(onnx);
  command
      ->add_option("--models", arguments->onnx_options.models,
                   "change models of this folder, such as those of libonnx-testdata, instead of "
                   "drawing them")
      ->check(CLI::ExistingDirectory)
      ->needs(onnx);
  command->add_option("--opset", arguments->onnx_options.opset, "opset of each model (any)")
      ->check(WholeNumber(onnx_import::kFirstOpset, onnx_import::kLastOpset))
      ->needs(onnx);
  command
      ->add_flag("--valid{false}", arguments->onnx_options.mutate,
                 "only draw models that the standard allows")
      ->needs(onnx);
  command
      ->add_flag(
          "--symbolic", arguments->onnx_options.symbolic,
          "only models with variables for extents of their inputs, compiled once and run for "
          "several values (such models beside some of the others)")
      ->needs(onnx);
  command
      ->add_option("--dump", arguments->onnx_options.dump,
                   "write each model that gives equal results into this folder, with its inputs "
                   "and results, for tests/fuzz/compare_onnxruntime.mjs")
      ->check(CLI::ExistingDirectory)
      ->needs(onnx);
  command->add_option("--save", arguments->save, "write the models of findings into this folder")
      ->check(CLI::ExistingDirectory)
      ->needs(onnx);
  command->add_option("--plugin", arguments->plugins, "shared object that registers operators")
      ->type_name("FILE.so");
  command->add_option("--cases", arguments->cases, "number of cases (1000)")
      ->check(WholeNumber(1, kMaxCases));
  command
      ->add_option("--seed", arguments->seed,
                   "seed of the first case; each later case takes the next number (1)")
      ->check(WholeNumber(0));
  command->add_flag("--keep-going", arguments->keep_going, "do not stop at the first finding");
  command->callback([arguments] { Fuzz(*arguments); });
}

}  // namespace tenon::tools
