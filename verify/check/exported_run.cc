#include "tenon/verify/check/exported_run.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "tenon/compiler/export.h"
#include "tenon/compiler/export/run_program.h"
#include "tenon/compiler/save_executable.h"
#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/verify/check/exported_library.h"
#include "tenon/verify/check/exported_program.h"
#include "tenon/verify/check/temporary_folder.h"

namespace tenon::verify {
namespace {

using Arrays = std::vector<NDArray>;
using ir::Expr;
using runtime::Inputs;

// Of each variable of a model besides those that it was drawn with.
constexpr std::int64_t kExtents[] = {0, 1, 2, 3, 7, 13, 31};
constexpr int kOtherShapes = 4;

// Inputs under names that C does not have.
ir::Module WithOddNames(const ir::Module& module, Random& random) {
  static const std::vector<std::string> kNames = {"int",  "run",    "a b",  "*/ #error", "\"",
                                                  "v",    "net",    "über", "0",         "\\",
                                                  "?\?/", "inputs", "a\nb", "x"};
  const ir::FunctionNode& main = module.Main();
  std::set<std::string> taken;
  std::vector<Expr> params;
  ir::ExprMap renamed;
  for (const Expr& param : main.params) {
    std::string name = random.Of(kNames);
    while (!taken.insert(name).second) name += StrCat(taken.size());
    params.push_back(ir::Var::Make(name, param.checked_type(), param.span()));
    renamed.emplace(param, params.back());
  }
  return passes::InferType(
      module.With("main", ir::Function::Make(std::move(params), ir::Substitute(main.body, renamed),
                                             ir::Type(), main.attrs)));
}

void Require(const absl::Status& status) {
  if (!status.ok()) throw FromStatus(status);
}

// Not all models have one plan for all values.
template <typename T>
std::optional<T> UnlessUnimplemented(absl::StatusOr<T> value) {
  if (value.status().code() == absl::StatusCode::kUnimplemented) return std::nullopt;
  return ValueOrThrow(std::move(value));
}

// What an export is compared with, and what loads and calls it.
class Exported {
 public:
  Exported(const ir::Module& module, const CompileOptions& options, ExportForm form, Random& random)
      : options_(options), form_(form), random_(random) {
    if (IsProgram(module)) {
      MakeProgram(module);
      return;
    }
    lowered_ = UnlessUnimplemented(Lower(module, options));
    if (!lowered_) return;
    linked_ = ValueOrThrow(Link(*lowered_, options));
    if (form == ExportForm::kSavedExecutable) {
      Require(SaveExecutable(*lowered_, Path("net"), {.code = Code()}));
      Load();
    } else {
      Build();
    }
  }

  bool exists() const { return linked_.has_value(); }
  const Lowered* lowered() const { return lowered_ ? &*lowered_ : nullptr; }

  // Inputs whose shapes the model does not take give nothing.
  std::optional<Arrays> Run(const Inputs& inputs) const {
    if (program_) return RunProgramLibrary(inputs);
    const bool takes = linked_->Bind(inputs).ok();
    if (takes != Takes(inputs))
      throw DataLoss(StrCat(NameOf(form_), takes ? " refuses" : " takes",
                            " inputs that the executable ",
                            takes ? "takes: " : "refuses: ", Described(inputs)));
    if (!takes) return std::nullopt;
    Arrays results =
        loaded_ ? ValueOrThrow(loaded_->Run(inputs)) : library_->Run(inputs, random_.Chance(70));
    Compare(results, ValueOrThrow(linked_->Run(inputs)), inputs);
    return results;
  }

 private:
  void Compare(const Arrays& results, const Arrays& wanted, const Inputs& inputs) const {
    if (results.size() != wanted.size())
      throw DataLoss(StrCat(NameOf(form_), " has ", results.size(), " results"));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const bool is_same =
          form_ == ExportForm::kCSource
              ? results[i].shape() == wanted[i].shape() && results[i].dtype() == wanted[i].dtype()
              : results[i].SameBytes(wanted[i]);
      if (!is_same)
        throw DataLoss(
            StrCat("result ", i, " of ", NameOf(form_), " is other for ", Described(inputs)));
    }
  }

  // What the executable refuses gives nothing.
  std::optional<Arrays> RunProgramLibrary(const Inputs& inputs) const {
    const absl::StatusOr<Arrays> wanted = linked_->Run(inputs);
    std::optional<Arrays> results = program_->Run(inputs);
    if (results.has_value() != wanted.ok())
      throw DataLoss(StrCat(NameOf(form_), " of a program ", results ? "takes" : "refuses",
                            " inputs that the executable does ", results ? "not: " : "take: ",
                            wanted.ok() ? "" : wanted.status().message(), Described(inputs)));
    if (results) Compare(*results, *wanted, inputs);
    return results;
  }

  std::string Path(const char* name) const { return (folder_.path() / name).string(); }

  ExportOptions Code() const {
    return {.name = "net",
            .target = options_.target,
            .reassociate_reductions = options_.reassociate_reductions};
  }
  void MakeProgram(const ir::Module& module) {
    lowered_program_ = UnlessUnimplemented(LowerProgram(module, options_));
    if (!lowered_program_) return;
    linked_ = ValueOrThrow(Compile(module, options_));
    if (form_ == ExportForm::kSavedExecutable) {
      Require(SaveExecutable(*lowered_program_, Path("net"), {.code = Code()}));
      return Load();
    }
    Write(*lowered_program_, Path("net"));
    program_.emplace(Path("net.so"), "net", *lowered_program_);
  }
  void Load() {
    loaded_ = ValueOrThrow(runtime::LoadExecutable(Path("net"))).executable;
    const auto same = [](const runtime::InputInfo& a, const runtime::InputInfo& b) {
      return a.name == b.name && a.dtype == b.dtype && a.extents == b.extents;
    };
    if (!std::ranges::equal(loaded_->inputs(), linked_->inputs(), same))
      throw DataLoss("the saved executable has other inputs");
  }
  void Build() {
    // A keyword, so that the name of a file does not become that of a function as it is.
    const std::string name = random_.Chance(30) ? "int" : "net";
    const std::string path = Path(name.c_str());
    Write(*lowered_, path);
    library_.emplace(path + ".so", path + ".h", "net", lowered_->plan);
  }
  // PATH.so and PATH.h.
  template <typename Made>
  void Write(const Made& made, const std::string& path) const {
    const ExportOptions code = Code();
    if (form_ == ExportForm::kSharedLibrary)
      return Require(ExportSharedLibrary(made, path + ".so", code));
    Require(ExportCSource(made, path + ".c", code));
    compiler::RunProgram({"cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                          "-O1", path + ".c", "-lm", "-o", path + ".so"},
                         Path("said"));
  }

  bool Takes(const Inputs& inputs) const {
    return loaded_ ? loaded_->Bind(inputs).ok() : library_->Takes(inputs);
  }
  static std::string Described(const Inputs& inputs) {
    return StrJoin(inputs, ", ", [](std::string* text, const auto& input) {
      StrAppend(text, input.second.dtype().ToString(), " ", ShapeToString(input.second.shape()));
    });
  }

  const CompileOptions& options_;
  const ExportForm form_;
  Random& random_;
  const TemporaryFolder folder_;
  std::optional<Lowered> lowered_;
  std::optional<LoweredProgram> lowered_program_;
  std::optional<Executable> linked_, loaded_;
  std::optional<ExportedLibrary> library_;
  std::optional<ExportedProgram> program_;
};

// Inputs of drawn extents. Some belong to no values of the variables.
Inputs OtherInputs(const std::vector<runtime::InputInfo>& infos, Random& random) {
  Dim::Values values;
  std::set<std::string> names;
  for (const runtime::InputInfo& info : infos) {
    for (const Dim& dim : info.extents) dim.AddSymbols(&names);
  }
  for (const std::string& name : names) {
    const auto k = random.Below(std::size(kExtents));
    // Empty ones are refused most of the time.
    values[name] = kExtents[k == 0 ? random.Below(2) : k];
  }
  Inputs inputs;
  for (const runtime::InputInfo& info : infos) {
    Shape shape;
    for (const Dim& dim : info.extents) {
      const std::int64_t extent = dim.Evaluate(values).value_or(0);
      shape.push_back(random.Chance(98) ? std::max<std::int64_t>(extent, 0) : extent + 1);
    }
    inputs.emplace(info.name, TypicalArray(shape, info.dtype, random));
  }
  return inputs;
}

}  // namespace

std::string_view NameOf(ExportForm form) {
  switch (form) {
    case ExportForm::kSavedExecutable:
      return "a saved executable";
    case ExportForm::kSharedLibrary:
      return "a shared library";
    case ExportForm::kCSource:
      return "C source";
  }
  return "";
}

ExportForm RandomForm(Random& random) {
  return random.Chance(40)   ? ExportForm::kSavedExecutable
         : random.Chance(60) ? ExportForm::kSharedLibrary
                             : ExportForm::kCSource;
}

std::optional<Arrays> RunExported(const ir::Module& module, const Arrays& inputs,
                                  const CompileOptions& options, ExportForm form,
                                  std::uint64_t seed) {
  Random random(seed);
  CompileOptions changed = options;
  changed.library = LibraryChoice::kTe;
  changed.check_bounds = false;
  changed.cache_dir.clear();
  const ir::Module named = WithOddNames(module, random);
  const Exported exported(named, changed, form, random);
  if (!exported.exists()) return std::nullopt;
  Inputs given;
  const auto& params = named.Main().params;
  for (std::size_t i = 0; i < params.size(); ++i)
    given.emplace(ir::Var(params[i]).name(), inputs[i]);
  std::optional<Arrays> results = exported.Run(given);
  if (exported.lowered() == nullptr || exported.lowered()->plan.symbols.empty()) return results;
  changed.check_bounds = true;
  const Executable checked = ValueOrThrow(Link(*exported.lowered(), changed));
  for (int i = 0; i < kOtherShapes; ++i) {
    const Inputs other = OtherInputs(checked.inputs(), random);
    // Indices that were drawn for other extents may be outside.
    if (!checked.Bind(other).ok() || checked.Run(other).ok()) exported.Run(other);
  }
  return results;
}

}  // namespace tenon::verify
