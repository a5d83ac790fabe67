// tenon tune: finds faster kernels for a model, or for one operator, by measuring.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "tenon/compiler/symbolic/named_extents.h"
#include "tenon/ops/call_op.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/interruption.h"
#include "tenon/tools/model.h"
#include "tenon/tools/option_checks.h"
#include "tenon/tools/results.h"
#include "tenon/tools/shapes_to_tune.h"
#include "tenon/tools/start_ranks.h"
#include "tenon/tools/tune_page.h"
#include "tenon/tune/process_crew.h"
#include "tenon/tune/rank_crew.h"
#include "tenon/tune/ranks.h"
#include "tenon/tune/serve.h"
#include "tenon/tune/tune.h"

namespace tenon::tools {
namespace {

struct TuneArguments {
  ModelArguments model;
  CompileArguments compile;
  double minutes = 10;
  std::string op;          // instead of a model
  std::string attributes;  // empty: the defaults
  std::string dtype = "float32";
  std::vector<std::string> shapes;  // "x=1,3,48,32..640"
  int workers = 0;                  // processes; 0: this one
  bool share_cores = false;
  double candidate_seconds = tune::TuneOptions().candidate_seconds;
  std::string report;  // file of the page; empty: none
  int serve = -1;      // the socket of a worker
};

// One call of the operator, whose arguments have the shapes of --shape.
ir::Module ModuleOfOp(const TuneArguments& arguments) {
  LoadPlugins(arguments.model.plugins);
  ops::OpRegistry& registry = ops::OpRegistry::Global();
  strategies::RegisterStrategies(registry);
  const ops::OpDef& op = *ops::OpOf(registry.Get(arguments.op));
  const auto shapes = Assignments(arguments.model.shapes, "--shape");
  const std::optional<DataType> dtype = DataType::Parse(arguments.dtype);
  if (!dtype) throw InvalidArgument(StrCat("--dtype: there is no type ", arguments.dtype));
  std::vector<ir::Expr> args;
  for (const ops::ArgumentDoc& argument : op.arguments) {
    const auto shape = std::ranges::find(shapes, argument.name,
                                         [](const auto& assignment) { return assignment.first; });
    if (shape == shapes.end())
      throw InvalidArgument(StrCat("--op: ", arguments.op, " takes ", argument.name,
                                   "; say its extents, as in --shape ", argument.name,
                                   "=1024,1024"));
    args.push_back(
        ir::Var::Make(argument.name, ir::TensorType(ParseExtents(shape->second, true), *dtype)));
  }
  for (const auto& [name, shape] : shapes) {
    if (std::ranges::find(op.arguments, name, &ops::ArgumentDoc::name) == op.arguments.end())
      throw InvalidArgument(StrCat("--shape: ", arguments.op, " has no argument ", name));
  }
  return ir::Module::FromExpr(
      ops::CallOpWithJson(arguments.op, std::move(args), arguments.attributes));
}

// Without what all kernels' names begin with.
std::string ShortName(const std::string& kernel) {
  constexpr std::string_view kPrefix = "tvmgen_default_fused_";
  return kernel.starts_with(kPrefix) ? kernel.substr(kPrefix.size()) : kernel;
}

// Where the user watches, one line that changes; else a line for each win.
class ProgressLine {
 public:
  ~ProgressLine() {
    if (is_watched_ && shown_) std::fputs("\r\033[K", stderr);
  }
  void Show(const tune::TuneProgress& progress) {
    if (is_watched_) {
      const int seconds = static_cast<int>(progress.seconds_left);
      std::fprintf(stderr,
                   "\r\033[K%d:%02d left, %d raced, %d kernels faster; %.40s %.4g ms, best %.2f x, "
                   "floor %.2f x; %.60s",
                   seconds / 60, seconds % 60, progress.raced, progress.wins,
                   ShortName(progress.kernel).c_str(), progress.call_s * 1e3, progress.best,
                   progress.call_s > 0 ? progress.floor_s / progress.call_s : 0,
                   progress.last.substr(0, progress.last.find('\n')).c_str());
      shown_ = true;
    } else if (progress.wins > wins_) {
      std::fprintf(stderr, "%s: %s\n", progress.kernel.c_str(), progress.last.c_str());
    }
    wins_ = progress.wins;
  }

 private:
  const bool is_watched_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  int wins_ = 0;
};

tune::Worker::Model ModelOf(const TuneArguments& arguments) {
  const ir::Module module = arguments.op.empty()
                                ? arguments.compile.Partitioned(LoadModel(arguments.model).module)
                                : passes::InferType(ModuleOfOp(arguments));
  if (arguments.shapes.empty()) return {module};
  const ir::Module named = compiler::NameExtents(module);
  return {named, ShapesToTune(named, arguments.shapes)};
}

// Of this process, after its name.
std::vector<std::string> OwnArguments() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  if (!arguments.empty()) arguments.erase(arguments.begin());
  return arguments;
}

void ServeAsWorker(const TuneArguments& arguments) {
  const CompileOptions options = arguments.compile.OptionsWithoutRecords();
  tune::Worker worker([&] { return ModelOf(arguments); }, options);
  tune::Serve(arguments.serve, tune::IntroductionOf(options.target, options.threads), &worker);
}

// By other processes: of this machine, or of all that mpirun has started.
std::vector<tune::TuneReport> TuneByCrew(tune::Crew* crew, const tune::TuneOptions& options,
                                         tune::Records* records) {
  tune::CrewReport report = ValueOrThrow(tune::TuneWith(crew, options, records));
  for (const std::string& remark : report.remarks)
    std::fprintf(stderr, "tenon: %s\n", remark.c_str());
  return std::move(report.reports);
}

std::vector<tune::TuneReport> Search(const TuneArguments& arguments, tune::Ranks* ranks,
                                     const tune::TuneOptions& options, tune::Records* records) {
  if (ranks != nullptr) {
    tune::RankCrew crew(ranks, OwnArguments());
    return TuneByCrew(&crew, options, records);
  }
  if (arguments.workers > 0) {
    tune::ProcessCrew crew(OwnArguments(), arguments.workers);
    return TuneByCrew(&crew, options, records);
  }
  tune::Worker::Model model = ModelOf(arguments);
  tune::TuneOptions of_model = options;
  of_model.shapes = std::move(model.shapes);
  return {ValueOrThrow(tune::Tune(model.module, of_model, records))};
}

void Print(const std::vector<tune::TuneReport>& reports, const std::string& file) {
  for (const tune::TuneReport& report : reports) {
    if (reports.size() > 1)
      std::printf("%s, %d threads:\n", report.target.c_str(), static_cast<int>(report.threads));
    std::fputs(tune::ToText(report).c_str(), stdout);
  }
  std::printf("records: %s\n", file.c_str());
}

void Tune(const TuneArguments& arguments) {
  if (arguments.op.empty() == arguments.model.path.empty())
    throw InvalidArgument("tune takes a model, or an operator by --op");
  if (arguments.serve >= 0) return ServeAsWorker(arguments);
  const bool has_ranks = tune::Ranks::AreExpected();
  if (arguments.model.path == "-" && (has_ranks || arguments.workers > 0))
    throw InvalidArgument("standard input is for one process; name a file that all workers read");
  if (arguments.workers > 0 && has_ranks)
    throw InvalidArgument("--workers is for one machine; mpirun says how many processes there are");
  std::optional<tune::Ranks> ranks;
  if (has_ranks) ranks.emplace(StartRanks());
  if (ranks && ranks->rank() > 0) return tune::ServeRank(&*ranks, OwnArguments());
  if (!arguments.report.empty()) RequireWritable(arguments.report);
  const std::string file = arguments.compile.RecordsToWrite();
  tune::Records records = ValueOrThrow(tune::Records::Open(file, tune::Access::kWrite));
  tune::TuneOptions options{.compile = arguments.compile.OptionsWithoutRecords(),
                            .seconds = arguments.minutes * 60,
                            .candidate_seconds = arguments.candidate_seconds,
                            .share_cores = arguments.share_cores};
  const Interruption interruption;
  std::vector<tune::TuneReport> reports;
  {
    ProgressLine line;
    options.progress = [&](const tune::TuneProgress& progress) { line.Show(progress); };
    options.stopped = [&] { return interruption.came(); };
    reports = Search(arguments, ranks ? &*ranks : nullptr, options, &records);
  }
  Print(reports, file);
  if (!arguments.report.empty())
    WriteFile(arguments.report,
              {TunePage(arguments.op.empty() ? arguments.model.path : arguments.op, reports)});
  ranks.reset();
  interruption.PassOn();
}

}  // namespace

void AddTuneCommand(CLI::App* command) {
  const auto arguments = std::make_shared<TuneArguments>();
  arguments->model.AddTo(command);
  arguments->model.control_flow = false;  // the kernels of a plan are measured
  command->get_option("model")->required(false);
  arguments->compile.AddTo(command);
  command->add_option("--minutes", arguments->minutes, "how long it may take")
      ->check(RealNumber(0, 100000))
      ->capture_default_str();
  CLI::Option* op =
      command
          ->add_option("--op", arguments->op,
                       "instead of a model, one call of this operator; --shape gives the extents "
                       "of its arguments, where n,512 has a variable")
          ->type_name("NAME");
  CLI::Option* shapes =
      command
          ->add_option("--shapes", arguments->shapes,
                       "of a model of variable extents, the shapes to measure for: a range stands "
                       "for five values from one end to the other")
          ->type_name("NAME=1..8,3,48,32..640:32");
  command->add_option("--attributes", arguments->attributes, "of that call, as JSON")->needs(op);
  command->add_option("--dtype", arguments->dtype, "of its arguments")
      ->needs(op)
      ->capture_default_str();
  command
      ->add_option("--workers", arguments->workers,
                   "processes of this machine that measure at once, each on cores of its own; a "
                   "candidate that crashes or hangs costs no more than itself. 0: this process")
      ->check(WholeNumber(0, 1024))
      ->capture_default_str();
  command->add_flag("--share-cores", arguments->share_cores,
                    "workers measure even where there are not cores enough for all; times are "
                    "noisy then");
  command
      ->add_option("--candidate-seconds", arguments->candidate_seconds,
                   "what a worker may take to compile and race a candidate, apart from its runs; "
                   "then it is ended")
      ->check(RealNumber(0.1, 100000))
      ->capture_default_str();
  command
      ->add_option("--report", arguments->report,
                   "page with the course of the search, and what won by how much: HTML that needs "
                   "no network")
      ->type_name("FILE.html");
  command->add_option(tune::kServeOption, arguments->serve)->group("");  // for its own processes
  command->footer(
      "What was found is used by the next run, compile and bench. Ctrl-C ends the search and keeps "
      "what was found.\n"
      "Started by mpirun, it measures on all machines (docs/cluster.md).\n"
      "Examples:\n  tenon tune model.onnx --minutes 5\n"
      "  tenon tune model.onnx --shapes x=1..8,3,48,32..640:32\n"
      "  mpirun -n 8 --hostfile hosts tenon tune model.onnx --minutes 30\n"
      "  tenon tune --op my.matmul --plugin libmy.so --shape a=512,512 --shape b=512,512\n"
      "  tenon tune --op nn.dense --shape data=n,512 --shape weight=64,512 --shapes "
      "data=1..128,512");
  command->callback([arguments, shapes] {
    // Ranges are for extents that stay open.
    if (shapes->count() > 0) arguments->model.has_ranges = true;
    Tune(*arguments);
  });
}

}  // namespace tenon::tools
