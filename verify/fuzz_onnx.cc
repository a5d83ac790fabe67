#include "tenon/verify/fuzz_onnx.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "tenon/compiler/compile.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/verify.h"
#include "tenon/onnx/model.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/dump_onnx.h"
#include "tenon/verify/check/exported_run.h"
#include "tenon/verify/check/onnx_results.h"
#include "tenon/verify/check/printed_module.h"
#include "tenon/verify/check/symbolic_onnx.h"
#include "tenon/verify/check/temporary_folder.h"
#include "tenon/verify/draw/halves_as_inputs.h"
#include "tenon/verify/draw/mutate_onnx.h"
#include "tenon/verify/draw/random_onnx.h"
#include "tenon/verify/draw/symbolic_module.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

namespace fs = std::filesystem;
using ir::Expr;
using Arrays = std::vector<NDArray>;

constexpr std::chrono::seconds kMaxTime{20};
// So that models of a seed stay what they were.
constexpr std::uint64_t kExports = 0xE4, kSymbols = 0x5A, kHalves = 0x16;
// Elements of a value that no machine holds, and of an input that is drawn.
constexpr std::int64_t kMaxMemory = std::int64_t{1} << 45, kMaxInput = 1 << 17;
constexpr int kSymbolicPercent = 40;
constexpr int kExportedPercent = 4;  // the system's C compiler takes longer than all the rest

// A tensor of one axis that has the same number of bytes modulo 2^64.
void WrapAround(onnx::TensorProto* tensor) {
  if (tensor->dims_size() != 1 || tensor->dims(0) == 0) return;
  const std::size_t bytes = tensor->raw_data().size() / static_cast<std::size_t>(tensor->dims(0));
  if (bytes == 4 || bytes == 8)
    tensor->set_dims(0, tensor->dims(0) + (std::int64_t{1} << 61) * (bytes == 4 ? 2 : 1));
}

// Moves the data of initializers into a file. Sometimes the location, the length or the shape is
// wrong.
void MoveDataOut(onnx::ModelProto* model, const fs::path& folder, Random& random) {
  std::ofstream file(folder / "data.bin", std::ios::binary);
  std::size_t offset = 0;
  for (onnx::TensorProto& tensor : *model->mutable_graph()->mutable_initializer()) {
    if (!tensor.has_raw_data() || random.Chance(30)) continue;
    if (random.Chance(5)) WrapAround(&tensor);
    const std::string padding(random.Chance(50) ? (64 - offset % 64) % 64 : 0, '\0');
    file << padding << tensor.raw_data();
    offset += padding.size();
    const auto add = [&](const char* key, const std::string& value) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", random.Chance(97) ? "data.bin"
                                      : random.Of(std::vector<std::string>{
                                            "", "/dev/zero", "../data.bin", ".", "nowhere.bin",
                                            std::string("\0a", 2)}));
    add("offset", random.Chance(95)
                      ? StrCat(offset)
                      : random.Of(std::vector<std::string>{"-1", "18446744073709551615", "x", ""}));
    if (random.Chance(80))
      add("length", StrCat(tensor.raw_data().size() + (random.Chance(5) ? 4 : 0)));
    offset += tensor.raw_data().size();
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  }
}

class Check {
 public:
  Check(std::uint64_t seed, OnnxFuzzStatistics* statistics, const OnnxFuzzOptions& options)
      : seed_(seed), random_(seed ^ 0x5eed), statistics_(statistics), options_(options) {}

  std::optional<std::string> Of(const onnx::ModelProto& model) {
    const auto start = std::chrono::steady_clock::now();
    std::optional<std::string> words = Imported(model);
    if (words) return words;
    const auto time = std::chrono::steady_clock::now() - start;
    if (!module_ && time > kMaxTime) return "the import takes too long";
    if (!module_) return std::nullopt;
    return Compared(model);
  }

 private:
  // The finding when a model is not properly refused. Sets module_ when the model is accepted.
  std::optional<std::string> Imported(onnx::ModelProto model) {
    std::optional<TemporaryFolder> folder;
    std::string path;
    if (random_.Chance(6)) {
      folder.emplace();
      MoveDataOut(&model, folder->path(), random_);
      path = (folder->path() / "model.onnx").string();
      std::ofstream(path, std::ios::binary) << model.SerializeAsString();
    }
    const absl::StatusOr<onnx_import::OnnxModel> read =
        path.empty() ? onnx_import::OnnxModel::Parse(model.SerializeAsString(), "model")
                     : onnx_import::OnnxModel::Load(path);
    if (!read.ok()) return Refused(read.status(), "it is not read");
    onnx_import::ImportOptions options{.evaluate = strategies::EvaluateCall};
    for (const ir::InputSpec& input : read->inputs()) {
      if (input.Fixed() || random_.Chance(5)) continue;
      Shape shape;
      if (!input.extents) shape = {2, 3};
      for (const ir::Dim& dim : input.extents.value_or(std::vector<ir::Dim>()))
        shape.push_back(dim.is_static() ? dim.value() : random_.Below(5));
      options.shapes[input.name] = shape;
    }
    const absl::StatusOr<ir::Module> module = read->Import(options);
    if (!module.ok()) return Refused(module.status(), "it is not imported");
    const absl::StatusOr<ir::Module> typed = CatchErrors([&] {
      ir::VerifyModule(*module);
      return passes::InferType(*module);
    });
    if (!typed.ok())
      return StrCat("it is imported, but its module is refused: ", typed.status().message());
    module_ = *typed;
    return std::nullopt;
  }

  std::optional<std::string> Refused(const absl::Status& status, const char* what) {
    if (!IsUserError(status)) return StrCat(what, ": ", status.ToString());
    ++statistics_->refused;
    return std::nullopt;
  }

  std::optional<std::string> Compared(const onnx::ModelProto& model) {
    if (const ModuleMeasures measures = MeasuresOf(*module_); measures.IsLarge()) {
      ++statistics_->large;
      return measures.elements > kMaxMemory ? Unallocated() : std::nullopt;
    }
    if (random_.Chance(15)) {
      if (auto words = WrongText(*module_)) return words;
    }
    DrawInputs();
    const absl::StatusOr<Arrays> expected =
        CatchErrors([&] { return Interpret(*module_, inputs_); });
    if (absl::IsResourceExhausted(expected.status())) {
      ++statistics_->large;
      return std::nullopt;
    }
    if (!expected.ok() && (!IsUserError(expected.status()) || ReadsNoElements(expected.status())))
      return StrCat("it is not interpreted: ", expected.status().ToString());
    using Library = std::pair<LibraryChoice, const char*>;
    const Library usual = {LibraryChoice::kAuto, "library auto"};
    const auto [library, library_name] =
        random_.Of(std::vector<Library>{usual,
                                        usual,
                                        usual,
                                        {LibraryChoice::kTe, "library te"},
                                        {LibraryChoice::kLibrary, "library onednn"}});
    std::optional<TemporaryFolder> cache;
    CompileOptions options{.library = library, .keep_nan = true};
    options.winograd = !has_infinities_;
    if (random_.Chance(10)) options.opt_level = static_cast<int>(random_.Below(5));
    if (random_.Chance(12)) {
      cache.emplace();
      options.cache_dir = cache->path().string();
    }
    options.check_bounds = random_.Chance(60);
    const auto run = [&]() -> absl::StatusOr<Arrays> {
      const absl::StatusOr<Executable> executable = Compile(*module_, options);
      if (!executable.ok()) return executable.status();
      is_compiled_ = true;
      return executable->Run(named_);
    };
    const absl::StatusOr<Arrays> actual = run();
    if (!actual.ok()) {
      if (!IsUserError(actual.status()))
        return StrCat(is_compiled_ ? "it fails: " : "it is not compiled: ",
                      actual.status().ToString());
      // Kernels for all extents take what is broadcast together as equal.
      const bool is_limit = actual.status().code() == absl::StatusCode::kUnimplemented;
      if (is_compiled_ && expected.ok() && !is_limit)
        return StrCat("its run is refused, and interpreted it is not: ",
                      actual.status().ToString());
      ++statistics_->refused;
      return std::nullopt;
    }
    if (!expected.ok()) {
      ++statistics_->undefined;
      return std::nullopt;
    }
    if (cache) {
      for (const bool is_warm : {true, false}) {
        if (!is_warm) options.cache_dir.clear();
        const absl::StatusOr<Arrays> other = run();
        if (!other.ok()) return StrCat("another run fails: ", other.status().ToString());
        for (std::size_t i = 0; i < actual->size(); ++i) {
          if (!(*actual)[i].SameBytes((*other)[i]))
            return StrCat("result ", i, " has other bits ",
                          is_warm ? "from a warm cache" : "without a cache");
        }
      }
    }
    auto words = Differing(*actual, *expected, library_name);
    if (!words && !options_.dump.empty())
      DumpOnnx(StrCat(options_.dump, "/", seed_), model, *module_, inputs_, *expected);
    if (!words) words = Exported(*expected);
    if (!words) words = OfInputs(model, *expected);
    return words;
  }

  // Constants of 16 bits give what inputs of the same values give. Models that must know them are
  // refused otherwise.
  std::optional<std::string> OfInputs(const onnx::ModelProto& model, const Arrays& expected) {
    Random random(seed_ ^ kHalves);
    if (!random.Chance(40)) return std::nullopt;
    const auto other = CatchErrors([&] { return HalvesAsInputs(model, *module_, inputs_); });
    if (!other.ok() || !*other) return std::nullopt;
    const absl::StatusOr<Arrays> results =
        CatchErrors([&] { return Interpret((*other)->module, (*other)->inputs); });
    if (!results.ok()) return std::nullopt;
    return Differing(*results, expected, "constants of 16 bits as inputs");
  }

  // What no memory holds must be refused when it is compiled or run, and never be made smaller.
  std::optional<std::string> Unallocated() {
    for (const Expr& param : module_->Main().params) {
      if (NumElements(ir::StaticShape(param.checked_type(), "an input")) > kMaxInput)
        return std::nullopt;
    }
    DrawInputs();
    const absl::StatusOr<Executable> executable =
        Compile(*module_, {.opt_level = static_cast<int>(random_.Below(4))});
    const absl::Status status =
        executable.ok() ? executable->Run(named_).status() : executable.status();
    if (status.ok()) return std::nullopt;  // only the shape of the value is read
    if (IsUserError(status) || absl::IsResourceExhausted(status)) return std::nullopt;
    return StrCat("a value without end is not refused in words: ", status.ToString());
  }

  // The finding of an export. Some of its extents are variables.
  std::optional<std::string> Exported(const Arrays& expected) {
    Random random(seed_ ^ kExports);
    if (!random.Chance(kExportedPercent) && !options_.exports) return std::nullopt;
    const OnnxFuzzStatistics counted = *statistics_;  // with this case
    const ExportForm form = RandomForm(random);
    const std::uint64_t symbols = random.Next(), seed = random.Next();
    const auto symbolic = random.Chance(40) ? WithSymbols(*module_, symbols) : std::nullopt;
    const CompileOptions options{.winograd = !has_infinities_, .keep_nan = true};
    const auto words = CatchErrors([&]() -> std::optional<std::string> {
      const auto results = RunExported(symbolic.value_or(*module_), inputs_, options, form, seed);
      return results ? Differing(*results, expected, NameOf(form)) : std::nullopt;
    });
    *statistics_ = counted;
    if (words.ok()) return *words;
    return StrCat("as ", NameOf(form), ", it fails: ", words.status().ToString(), "\n",
                  ir::PrintModule(symbolic.value_or(*module_), {.metadata = false}));
  }

  void DrawInputs() {
    has_infinities_ = MeasuresOf(*module_).has_infinities;
    for (const Expr& param : module_->Main().params) {
      const DataType type = param.checked_type().As<ir::TensorTypeNode>()->dtype;
      const Shape shape = ir::StaticShape(param.checked_type(), "an input");
      NDArray array = random_.Chance(60) ? RandomArray(shape, type, random_)
                                         : TypicalArray(shape, type, random_);
      if (random_.Chance(6)) array = WithTinyValues(array, random_);
      if (type.is_float() && random_.Chance(4)) {
        array = WithSpecialValues(array, random_);
        has_infinities_ = true;
      }
      inputs_.push_back(array);
      named_.emplace(ir::Var(param).name(), array);
    }
  }

  std::optional<std::string> Differing(const Arrays& actual, const Arrays& expected,
                                       std::string_view how) {
    const ResultComparison comparison(*module_, inputs_, seed_, has_infinities_);
    const auto words = comparison.Differing(actual, expected, statistics_);
    if (!words) return std::nullopt;
    return StrCat("wrong result (", how, "): ", *words, "\n",
                  ir::PrintModule(*module_, {.metadata = false}));
  }

  const std::uint64_t seed_;
  Random random_;
  OnnxFuzzStatistics* const statistics_;
  const OnnxFuzzOptions& options_;
  std::optional<ir::Module> module_;
  Arrays inputs_;
  runtime::Inputs named_;
  bool has_infinities_ = false, is_compiled_ = false;
};

std::string Bytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The model files below a folder, without large ones, sorted.
const std::vector<fs::path>& ModelsIn(const std::string& folder) {
  static const std::vector<fs::path>& files = *[&] {
    auto* found = new std::vector<fs::path>;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      constexpr std::uintmax_t kMaxFileBytes = 1 << 16;
      if (entry.path().extension() == ".onnx" && entry.file_size() <= kMaxFileBytes)
        found->push_back(entry.path());
    }
    std::sort(found->begin(), found->end());
    return found;
  }();
  if (files.empty()) throw NotFound(StrCat("fuzz: no models lie in ", folder));
  return files;
}

// One of the folder's models. Inputs whose values are stored beside it, as in the standard's node
// tests, may become constants.
onnx::ModelProto ReadModel(const OnnxFuzzOptions& options, Random& random) {
  const fs::path& path = random.Of(ModelsIn(options.models));
  onnx::ModelProto model;
  if (!model.ParseFromString(Bytes(path))) return model;
  const fs::path data = path.parent_path() / "test_data_set_0";
  for (int i = 0; i < model.graph().input_size(); ++i) {
    onnx::TensorProto tensor;
    const fs::path file = data / StrCat("input_", i, ".pb");
    if (!fs::exists(file) || random.Chance(40) || !tensor.ParseFromString(Bytes(file))) continue;
    tensor.set_name(model.graph().input(i).name());
    *model.mutable_graph()->add_initializer() = tensor;
  }
  if (options.mutate) {
    for (std::int64_t changes = random.Below(4); changes > 0; --changes) MutateOnnx(&model, random);
  }
  return model;
}

std::string TextOf(onnx::ModelProto model) {
  constexpr std::size_t kMaxText = 20000;
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    if (tensor.raw_data().size() > 64) tensor.mutable_raw_data()->resize(64);
    if (tensor.float_data_size() > 32) tensor.mutable_float_data()->Truncate(32);
    if (tensor.int32_data_size() > 32) tensor.mutable_int32_data()->Truncate(32);
  }
  std::string text = model.DebugString();
  if (text.size() > kMaxText) text = text.substr(0, kMaxText) + "...\n";
  return text;
}

}  // namespace

std::string OnnxFuzzStatistics::ToString() const {
  return StrCat(cases, " models: ", equal, " with equal results, ", refused, " refused, ",
                undefined, " undefined, ", large, " too large to run, ", ill_conditioned,
                " with differences that rounding explains; ", symbolic,
                " models with variables, run for ", values, " sets of values, ", values_refused,
                " sets refused by the model of their shapes, too, ", conditions,
                " by conditions and limits, ", values_left_out, " left out, ", symbolic_refused,
                " models refused with variables");
}

std::string OnnxText(std::string_view bytes) {
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return "";
  return TextOf(std::move(model));
}

void CheckOptions(const OnnxFuzzOptions& options) { RequireDrawable(options.ops); }

std::optional<std::string> FuzzOnnx(std::uint64_t seed, const OnnxFuzzOptions& options,
                                    OnnxFuzzStatistics* statistics) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const auto model = [&](Random& random, bool computes_shapes) {
    return options.models.empty() ? RandomOnnx(random, {options.ops, options.opset, options.mutate,
                                                        computes_shapes, options.before_import})
                                  : ReadModel(options, random);
  };
  ++statistics->cases;
  const auto finding = [&](const onnx::ModelProto& of,
                           const auto& check) -> std::optional<std::string> {
    std::optional<std::string> words;
    // Anything thrown past the boundaries of import and compile is a finding, too.
    const absl::Status status = CatchErrors([&] { words = check(of); });
    if (!status.ok()) words = StrCat("an error is thrown: ", status.ToString());
    if (!words) return std::nullopt;
    return StrCat("finding of seed ", seed, ": ", *words, "\n", TextOf(of));
  };
  if (!options.symbolic) {
    Random random(seed);
    const onnx::ModelProto drawn = model(random, /*computes_shapes=*/false);
    if (options.before_import) options.before_import(drawn.SerializeAsString());
    if (auto found = finding(drawn, [&](const onnx::ModelProto& of) {
          return Check(seed, statistics, options).Of(of);
        }))
      return found;
  }
  Random random(seed ^ kSymbols);
  if (!options.symbolic && !random.Chance(kSymbolicPercent)) return std::nullopt;
  return finding(model(random, /*computes_shapes=*/random.Chance(70)),
                 [&](const onnx::ModelProto& of) {
                   return CheckSymbolicOnnx(of, random.Next(), options, statistics);
                 });
}

}  // namespace tenon::verify
