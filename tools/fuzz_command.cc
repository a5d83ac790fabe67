// tenon fuzz: random schedules, of random computations or of an operator, and random modules
// through passes, against the interpreter.
//
// Cases run in child processes, so that one that crashes is a finding like any other. What they
// have done stands in memory that they share with the parent.
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/compiler/fuzz_operator.h"
#include "tenon/compiler/fuzz_passes.h"
#include "tenon/compiler/fuzz_schedule.h"
#include "tenon/compiler/random_operator.h"
#include "tenon/ir/text_format.h"
#include "tenon/passes/pipeline.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/model.h"

namespace tenon::tools {
namespace {

using compiler::FuzzStatistics;

constexpr unsigned kSecondsACase = 60;
constexpr int kFoundExit = 3;

struct FuzzArguments {
  std::string op;
  bool graphs = false;
  compiler::PassFuzzOptions pass_options;
  std::vector<std::string> plugins;
  std::int64_t cases = 1000;
  std::uint64_t seed = 1;
  bool keep_going = false;
};

// What a child has come to.
struct Shared {
  std::int64_t done;  // cases that ended
  FuzzStatistics statistics;
  compiler::PassFuzzStatistics pass_statistics;
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

// What cannot be fuzzed is said before anything runs.
std::string ExampleCall(const FuzzArguments& arguments) {
  constexpr std::uint64_t kSeeds = 5;
  std::string refusal;
  for (std::uint64_t seed = arguments.seed; seed < arguments.seed + kSeeds; ++seed) {
    compiler::Random random(seed);
    if (const auto call = compiler::MakeRandomCall(arguments.op, random, &refusal))
      return call->text;
  }
  throw FailedPrecondition(StrCat("fuzz: no call of ", arguments.op,
                                  " fits random shapes, types and attributes; the last was "
                                  "refused: ",
                                  refusal));
}

std::optional<std::string> RunCase(const FuzzArguments& arguments, std::uint64_t seed,
                                   const SharedMemory& shared) {
  if (arguments.graphs)
    return compiler::FuzzPasses(seed, arguments.pass_options, &shared->pass_statistics);
  FuzzStatistics statistics;
  auto finding = arguments.op.empty() ? compiler::FuzzRandomGraph(seed, &statistics)
                                      : compiler::FuzzOperator(arguments.op, seed, &statistics);
  shared->statistics.Add(statistics);
  return finding;
}

// Runs cases until the last one or a finding.
[[noreturn]] void RunChild(const FuzzArguments& arguments, const SharedMemory& shared) {
  while (shared->done < arguments.cases) {
    alarm(kSecondsACase);
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
  std::printf("finding of seed %llu: %s\n", static_cast<unsigned long long>(seed),
              signal == SIGALRM ? StrCat("it takes more than ", kSecondsACase, " seconds").c_str()
                                : StrCat("the program crashes: ", strsignal(signal)).c_str());
  if (arguments.graphs)
    std::printf("%s", ir::PrintModule(compiler::MakeRandomModule(seed).module).c_str());
  ++shared->done;
  return true;
}

void Fuzz(const FuzzArguments& arguments) {
  LoadPlugins(arguments.plugins);
  if (!arguments.op.empty()) std::printf("calls such as %s\n", ExampleCall(arguments).c_str());
  // A name that is no pass is said before anything runs, too.
  for (const std::string& pass : arguments.pass_options.passes)
    passes::FindPass(pass, strategies::EvaluateCall);
  const SharedMemory shared;
  std::int64_t findings = 0;
  while (shared->done < arguments.cases) {
    if (!RunUntilFinding(arguments, shared)) break;
    ++findings;
    if (!arguments.keep_going) break;
  }
  std::printf("%s\n", (arguments.graphs ? shared->pass_statistics.ToString()
                                        : shared->statistics.ToString())
                          .c_str());
  const FuzzStatistics& statistics = shared->statistics;
  if (statistics.undefined > 0 && statistics.undefined == statistics.cases)
    throw FailedPrecondition(StrCat(
        "fuzz: no call of ", arguments.op,
        " is defined: its compute reads elements that its inputs have not, whatever they hold"));
  if (findings > 0)
    throw FailedPrecondition(StrCat("fuzz: ", findings, findings == 1 ? " finding" : " findings"));
  std::puts("no findings");
}

}  // namespace

void AddFuzzCommand(CLI::App* app) {
  const auto arguments = std::make_shared<FuzzArguments>();
  CLI::App* command = app->add_subcommand(
      "fuzz", "Check random schedules, or passes on random graphs, against the interpreter");
  command->add_option("--op", arguments->op,
                      "random calls of this operator instead, under its automatic schedule and by "
                      "its own implementations, too");
  CLI::Option* graphs = command->add_flag("--graphs", arguments->graphs,
                                          "random graphs of operators through the passes instead");
  command
      ->add_option("--passes", arguments->pass_options.passes,
                   "of these alone and in pairs (all): " + StrJoin(passes::PassNames(), ", "))
      ->delimiter(',')
      ->type_name("PASS,PASS")
      ->needs(graphs);
  command
      ->add_option("--pairs", arguments->pass_options.pairs,
                   "random pairs of passes a graph, besides each alone (4)")
      ->check(CLI::NonNegativeNumber)
      ->needs(graphs);
  command
      ->add_flag("--compile", arguments->pass_options.compile, "compile and run each graph as well")
      ->needs(graphs);
  command->add_option("--plugin", arguments->plugins, "shared object that registers operators")
      ->type_name("FILE.so");
  command->add_option("--cases", arguments->cases, "how many (1000)")->check(CLI::PositiveNumber);
  command->add_option("--seed", arguments->seed, "of the first case; the next has the next (1)");
  command->add_flag("--keep-going", arguments->keep_going, "do not stop at the first finding");
  command->callback([arguments] { Fuzz(*arguments); });
}

}  // namespace tenon::tools
