#include "tenon/verify/check/check_onnx.h"

#include <chrono>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/verify.h"
#include "tenon/onnx/model.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/array_values.h"
#include "tenon/verify/check/dump_onnx.h"
#include "tenon/verify/check/exported_run.h"
#include "tenon/verify/check/onnx_results.h"
#include "tenon/verify/check/printed_module.h"
#include "tenon/verify/check/temporary_folder.h"
#include "tenon/verify/draw/halves_as_inputs.h"
#include "tenon/verify/draw/move_data_out.h"
#include "tenon/verify/draw/symbolic_module.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ir::Expr;
using Arrays = std::vector<NDArray>;

constexpr std::chrono::seconds kMaxTime{20};
// So that models of a seed stay what they were.
constexpr std::uint64_t kExports = 0xE4, kHalves = 0x16;
// Elements of a value that no machine holds, and of an input that is drawn.
constexpr std::int64_t kMaxMemory = std::int64_t{1} << 45, kMaxInput = 1 << 17;
constexpr int kExportedPercent = 4;  // the system's C compiler takes longer than all the rest

// One model, and what it is imported as.
class OnnxCheck {
 public:
  OnnxCheck(std::uint64_t seed, OnnxFuzzStatistics* statistics, const OnnxFuzzOptions& options)
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
    const std::string_view library = DrawCompile();
    const absl::StatusOr<Arrays> actual = Run();
    if (!actual.ok()) return RefusedRun(actual.status(), expected.ok());
    if (!expected.ok()) {
      ++statistics_->undefined;
      return std::nullopt;
    }
    auto words = cache_ ? OtherBits(*actual) : std::nullopt;
    if (words) return words;
    words = Differing(*actual, *expected, library);
    if (!words && !options_.dump.empty())
      DumpOnnx(StrCat(options_.dump, "/", seed_), model, *module_, inputs_, *expected);
    if (!words) words = Exported(*expected);
    if (!words) words = OfInputs(model, *expected);
    return words;
  }

  // Draws how the module is compiled. Returns the choice of a library as text.
  std::string_view DrawCompile() {
    using Library = std::pair<LibraryChoice, const char*>;
    const Library usual = {LibraryChoice::kAuto, "library auto"};
    const auto [library, library_name] =
        random_.Of(std::vector<Library>{usual,
                                        usual,
                                        usual,
                                        {LibraryChoice::kTe, "library te"},
                                        {LibraryChoice::kLibrary, "library onednn"}});
    compile_.library = library;
    compile_.keep_nan = true;
    compile_.winograd = !has_infinities_;
    if (random_.Chance(10)) compile_.opt_level = static_cast<int>(random_.Below(5));
    if (random_.Chance(12)) {
      cache_.emplace();
      compile_.cache_dir = cache_->path().string();
    }
    compile_.check_bounds = random_.Chance(60);
    return library_name;
  }

  absl::StatusOr<Arrays> Run() {
    const absl::StatusOr<Executable> executable = Compile(*module_, compile_);
    if (!executable.ok()) return executable.status();
    is_compiled_ = true;
    return executable->Run(named_);
  }

  // Of a module that is not compiled, or whose run fails.
  std::optional<std::string> RefusedRun(const absl::Status& status, bool is_interpreted) {
    // Kernels for all extents take what is broadcast together as equal.
    const bool is_limit = status.code() == absl::StatusCode::kUnimplemented;
    if (is_compiled_ && is_interpreted && !is_limit && IsUserError(status))
      return StrCat("its run is refused, and interpreted it is not: ", status.ToString());
    return Refused(status, is_compiled_ ? "it fails" : "it is not compiled");
  }

  // What gives other bits than a run from a cache that was empty.
  std::optional<std::string> OtherBits(const Arrays& actual) {
    for (const bool is_warm : {true, false}) {
      if (!is_warm) compile_.cache_dir.clear();
      const absl::StatusOr<Arrays> other = Run();
      if (!other.ok()) return StrCat("another run fails: ", other.status().ToString());
      for (std::size_t i = 0; i < actual.size(); ++i) {
        if (!actual[i].SameBytes((*other)[i]))
          return StrCat("result ", i, " has other bits ",
                        is_warm ? "from a warm cache" : "without a cache");
      }
    }
    return std::nullopt;
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
  CompileOptions compile_;
  std::optional<TemporaryFolder> cache_;
  bool has_infinities_ = false, is_compiled_ = false;
};

}  // namespace

std::optional<std::string> CheckOnnx(const onnx::ModelProto& model, std::uint64_t seed,
                                     const OnnxFuzzOptions& options,
                                     OnnxFuzzStatistics* statistics) {
  return OnnxCheck(seed, statistics, options).Of(model);
}

}  // namespace tenon::verify
