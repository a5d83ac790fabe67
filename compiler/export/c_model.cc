// The entry function is the plan written out.
#include "tenon/compiler/export/c_model.h"

#include <optional>
#include <set>

#include "tenon/compiler/export/c_constants.h"
#include "tenon/compiler/export/c_description.h"
#include "tenon/compiler/export/c_extents.h"
#include "tenon/compiler/export/c_places.h"
#include "tenon/compiler/export/c_run.h"
#include "tenon/ir/result_names.h"
#include "tenon/jit/c/c_source.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using runtime::Entry;
using runtime::Node;
using runtime::Plan;

class ModelWriter {
 public:
  ModelWriter(const Lowered& lowered, const CModelOptions& options)
      : lowered_(lowered),
        plan_(lowered.plan),
        options_(options),
        file_(options.name),
        extents_(plan_, file_.Unique(options.name + "_extents")) {}

  CModel Write() {
    run_ = file_.Unique(options_.name + "_run");
    GuardCpu(&file_, options_.cpu_features);
    CConstants constants = AddConstants(lowered_.constants, options_, &file_);
    for (const loop::Function& function : FunctionsOf(lowered_, options_.name))
      direct_.push_back(file_.AddKernel(
          function, options_.native ? NativeSymbol(options_.name, function.name) : ""));
    places_.emplace(plan_, std::move(constants.addresses), &extents_);
    AddFunctions();
    return {.source = file_.Source(),
            .header = file_.Header(),
            .constants = std::move(constants.bytes)};
  }

 private:
  void AddFunctions() {
    file_.UseDenormalControl();
    const CInterface described = Interface();
    AddMacros(described, &file_);
    const bool has_variables = extents_.has_variables();
    // All of these must be made before the numbers that they ask for are defined.
    const jit::CBlock run = CRun(plan_, direct_, &*places_, &extents_).Body(),
                      shapes = OutputShapes();
    if (has_variables) {
      const std::string definition = extents_.Definition();
      file_.AddDefinitions(ExtentHelpersFor(definition) + definition);
      file_.AddFunction(
          StrCat("int64_t ", options_.name, "_workspace_bytes(const int64_t* const* shapes)"),
          Body(WorkspaceBytes(), "-1"),
          "The bytes of the workspace of a run; -1 for shapes that the model does not take.",
          /*comes_first=*/true);
      file_.AddFunction(
          StrCat("int32_t ", options_.name, "_output_shapes(const int64_t* const* shapes, ",
                 "int64_t* const* output_shapes)"),
          Body(shapes, "2"),
          "Writes the extents of each output. Gives 0; 2 for shapes that the model "
          "does not take.",
          /*comes_first=*/true);
    }
    file_.AddFunction(StrCat("int32_t ", run_, "(const void* const* inputs, ",
                             has_variables ? "const int64_t* const* shapes, " : "",
                             "void* const* outputs, void* workspace)"),
                      Body(run, "2"), DescribeRun(described), /*comes_first=*/true);
  }

  // A function's body, which returns `refusal` for shapes that the model does not take.
  std::string Body(const jit::CBlock& lines, const std::string& refusal) const {
    jit::CBlock out;
    out.Open("{");
    if (extents_.has_variables()) {
      for (const std::string& line : extents_.Call(refusal)) out.Line(line);
    }
    out.Append(lines);
    out.Close();
    return out.Text();
  }
  jit::CBlock OutputShapes() {
    jit::CBlock out;
    out.Line("(void)output_shapes;");
    for (std::size_t k = 0; k < plan_.heads.size(); ++k) {
      const std::vector<Dim> extents = plan_.entry(plan_.heads[k]).dims();
      for (std::size_t d = 0; d < extents.size(); ++d)
        out.Line(StrCat("output_shapes[", k, "][", d, "] = ", Number(extents[d]), ";"));
    }
    out.Line("return 0;");
    return out;
  }
  jit::CBlock WorkspaceBytes() const {
    jit::CBlock out;
    out.Line(StrCat("return ", extents_.Text(places_->workspace()), ";"));
    return out;
  }
  std::string Number(const Dim& dim) { return extents_.Text(extents_.Of(dim)); }

  CInterface Interface() const {
    CInterface made{.name = options_.name,
                    .inputs = {},
                    .outputs = {},
                    .workspace_bytes = std::nullopt,
                    .cpu_features = options_.cpu_features};
    for (const int input : places_->inputs()) {
      const Node& node = plan_.nodes[static_cast<std::size_t>(input)];
      made.inputs.push_back({node.name, node.outputs[0].dtype, node.outputs[0].dims()});
    }
    const std::vector<std::string> names = ir::ResultNamesOf(lowered_.module);
    for (std::size_t k = 0; k < plan_.heads.size(); ++k) {
      const Entry& head = plan_.entry(plan_.heads[k]);
      made.outputs.push_back({k < names.size() ? names[k] : "", head.dtype, head.dims()});
    }
    if (!extents_.has_variables()) made.workspace_bytes = extents_.Text(places_->workspace());
    return made;
  }

  const Lowered& lowered_;
  const Plan& plan_;
  const CModelOptions& options_;
  jit::CFile file_;
  std::string run_;
  std::vector<std::string> direct_;  // by kernel
  CExtents extents_;
  std::optional<CPlaces> places_;
};

}  // namespace

void GuardCpu(jit::CFile* file, const std::vector<std::string>& features) {
  if (features.empty()) return;
  const std::string name = file->Unique("tenon_cpu_is_enough");
  std::string body = "static bool " + name + "(void) {\n  __builtin_cpu_init();\n  return ";
  StrAppend(&body,
            StrJoin(features, " &&\n         ",
                    [](std::string* text, const std::string& feature) {
                      StrAppend(text, "__builtin_cpu_supports(\"", feature, "\")");
                    }),
            ";\n}\n\n");
  file->AddDefinitions(body);
  file->GuardKernels(StrCat("if (!", name, "()) return 3;"));
}

CModel WriteModel(const Lowered& lowered, const CModelOptions& options) {
  return ModelWriter(lowered, options).Write();
}

CModel WriteKernels(std::span<const loop::Function> functions, const CModelOptions& options) {
  jit::CFile file(options.name);
  GuardCpu(&file, options.cpu_features);
  std::set<std::string> names;
  for (const loop::Function& function : functions) {
    if (!names.insert(function.name).second)
      throw InvalidArgument(StrCat("export: two kernels have the name ", function.name,
                                   "; give each a name of its own"));
    file.AddKernel(function, options.native ? NativeSymbol(options.name, function.name) : "");
  }
  return {.source = file.Source(), .header = file.Header(), .constants = {}};
}

std::string NameInExport(const std::string& kernel, const std::string& name) {
  constexpr std::string_view kPrefix = "tvmgen_default_";
  if (!kernel.starts_with(kPrefix)) return kernel;
  return StrCat("tvmgen_", name, "_", kernel.substr(kPrefix.size()));
}

std::vector<loop::Function> FunctionsOf(const Lowered& lowered, const std::string& name) {
  std::vector<loop::Function> functions;
  for (const LoweredKernel& kernel : lowered.kernels) {
    if (const auto* function = std::get_if<loop::Function>(&kernel.choice.built.kernel)) {
      functions.push_back(*function);
      functions.back().name = NameInExport(kernel.name, name);
      continue;
    }
    const auto& callable =
        std::get<std::shared_ptr<const jit::Callable>>(kernel.choice.built.kernel);
    throw InvalidArgument(StrCat("export: the kernel ", kernel.name, " is run by ",
                                 callable->implementation(), ", which cannot be exported"))
        .AddNote(
            "lower with the library choice te (LibraryChoice::kTe, --library te), which "
            "generates every kernel");
  }
  return functions;
}

std::string NativeSymbol(const std::string& name, const std::string& kernel) {
  return jit::CIdentifier(StrCat(name, "_native_", kernel));
}
std::string ConstantsSymbol(const std::string& name) { return name + "_constant_bytes"; }

}  // namespace tenon::compiler
