// tenon tune: finds faster kernels for a model, or for one operator, by measuring.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

#include "tenon/ops/call_op.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/interruption.h"
#include "tenon/tools/model.h"
#include "tenon/tools/results.h"
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
    const Shape extents = ParseShape(shape->second, "--shape");
    args.push_back(
        ir::Var::Make(argument.name, ir::TensorType({extents.begin(), extents.end()}, *dtype)));
  }
  for (const auto& [name, shape] : shapes) {
    if (std::ranges::find(op.arguments, name, &ops::ArgumentDoc::name) == op.arguments.end())
      throw InvalidArgument(StrCat("--shape: ", arguments.op, " has no argument ", name));
  }
  return ir::Module::FromExpr(
      ops::CallOpWithJson(arguments.op, std::move(args), arguments.attributes));
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
      std::fprintf(stderr, "\r\033[K%d:%02d left, %d raced, %d kernels faster; %.100s",
                   seconds / 60, seconds % 60, progress.raced, progress.wins,
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

void Tune(const TuneArguments& arguments) {
  if (arguments.op.empty() == arguments.model.path.empty())
    throw InvalidArgument("tune takes a model, or an operator by --op");
  const std::string file = arguments.compile.RecordsToWrite();
  const ir::Module module = arguments.op.empty()
                                ? arguments.compile.Partitioned(LoadModel(arguments.model).module)
                                : ModuleOfOp(arguments);
  tune::Records records = ValueOrThrow(tune::Records::Open(file, tune::Access::kWrite));
  tune::TuneOptions options{.compile = arguments.compile.OptionsWithoutRecords(),
                            .seconds = arguments.minutes * 60};
  const Interruption interruption;
  tune::TuneReport report;
  {
    ProgressLine line;
    options.progress = [&](const tune::TuneProgress& progress) { line.Show(progress); };
    options.stopped = [&] { return interruption.came(); };
    report = ValueOrThrow(tune::Tune(module, options, &records));
  }
  std::fputs(tune::ToText(report).c_str(), stdout);
  std::printf("records: %s\n", file.c_str());
  interruption.PassOn();
}

}  // namespace

void AddTuneCommand(CLI::App* app) {
  const auto arguments = std::make_shared<TuneArguments>();
  CLI::App* command = app->add_subcommand(
      "tune", "Find faster kernels for a model by measuring, and keep them as records");
  arguments->model.AddTo(command);
  arguments->model.control_flow = false;  // the kernels of a plan are measured
  command->get_option("model")->required(false);
  arguments->compile.AddTo(command);
  command->add_option("--minutes", arguments->minutes, "how long it may take")
      ->check(CLI::Range(0.0, 100000.0))
      ->capture_default_str();
  CLI::Option* op =
      command
          ->add_option("--op", arguments->op,
                       "instead of a model, one call of this operator; --shape gives the extents "
                       "of its arguments")
          ->type_name("NAME");
  command->add_option("--attributes", arguments->attributes, "of that call, as JSON")->needs(op);
  command->add_option("--dtype", arguments->dtype, "of its arguments")
      ->needs(op)
      ->capture_default_str();
  command->footer(
      "What was found is used by the next run, compile and bench. Ctrl-C ends the search and keeps "
      "what was found.\n"
      "Examples:\n  tenon tune model.onnx --minutes 5\n"
      "  tenon tune --op my.matmul --plugin libmy.so --shape a=512,512 --shape b=512,512");
  command->callback([arguments] { Tune(*arguments); });
}

}  // namespace tenon::tools
