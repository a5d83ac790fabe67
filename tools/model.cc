#include "tenon/tools/model.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <system_error>

#include <sys/stat.h>
#include <unistd.h>

#include "CLI/CLI.hpp"
#include "tenon/compiler/code_generator.h"
#include "tenon/compiler/load_plugin.h"
#include "tenon/compiler/partition_onednn.h"
#include "tenon/ir/parse_extents.h"
#include "tenon/ir/result_names.h"
#include "tenon/ir/text_format.h"
#include "tenon/jit/object/object_cache.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/models/registry.h"
#include "tenon/onnx/model.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/registry.h"
#include "tenon/relax/text_format.h"
#include "tenon/runtime/npy.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/onednn/adapter.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/model_file.h"
#include "tenon/tools/option_checks.h"
#include "tenon/tools/results.h"

namespace tenon::tools {

void ModelArguments::AddTo(CLI::App* command) {
  command
      ->add_option("model", path,
                   "ONNX model, Relay text or Relax text (- for standard input), or model:NAME, a "
                   "built-in one")
      ->required();
  command
      ->add_option("--shape", shapes,
                   "extents of an input that the model leaves open; with --symbolic, names are "
                   "variables, and extents may be expressions of them, as in n,2*n + 1")
      ->type_name("NAME=1,3,48,192");
  command->add_flag("--symbolic", symbolic,
                    "extents that an ONNX model leaves open stay variables: one compile takes all "
                    "shapes");
  command
      ->add_option("--dim", dims,
                   "what a variable of the extents is: an expression of others, or a range of "
                   "values; with --symbolic")
      ->type_name("NAME=8*k|1..512");
  command
      ->add_option(
          "--constant", constants,
          "fixed value of an input of an ONNX model: a number for an input of one element, "
          "or a .npy array")
      ->type_name("NAME=VALUE");
  command
      ->add_option("--plugin", plugins,
                   "shared object that registers operators or a code generator")
      ->type_name("FILE.so");
}

void ModelArguments::AddExtentTo(CLI::App* command) {
  command
      ->add_option("--extent", extents,
                   "value of a variable in the extents of random inputs; others are 16")
      ->type_name("NAME=7");
}

Dim::Values ModelArguments::ExtentValues() const {
  Dim::Values values;
  for (const auto& [name, text] : Assignments(extents, "--extent")) {
    const auto value = ParseNumber<std::int64_t>(text);
    const std::int64_t least = Dim::Symbol(name).LowerBound().value_or(1);
    if (!value || *value < least)
      throw InvalidArgument(StrCat("--extent: ", text, " is not an extent of the variable ", name,
                                   "; these are integers from ", least, " on"));
    values[name] = *value;
  }
  return values;
}

void CompileArguments::AddTo(CLI::App* command) {
  command
      ->add_option("--opt-level", opt_level,
                   "0: no fusion, 1: fusion, 2: constants folded, 3: algebra, 4: branches combined")
      ->check(WholeNumber(0, 4))
      ->capture_default_str();
  command->add_option("--threads", threads, "threads that a run uses; 0: all cores")
      ->check(WholeNumber(0, jit::kMaxThreads))
      ->capture_default_str();
  command->add_option("--library", library, "which kernels: generated (te), oneDNN or the better")
      ->check(CLI::IsMember({"auto", "te", "onednn"}))
      ->capture_default_str();
  command
      ->add_option("--target", target,
                   "llvm: schedules for this CPU; c: plain computations and generic schedules, as "
                   "for a CPU of which nothing is known")
      ->check(CLI::IsMember({"llvm", "c"}))
      ->capture_default_str();
  command
      ->add_option(
          "--partition", partition,
          "code generator into whose functions calls are moved: onednn, or one of a plug-in")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option("--fusion", fusion,
                   "relay: the reference's groups; extended: around reductions, too, which is how "
                   "level 3 fuses")
      ->check(CLI::IsMember({"relay", "extended"}));
  command->add_flag("--no-winograd", no_winograd,
                    "convolutions only as plain sums of all terms, never by Winograd's algorithm");
  command->add_flag("--keep-nan", keep_nan,
                    "no library whose relu or clip turns NaN into a number");
  command->add_flag("--reproducible", reproducible,
                    "the same bits on every CPU with AVX2 and FMA: generated code whose sums keep "
                    "their order, and no measured choices; slower");
  command
      ->add_option("--mixed-precision", mixed_precision,
                   "convolutions and products of operands of this type, summed in float32: faster "
                   "where the CPU multiplies it, less precise")
      ->check(CLI::IsMember({"bfloat16", "float16"}));
  command
      ->add_option("--mcpu-features", cpu_features,
                   "changes to the machine that is decided for: features of the CPU that this one "
                   "has, and cpu, cores, l1, l2, l3 and line (caches in bytes, K or M)")
      ->type_name("-avx512f,l2=512K,cores=8,...");
  command->add_flag("--check-bounds", check_bounds,
                    "generated kernels check every access to memory and name the first outside "
                    "its array; slower");
  command->add_option("--disable-pass", disabled_passes, "pass to leave out")->type_name("PASS");
  command
      ->add_option("--cache-dir", cache_dir,
                   "folder that keeps compiled kernels for later runs; by default tenon in "
                   "$XDG_CACHE_HOME or ~/.cache. Anyone who can write there can run code here")
      ->type_name("FOLDER");
  command->add_flag("--no-cache", no_cache, "compile everything again and keep nothing")
      ->excludes("--cache-dir");
  CLI::Option* file =
      command
          ->add_option("--records", records,
                       "what tenon tune has measured, by which kernels are chosen; by default "
                       "records.sqlite in the cache folder, where it exists, and the records that "
                       "come with Tenon")
          ->type_name("FILE");
  command->add_flag("--no-records", no_records, "choose kernels by estimates alone")
      ->excludes(file);
}

// As the XDG Base Directory Specification says, a path that is not absolute does not count.
std::string CompileArguments::CacheFolder() const {
  if (no_cache) return "";
  if (cache_dir) {
    if (cache_dir->empty())
      throw InvalidArgument("--cache-dir is empty; name a folder, or say --no-cache");
    return *cache_dir;
  }
  const char* caches = std::getenv("XDG_CACHE_HOME");
  if (caches != nullptr && caches[0] == '/') return StrCat(caches, "/tenon");
  const char* home = std::getenv("HOME");
  return home != nullptr && home[0] == '/' ? StrCat(home, "/.cache/tenon") : "";
}

void CompileArguments::WarnOfCache() const {
  if (!cache_dir || no_cache) return;
  const std::filesystem::path folder = CacheFolder();
  std::error_code failure;
  const auto check = [&](int result) {
    if (!failure && result != 0) failure = std::error_code(errno, std::generic_category());
  };
  if (!std::filesystem::exists(folder, failure)) {
    failure.clear();
    if (folder.has_parent_path())
      std::filesystem::create_directories(folder.parent_path(), failure);
    check(mkdir(folder.c_str(), S_IRWXU));  // everyone who may write there can run code
  }
  if (!failure && !std::filesystem::is_directory(folder))
    failure = std::make_error_code(std::errc::not_a_directory);
  check(access(folder.c_str(), W_OK));
  if (failure)
    std::cerr << "tenon: the cache " << folder.string()
              << " cannot be written, so nothing is kept: " << failure.message() << "\n";
  const std::string refusal = failure ? "" : jit::ObjectCache(folder, 1).Refusal();
  if (!refusal.empty())
    std::cerr << "tenon: the cache " << folder.string() << " is not used: " << refusal << "\n";
}

passes::FusionMode ParseFusion(const std::string& name) {
  return name == "extended" ? passes::FusionMode::kExtended : passes::FusionMode::kRelay;
}

// Throws Unimplemented where oneDNN is asked for and is not in this build.
void RequireOneDnn(const std::string& option, const std::string& value) {
  if (value == "onednn" && !strategies::onednn::IsPresent())
    throw Unimplemented(
        StrCat(option, " onednn: this Tenon was built without oneDNN (-DTENON_ONEDNN=ON)"));
}

CompileOptions CompileArguments::OptionsWithoutRecords() const {
  RequireOneDnn("--library", library);
  return {.target = jit::HostTarget(cpu_features),
          .opt_level = opt_level,
          .threads = threads,
          .library = library == "te"       ? LibraryChoice::kTe
                     : library == "onednn" ? LibraryChoice::kLibrary
                                           : LibraryChoice::kAuto,
          .generic = target == "c",
          .fusion = fusion.empty() ? std::nullopt : std::optional(ParseFusion(fusion)),
          .winograd = !no_winograd,
          .keep_nan = keep_nan,
          .mixed_precision = mixed_precision.empty()         ? std::nullopt
                             : mixed_precision == "bfloat16" ? std::optional(BFloat16)
                                                             : std::optional(Float16),
          .reproducible = reproducible,
          .disabled_passes = disabled_passes,
          .check_bounds = check_bounds,
          .cache_dir = CacheFolder()};
}

CompileOptions CompileArguments::Options() const {
  CompileOptions options = OptionsWithoutRecords();
  options.measured = Measured(options);
  return options;
}

ir::Module CompileArguments::Partitioned(const ir::Module& module) const {
  if (partition == kNoPartition) return module;
  RequireOneDnn("--partition", partition);
  return PartitionFor(module, partition == "onednn" ? kOneDnnName : partition,
                      {.opt_level = opt_level, .disabled = disabled_passes});
}

std::pair<std::string, std::string> SplitAssignment(const std::string& text,
                                                    const std::string& option) {
  const std::size_t sign = text.find('=');
  if (sign == std::string::npos || sign == 0 || sign + 1 == text.size())
    throw InvalidArgument(StrCat(option, " takes NAME=VALUE, not ", text));
  return {text.substr(0, sign), text.substr(sign + 1)};
}

namespace {

// The parts between commas, without the blanks around them.
std::vector<std::string> PartsOf(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string& spaced : StrSplit(text, ',')) {
    const std::size_t first = std::min(spaced.find_first_not_of(' '), spaced.size());
    parts.push_back(spaced.substr(first, spaced.find_last_not_of(' ') + 1 - first));
  }
  return parts;
}

}  // namespace

Shape ParseShape(const std::string& text, const std::string& option) {
  if (text.ends_with(',')) throw InvalidArgument(StrCat(option, ": ", text, " ends in a comma"));
  Shape shape;
  for (const std::string& part : PartsOf(text)) {
    const auto extent = ParseNumber<std::int64_t>(part);
    if (!extent || *extent < 0)
      throw InvalidArgument(
          StrCat(option, ": ", part,
                 " is not an extent; extents are integers from 0 on, as in 1,3,48,192"));
    shape.push_back(*extent);
  }
  return shape;
}

std::vector<Dim> ParseExtents(const std::string& text, bool symbolic) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  if (!symbolic || std::ranges::none_of(text, is_letter)) {
    const Shape shape = ParseShape(text, "--shape");
    return {shape.begin(), shape.end()};
  }
  // Relay text wants quotes around many names that exporters give, such as a.b.0.
  if (text.find_first_of("+-*()\"") != std::string::npos) {
    try {
      return ir::ParseExtents(StrCat("(", text, ")"));
    } catch (const Error& error) {
      throw InvalidArgument(StrCat("--shape: ", text,
                                   " is not an extent or a list of them, such as n,2*n + 1,192; "
                                   "a name with other signs stands in quotes: ",
                                   error.message()));
    }
  }
  std::vector<Dim> extents;
  for (const std::string& part : PartsOf(text)) {
    // The name of an extent that may be 0 begins with #.
    const std::size_t first = part.starts_with('#') ? 1 : 0;
    const bool is_name = part.size() > first && is_letter(static_cast<unsigned char>(part[first]));
    extents.push_back(is_name ? Dim::Symbol(part) : Dim(ParseShape(part, "--shape").at(0)));
  }
  return extents;
}

void LoadPlugins(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.empty()) throw InvalidArgument("--plugin is empty; name a file");
    LoadPlugin(path);
  }
}

namespace {

bool Holds(DataType type, double number) {
  if (type.is_float()) return true;
  const double limit = std::ldexp(1, std::min(type.bits(), 53) - (type.is_int() ? 1 : 0));
  const double lowest = type.is_int() ? -limit : 0;
  return std::trunc(number) == number && number >= lowest && number < limit;
}

[[noreturn]] void RefuseConstant(const onnx_import::OnnxModel& model, const std::string& name) {
  throw InvalidArgument(StrCat(
      "--constant: the model has no input ", name, "; it has ",
      StrJoin(model.inputs(), ", ",
              [](std::string* text, const ir::InputSpec& input) { StrAppend(text, input.name); })));
}

// The value that --constant gives to an input of the model.
NDArray ParseConstant(const onnx_import::OnnxModel& model, const std::string& name,
                      const std::string& value) {
  if (value.ends_with(".npy")) return ValueOrThrow(runtime::ReadNpy(value));
  auto spec = std::ranges::find(model.inputs(), name, &ir::InputSpec::name);
  if (spec == model.inputs().end()) {
    spec = std::ranges::find(model.initialized_inputs(), name, &ir::InputSpec::name);
    if (spec == model.initialized_inputs().end()) RefuseConstant(model, name);
  }
  const auto number = ParseNumber<double>(value);
  if (number && Holds(spec->dtype, *number)) {
    const ir::Expr scalar = ops::Scalar(*number, spec->dtype);
    if (const auto* constant = scalar.As<ir::ConstantNode>())
      return constant->data.Reshape(Shape(spec->extents ? spec->extents->size() : 0, 1));
  }
  throw InvalidArgument(StrCat("--constant: ", value, " is neither a number of the type ",
                               spec->dtype.ToString(), " nor a .npy file"));
}

// Of --dim: "1..512", either bound of which may be missing, or an expression.
void AddDim(const std::string& name, const std::string& text, onnx_import::ImportOptions* options) {
  const std::size_t dots = text.find("..");
  if (dots == std::string::npos) {
    const std::vector<Dim> extents = ir::ParseExtents(StrCat("(", text, ")"));
    if (extents.size() != 1)
      throw InvalidArgument(StrCat("--dim: ", text, " is not one extent for ", name));
    options->dims[name] = extents[0];
    return;
  }
  const std::string least = text.substr(0, dots), most = text.substr(dots + 2);
  for (const std::string& bound : {least, most}) {
    if (!bound.empty() && !ParseNumber<std::int64_t>(bound))
      throw InvalidArgument(
          StrCat("--dim: ", text, " is no range of ", name, "; one is 1..512, 1.. or ..512"));
  }
  // The value 0 is that of names that begin with #.
  const bool may_be_none = !least.empty() && ParseNumber<std::int64_t>(least) == 0;
  const Dim meant = Dim::Symbol(may_be_none && !name.starts_with('#') ? "#" + name : name);
  if (meant.symbol() != name) options->dims[name] = meant;
  const std::string variable = meant.ToString();  // in quotes where names need them
  if (!least.empty()) options->limits.push_back(StrCat(least, " <= ", variable));
  if (!most.empty()) options->limits.push_back(StrCat(variable, " <= ", most));
}

LoadedModel LoadOnnx(const onnx_import::OnnxModel& model, const ModelArguments& arguments,
                     const ShapeOfInput& shape_of) {
  onnx_import::ImportOptions options{.shapes = {}, .evaluate = strategies::EvaluateCall};
  options.symbolic = arguments.KeepsVariables();
  options.control_flow = arguments.control_flow;
  for (const auto& [name, shape] : Assignments(arguments.shapes, "--shape")) {
    std::vector<Dim> extents = ParseExtents(shape, arguments.KeepsVariables());
    if (std::ranges::all_of(extents, &Dim::is_static)) {
      Shape& numbers = options.shapes[name];
      for (const Dim& extent : extents) numbers.push_back(extent.value());
    } else {
      options.extents[name] = std::move(extents);
    }
  }
  if (!arguments.dims.empty() && !arguments.KeepsVariables())
    throw InvalidArgument("--dim says what variables are; give --symbolic, too");
  for (const auto& [name, text] : Assignments(arguments.dims, "--dim"))
    AddDim(name, text, &options);
  for (const auto& [name, value] : Assignments(arguments.constants, "--constant"))
    options.constants[name] = ParseConstant(model, name, value);
  const auto take_shape = [&](const ir::InputSpec& input) {
    if (!shape_of || options.constants.contains(input.name) || options.shapes.contains(input.name))
      return;
    if (std::optional<Shape> shape = shape_of(input))
      options.shapes[input.name] = *std::move(shape);
  };
  for (const ir::InputSpec& input : model.inputs()) {
    if (!arguments.KeepsVariables() && !input.Fixed()) take_shape(input);
  }
  // What a file is given for takes its value instead of the model's.
  std::ranges::for_each(model.initialized_inputs(), take_shape);
  return {ValueOrThrow(model.Import(options)), model.results()};
}

LoadedModel WithResultNames(ir::Module module) {
  std::vector<std::string> names = ir::ResultNamesOf(module);
  return {std::move(module), std::move(names)};
}

}  // namespace

LoadedModel LoadModel(const ModelArguments& arguments, const ShapeOfInput& shape_of) {
  LoadPlugins(arguments.plugins);
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  // A mistake is reported before a file is read.
  for (const auto& [name, shape] : Assignments(arguments.shapes, "--shape"))
    (void)ParseExtents(shape, arguments.KeepsVariables());
  if (arguments.path.ends_with(".onnx"))
    return LoadOnnx(ValueOrThrow(onnx_import::OnnxModel::Load(arguments.path)), arguments,
                    shape_of);
  constexpr std::string_view kBuiltIn = "model:";
  const bool is_built_in = arguments.path.starts_with(kBuiltIn);
  const std::string bytes = is_built_in ? std::string() : ReadWhole(arguments.path);
  const std::string source = arguments.path == "-" ? "standard input" : arguments.path;
  if (LooksLikeOnnx(bytes)) {
    // Weights in separate files are in the folder of the model.
    const bool is_file = std::filesystem::is_regular_file(arguments.path);
    return LoadOnnx(ValueOrThrow(is_file ? onnx_import::OnnxModel::Load(arguments.path)
                                         : onnx_import::OnnxModel::Parse(bytes, source)),
                    arguments, shape_of);
  }
  if (!arguments.shapes.empty())
    throw InvalidArgument("--shape is for ONNX models; others carry their types");
  if (arguments.symbolic || !arguments.dims.empty())
    throw InvalidArgument(StrCat(arguments.symbolic ? "--symbolic" : "--dim",
                                 " is for ONNX models; others carry their types"));
  if (!arguments.constants.empty()) throw InvalidArgument("--constant is for ONNX models");
  if (is_built_in) return {models::Build(arguments.path.substr(kBuiltIn.size())), {}};
  RequireText(bytes, source);
  if (arguments.path.ends_with(".py") || relax::LooksLikeRelax(bytes))
    return WithResultNames(ValueOrThrow(relax::ParseRelax(bytes, source)));
  return {ValueOrThrow(ir::ParseModule(bytes, ops::OpRegistry::Global().Resolver(), source)), {}};
}

}  // namespace tenon::tools
