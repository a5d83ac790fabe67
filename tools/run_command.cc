// tenon run: compiles a model and runs it on files.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tenon/compiler/plan/model_inputs.h"
#include "tenon/jit/runtime/timeline.h"
#include "tenon/passes/infer_type.h"
#include "tenon/runtime/npy.h"
#include "tenon/runtime/origins_text.h"
#include "tenon/runtime/program.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/chrome_trace.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/compiled_model.h"
#include "tenon/tools/explain.h"
#include "tenon/tools/input_files.h"
#include "tenon/tools/interruption.h"
#include "tenon/tools/model.h"
#include "tenon/tools/option_checks.h"
#include "tenon/tools/picture.h"
#include "tenon/tools/random_inputs.h"
#include "tenon/tools/results.h"
#include "tenon/tools/run_times.h"
#include "tenon/verify/verify_model.h"

namespace tenon::tools {
namespace {

struct RunArguments {
  ModelArguments model;
  CompileArguments compile;
  std::vector<std::string> inputs, outputs, saved_inputs;
  std::vector<std::string> labels;
  std::uint64_t seed = 0;  // of random inputs
  int repeat = 1;
  std::size_t hot_after = 0;
  std::string report;  // empty: none
  bool profile = false;
  std::string trace;  // file; empty: none
  bool verify = false;
  PictureOptions picture;
};

double Seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

// The shape of an input that the model leaves open, from the file that is given for it.
std::optional<Shape> ShapeOfFile(const RunArguments& arguments, const ir::InputSpec& input) {
  for (const auto& [name, path] : Assignments(arguments.inputs, "--input")) {
    if (name == input.name) return ShapeOfInputFile(path, input);
  }
  return std::nullopt;
}

runtime::Inputs ReadInputs(const RunArguments& arguments,
                           const std::vector<runtime::InputInfo>& known) {
  runtime::Inputs inputs;
  for (const auto& [name, path] : Assignments(arguments.inputs, "--input"))
    inputs[name] = ReadInputFile(path, InputNamed(known, name), arguments.picture);
  return inputs;
}

// All inputs are random only if none is given. If some were random, one that was forgotten would go
// unnoticed.
runtime::Inputs MakeInputs(const RunArguments& arguments, runtime::Inputs given,
                           const Executable& exe) {
  runtime::Inputs inputs = arguments.inputs.empty()
                               ? RandomInputs(exe, arguments.seed, arguments.model.ExtentValues())
                               : std::move(given);
  for (const auto& [name, path] : Assignments(arguments.saved_inputs, "--save-input")) {
    const auto found = inputs.find(name);
    if (found == inputs.end())
      throw InvalidArgument(StrCat("--save-input: the input ", name, " is not given"));
    if (const absl::Status s = runtime::WriteNpy(path, found->second); !s.ok()) throw FromStatus(s);
  }
  return inputs;
}

void WriteOutputs(const std::vector<std::pair<std::size_t, std::string>>& files,
                  const std::vector<NDArray>& results) {
  for (const auto& [index, path] : files) {
    if (const absl::Status s = runtime::WriteNpy(path, results.at(index)); !s.ok())
      throw FromStatus(s);
  }
}

// A .npy file has the types that NumPy has.
void RequireNumPyHas(const DataType& type, const std::string& path) {
  if (type != BFloat16) return;
  throw InvalidArgument(StrCat("NumPy has no element type ", type.ToString(),
                               ", which the array has; cast it to float32 in the model"))
      .At({.source = path});
}

std::string Describe(const runtime::Inputs& inputs) {
  return StrJoin(inputs, ", ", [](std::string* text, const auto& input) {
    StrAppend(text, input.first, " ", input.second.dtype().ToString(), " ",
              ShapeToString(input.second.shape()));
  });
}

// Throws InvalidArgument unless the first result has a number for each label.
void CheckLabels(const RunArguments& arguments, const std::vector<ir::Type>& types) {
  if (types.empty()) throw InvalidArgument("--labels: the model has no result");
  const ir::Type& type = types[0];
  const auto* tensor = type.As<ir::TensorTypeNode>();
  if (ir::IsStaticTensor(type) && tensor->dtype == Float32 &&
      NumElements(ir::StaticShape(type, "the result")) ==
          static_cast<std::int64_t>(arguments.labels.size()))
    return;
  throw InvalidArgument(StrCat("--labels: ", arguments.labels.size(),
                               " labels are given for a result of ", ir::ToString(type)));
}

void PrintLabel(const RunArguments& arguments, const NDArray& scores) {
  const float* first = scores.data<float>();
  const float* best = std::max_element(first, first + scores.size());
  std::printf("label: %s, probability %.4f\n",
              arguments.labels[static_cast<std::size_t>(best - first)].c_str(), *best);
}

void PrintResult(const NDArray& result, std::size_t index) {
  std::string text =
      StrCat("result ", index, ": ", result.dtype().ToString(), " ", ShapeToString(result.shape()));
  if (result.size() > 0) {
    constexpr std::int64_t kShown = 8;
    text += " [";
    for (std::int64_t i = 0; i < std::min(kShown, result.size()); ++i)
      StrAppend(&text, i > 0 ? ", " : "", ElementText(result, i));
    text += result.size() > kShown ? ", ...]" : "]";
  }
  std::puts(text.c_str());
}

void PrintProfile(std::vector<runtime::NodeTime> times) {
  std::stable_sort(times.begin(), times.end(),
                   [](const auto& a, const auto& b) { return a.nanoseconds > b.nanoseconds; });
  std::puts("    time ms  implementation                    kernel: nodes of the model");
  for (const runtime::NodeTime& time : times) {
    const std::string origins = runtime::OriginsText(time.origins);
    std::printf("  %9.4f  %-32s  %s%s%s\n", static_cast<double>(time.nanoseconds) * 1e-6,
                time.implementation.c_str(), time.node.c_str(), origins.empty() ? "" : ": ",
                origins.c_str());
  }
}

// What is run: a model, which is compiled first, or a saved executable.
struct Source {
  std::optional<ir::Module> module;
  std::optional<Executable> saved;
  std::vector<std::string> result_names;
  std::vector<ir::Type> result_types;
  std::vector<runtime::InputInfo> inputs;
};

// Of a saved executable.
std::vector<ir::Type> ResultTypesOf(const Executable& exe) {
  std::vector<ir::Type> types;
  if (const runtime::Program* program = exe.program()) {
    for (const runtime::ArrayType& type : program->functions[0].result_types)
      types.push_back(ir::TensorType(type.extents, type.dtype));
    types.resize(types.size() - program->extents.size());
    return types;
  }
  const runtime::Plan& plan = exe.plan();
  for (std::size_t i = 0; i + plan.extents.size() < plan.heads.size(); ++i) {
    const runtime::Entry& entry = plan.entry(plan.heads[i]);
    types.push_back(ir::TensorType(entry.dims(), entry.dtype));
  }
  return types;
}

Source LoadSource(const RunArguments& arguments) {
  // If it is not such a folder, loading says what it lacks.
  if (std::filesystem::is_directory(arguments.model.path)) {
    runtime::SavedExecutable saved = ValueOrThrow(runtime::LoadExecutable(arguments.model.path));
    std::vector<ir::Type> types = ResultTypesOf(saved.executable);
    std::vector<runtime::InputInfo> inputs = saved.executable.inputs();
    return {.module = std::nullopt,
            .saved = std::move(saved.executable),
            .result_names = std::move(saved.result_names),
            .result_types = std::move(types),
            .inputs = std::move(inputs)};
  }
  LoadedModel model = LoadModel(
      arguments.model, [&](const ir::InputSpec& input) { return ShapeOfFile(arguments, input); });
  const ir::Module typed = passes::InferType(model.module);
  return {.module = std::move(model.module),
          .saved = std::nullopt,
          .result_names = std::move(model.results),
          .result_types = ResultTypes(typed),
          .inputs = compiler::InputsOf(typed.Main())};
}

// What a saved executable was saved with cannot be chosen again.
void RefuseCompileOptions(const CLI::App& command, const RunArguments& arguments) {
  if (!runtime::IsSavedExecutable(arguments.model.path)) return;
  static const std::set<std::string> kOfRuns = {
      "--help",    "--input",  "--seed",    "--output", "--save-input", "--labels",
      "--repeat",  "--report", "--profile", "--trace",  "--mean",       "--deviation",
      "--stretch", "--bgr",    "--threads", "--extent", "model"};
  // A saved executable takes the shapes that it was saved for.
  static const std::set<std::string> kOfShapes = {"--shape", "--symbolic"};
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || kOfRuns.contains(name)) continue;
    throw InvalidArgument(
        StrCat(name, " is for models; ", arguments.model.path, " is a saved executable",
               kOfShapes.contains(name) ? ", whose inputs say which extents are variables; random "
                                          "inputs take their values from --extent NAME=7"
                                        : ""));
  }
}

// Keeps the module where it is verified later.
CompiledModel CompileModule(std::optional<ir::Module>* module, const RunArguments& arguments) {
  const CompileOptions options = arguments.compile.Options();
  if (arguments.verify) return CompiledModel(**module, options, arguments.hot_after);
  return CompiledModel(*std::exchange(*module, std::nullopt), options, arguments.hot_after);
}

// All that the run writes.
std::vector<WrittenFile> FilesOf(const RunArguments& arguments) {
  std::vector<WrittenFile> files;
  const auto add = [&](const std::vector<std::string>& texts, const std::string& option) {
    for (const auto& [name, path] : Assignments(texts, option))
      files.push_back({StrCat(option, " ", name), path});
  };
  add(arguments.outputs, "--output");
  add(arguments.saved_inputs, "--save-input");
  if (!arguments.report.empty()) files.push_back({"--report", arguments.report});
  if (!arguments.trace.empty()) files.push_back({"--trace", arguments.trace});
  return files;
}

void Execute(const RunArguments& arguments) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  Source source = LoadSource(arguments);
  // What the command line has wrong is told before the long work.
  const auto files =
      OutputFiles(arguments.outputs, ResultNames(source.result_names, source.result_types.size()));
  for (const auto& [index, path] : files) {
    const auto* tensor = source.result_types[index].As<ir::TensorTypeNode>();
    if (tensor != nullptr) RequireNumPyHas(tensor->dtype, path);
  }
  RequireDistinct(FilesOf(arguments));
  if (!arguments.labels.empty()) CheckLabels(arguments, source.result_types);
  if (!arguments.report.empty()) RequireWritable(arguments.report);
  if (!arguments.trace.empty()) RequireWritable(arguments.trace);
  for (const auto& [name, path] : Assignments(arguments.saved_inputs, "--save-input")) {
    RequireNumPyHas(InputNamed(source.inputs, name).dtype, path);
    RequireWritable(path);
  }
  runtime::Inputs given = ReadInputs(arguments, source.inputs);
  std::optional<ir::Module> module;
  if (source.module) {
    arguments.compile.WarnOfCache();
    module = arguments.compile.Partitioned(*std::exchange(source.module, std::nullopt));
  }
  const auto loaded = Clock::now();
  const CompiledModel model =
      module ? CompileModule(&module, arguments) : CompiledModel(*std::move(source.saved));
  const Executable& exe = model.executable();
  const auto compiled = Clock::now();
  const runtime::Inputs inputs = MakeInputs(arguments, std::move(given), exe);

  Session session(exe, {.threads = arguments.compile.threads});
  std::vector<NDArray> results;
  RunTimes times{.import_s = Seconds(loaded - start),
                 .compile_s = Seconds(compiled - loaded),
                 .run_s = {},
                 .kernels = ValueOrThrow(exe.Bind(inputs)).num_kernel_calls()};
  std::vector<runtime::NodeTime> profile;
  jit::Timeline timeline;  // of the last run
  const Interruption interruption;
  // There is one run at least, whose results are told.
  for (int i = 0; i < arguments.repeat && (i == 0 || !interruption.came()); ++i) {
    profile.clear();
    timeline = jit::Timeline();
    const jit::Timeline::Recording recording(arguments.trace.empty() ? nullptr : &timeline);
    const bool is_timed = arguments.profile || !arguments.trace.empty();
    const auto before = Clock::now();
    results = is_timed ? ValueOrThrow(session.RunProfiled(inputs, &profile))
                       : model.Run(&session, inputs);
    times.run_s.push_back(Seconds(Clock::now() - before));
  }
  if (!arguments.trace.empty()) WriteFile(arguments.trace, {ChromeTrace(timeline, profile)});
  if (!arguments.report.empty()) WriteReport(arguments.report, times);
  WriteOutputs(files, results);
  if (arguments.inputs.empty() && !inputs.empty())
    std::puts(StrCat("inputs are random, --seed ", arguments.seed, ": ", Describe(inputs)).c_str());
  if (!arguments.labels.empty()) {
    PrintLabel(arguments, results[0]);
  } else {
    for (std::size_t i = 0; i < results.size(); ++i) PrintResult(results[i], i);
  }
  std::puts(ToText(times).c_str());
  if (arguments.hot_after > 0) std::puts(ToText(*model.statistics()).c_str());
  if (arguments.profile) PrintProfile(std::move(profile));
  interruption.PassOn();
  if (arguments.verify)
    std::puts(
        ValueOrThrow(VerifyModel(*module, inputs, arguments.compile.Options())).ToString().c_str());
}

}  // namespace

void AddRunCommand(CLI::App* command) {
  const auto arguments = std::make_shared<RunArguments>();
  arguments->model.AddTo(command);
  arguments->compile.AddTo(command);
  CLI::Option* inputs =
      command
          ->add_option(
              "--input", arguments->inputs,
              "a .npy array, or a picture, which is turned as its Exif data says and scaled to "
              "the input's size; without any, inputs are random: floats from -1 to 1, 8-bit "
              "integers any, wider ones and bool 0 or 1")
          ->type_name("NAME=FILE");
  arguments->model.AddExtentTo(command);
  command->get_option("--extent")->excludes(inputs);
  command->add_option("--seed", arguments->seed, "of random inputs")
      ->check(WholeNumber(0))
      ->excludes(inputs)
      ->capture_default_str();
  command
      ->add_option("--output", arguments->outputs,
                   "write a result as .npy; NAME is the model's own, or y, or y0, y1, ...")
      ->type_name("NAME=FILE");
  command
      ->add_option("--save-input", arguments->saved_inputs,
                   "write an input as the model gets it, as .npy")
      ->type_name("NAME=FILE");
  command
      ->add_option("--labels", arguments->labels,
                   "names of the classes; prints the most probable one")
      ->delimiter(',');
  command->add_option("--repeat", arguments->repeat, "runs; the median time is printed")
      ->check(WholeNumber(1, 1000000))
      ->capture_default_str();
  CLI::Option* hot = AddHotAfter(command, &arguments->hot_after);
  command
      ->add_option("--report", arguments->report,
                   "write the times of import, compile and every run, the number of kernels and "
                   "the peak memory as JSON")
      ->type_name("FILE");
  // These look at one compile.
  command->add_flag("--profile", arguments->profile, "print the time of each kernel")
      ->excludes(hot);
  command
      ->add_option("--trace", arguments->trace,
                   "write what each thread did in the last run, for chrome://tracing or "
                   "ui.perfetto.dev; threads of oneDNN are not seen apart")
      ->type_name("FILE.json")
      ->excludes(hot);
  command->add_flag("--verify", arguments->verify,
                    "also run without fusion and by the interpreter, and compare (slow)");
  AddPictureOptions(command, &arguments->picture);
  command->footer(
      "Examples:\n  tenon run model.onnx --shape x=1,3,48,192 --input x=line.png --output y=y.npy\n"
      "  tenon run model:resnet50 --repeat 10\n"
      "  tenon run saved/ --input x=line.png --output y=y.npy");
  command->callback([arguments, command] {
    RefuseCompileOptions(*command, *arguments);
    Execute(*arguments);
  });
}

}  // namespace tenon::tools
