// tenon quantize: a model of floats as one that computes on bytes.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tenon/ir/text_format.h"
#include "tenon/onnx/export.h"
#include "tenon/quantize/quantize.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/support/write_file.h"
#include "tenon/tools/commands.h"
#include "tenon/tools/input_files.h"
#include "tenon/tools/model.h"
#include "tenon/tools/option_checks.h"
#include "tenon/tools/random_inputs.h"
#include "tenon/tools/results.h"

namespace tenon::tools {
namespace {

namespace fs = std::filesystem;

struct QuantizeArguments {
  ModelArguments model;
  CompileArguments compile;
  std::vector<std::string> inputs;
  std::size_t random = 0;  // samples, instead of files
  std::uint64_t seed = 0;
  std::string output;
  std::string rule = std::string(quantize::NameOf(quantize::RangeOptions().rule));
  quantize::QuantizeOptions options;
  PictureOptions picture;
};

using FilesOfInputs = std::map<std::string, std::vector<std::string>>;

std::vector<std::string> FilesAt(const std::string& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    const std::string name = entry.path().string();
    if (name.ends_with(".npy") || IsPictureName(name)) files.push_back(name);
  }
  if (files.empty())
    throw InvalidArgument(
        StrCat("--input: the folder ", path, " has no file that is .npy, ", PictureEndings()));
  std::ranges::sort(files);
  return files;
}

// The files of each input, in the order of the samples.
FilesOfInputs ReadFileNames(const std::vector<std::string>& texts) {
  FilesOfInputs files;
  for (const std::string& text : texts) {
    const auto [name, path] = SplitAssignment(text, "--input");
    for (std::string& file : FilesAt(path)) files[name].push_back(std::move(file));
  }
  for (const auto& [name, paths] : files) {
    const auto& [first, expected] = *files.begin();
    if (paths.size() != expected.size())
      throw InvalidArgument(StrCat("--input: ", first, " has ", expected.size(), " samples and ",
                                   name, " has ", paths.size(),
                                   "; each input has one in a sample"));
  }
  return files;
}

quantize::SampleSource Samples(const QuantizeArguments& arguments, const FilesOfInputs& files,
                               const Executable& exe) {
  if (files.empty()) {
    return [&arguments, &exe](std::size_t index) -> std::optional<runtime::Inputs> {
      if (index >= arguments.random) return std::nullopt;
      return RandomInputs(exe, arguments.seed + index, arguments.model.ExtentValues());
    };
  }
  return [&arguments, &files, &exe](std::size_t index) -> std::optional<runtime::Inputs> {
    if (index >= files.begin()->second.size()) return std::nullopt;
    runtime::Inputs inputs;
    for (const auto& [name, paths] : files)
      inputs[name] = ReadInputFile(paths[index], InputNamed(exe.inputs(), name), arguments.picture);
    return inputs;
  };
}

std::string TextOf(const ir::Module& module, const std::string& path) {
  if (path.ends_with(".onnx")) return ValueOrThrow(onnx_export::ExportOnnx(module));
  return ir::PrintModule(module, {.metadata = true});
}

void QuantizeModel(QuantizeArguments arguments) {
  if (arguments.inputs.empty() == (arguments.random == 0))
    throw InvalidArgument(
        "quantize takes inputs like those that the model will get, as --input NAME=FILE, or "
        "--random N, which says nothing about the loss on real inputs");
  const std::string ending = fs::path(arguments.output).extension();
  if (ending != ".onnx" && ending != ".relay" && ending != ".txt")
    throw InvalidArgument(StrCat("-o ", arguments.output, ": the ending is .onnx, .relay or .txt"));
  RequireWritable(arguments.output);
  const FilesOfInputs files = ReadFileNames(arguments.inputs);
  const ir::Module module =
      LoadModel(arguments.model, [&](const ir::InputSpec& input) -> std::optional<Shape> {
        const auto given = files.find(input.name);
        if (given == files.end()) return std::nullopt;
        return ShapeOfInputFile(given->second[0], input);
      }).module;
  quantize::QuantizeOptions& options = arguments.options;
  options.compile = arguments.compile.Options();
  options.range.rule = *quantize::ParseRangeRule(arguments.rule);
  options.progress = [](const std::string& step) { std::fprintf(stderr, "%s\n", step.c_str()); };
  // Says what the inputs are; what is measured is compiled by Quantize.
  const Executable exe = ValueOrThrow(Compile(module, options.compile));
  const quantize::Quantized quantized =
      ValueOrThrow(quantize::Quantize(module, Samples(arguments, files, exe), options));
  WriteFile(arguments.output, {TextOf(quantized.module, arguments.output)});
  std::fputs(ToText(quantized.report).c_str(), stdout);
}

}  // namespace

void AddQuantizeCommand(CLI::App* command) {
  const auto arguments = std::make_shared<QuantizeArguments>();
  arguments->model.AddTo(command);
  arguments->model.control_flow = false;
  arguments->compile.AddTo(command);
  CLI::Option* inputs =
      command
          ->add_option("--input", arguments->inputs,
                       "a sample of an input: a .npy array, a picture, or a folder of them; more "
                       "files of one input are more samples")
          ->type_name("NAME=FILE");
  command->add_option("--random", arguments->random, "random samples instead")
      ->check(WholeNumber(1, 1000000))
      ->excludes(inputs);
  command->add_option("--seed", arguments->seed, "of the first random sample")
      ->check(WholeNumber(0))
      ->capture_default_str();
  command
      ->add_option("-o,--output", arguments->output,
                   "the quantised model: .onnx (QDQ form), .relay or .txt")
      ->required()
      ->type_name("FILE");
  command->add_option("--ranges", arguments->rule, "how ranges are chosen")
      ->check(CLI::IsMember(quantize::RangeRuleNames()))
      ->capture_default_str();
  command
      ->add_option("--percentile", arguments->options.range.percentile,
                   "how much of the values is inside, for --ranges=percentile")
      ->capture_default_str();
  command
      ->add_option("--keep-float", arguments->options.keep_float,
                   "a product that stays in floating point, as the report names it")
      ->allow_extra_args(false)
      ->type_name("NAME");
  command->add_flag("--depthwise", arguments->options.depthwise,
                    "depthwise convolutions on bytes, too, which are slower then");
  command->add_option("--max-loss", arguments->options.max_loss,
                      "of each result, as a part of its norm; products that round worst stay in "
                      "floating point until the loss is within it");
  AddPictureOptions(command, &arguments->picture);
  command->footer(
      "Example:\n  tenon quantize model.onnx --shape x=1,3,48,192 --input x=lines/ --max-loss 0.05 "
      "-o bytes.onnx");
  command->callback([arguments] { QuantizeModel(*arguments); });
}

}  // namespace tenon::tools
