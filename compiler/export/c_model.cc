// The entry function is the plan written out: one call per kernel node. Addresses are those of the
// memory plan, except that a node whose output is a result writes straight to the caller's array.
#include "tenon/compiler/export/c_model.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <optional>
#include <set>

#include "tenon/compiler/export/c_extents.h"
#include "tenon/compiler/export/c_places.h"
#include "tenon/ir/result_names.h"
#include "tenon/jit/c/c_source.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/runtime/owners.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using runtime::BytesForAll;
using runtime::Entry;
using runtime::EntryRef;
using runtime::Node;
using runtime::NodeKind;
using runtime::Plan;

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Text for a C comment, which a name from outside must not end.
std::string Comment(std::string text) {
  for (char& c : text) {
    if (std::isprint(static_cast<unsigned char>(c)) == 0) c = '?';
  }
  for (std::size_t at = 0; (at = text.find("*/", at)) != std::string::npos;) text[at + 1] = '?';
  return text;
}

template <typename T>
std::string Elements(const NDArray& array, const auto& literal) {
  const T* values = static_cast<const T*>(array.raw());
  std::string text;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    text += i == 0 ? "" : i % 8 == 0 ? ",\n  " : ", ";
    text += literal(values[i]);
  }
  return text.empty() ? "0" : text;
}

std::string Initializer(const NDArray& array) {
  const DataType type = array.dtype();
  const auto integer = [&](const auto value) {
    return jit::WithoutOuterParentheses(jit::CIntLiteral(type, static_cast<std::int64_t>(value)));
  };
  const auto floating = [&](const auto value) {
    return jit::WithoutOuterParentheses(jit::CFloatLiteral(type, value));
  };
  const auto bits = [](const std::uint16_t value) { return StrCat(value); };
  switch (type.code()) {
    case TypeCode::kBool:
      return Elements<std::uint8_t>(array, [](std::uint8_t v) { return v != 0 ? "1" : "0"; });
    case TypeCode::kInt:
      return type.bits() == 8    ? Elements<std::int8_t>(array, integer)
             : type.bits() == 16 ? Elements<std::int16_t>(array, integer)
             : type.bits() == 32 ? Elements<std::int32_t>(array, integer)
                                 : Elements<std::int64_t>(array, integer);
    case TypeCode::kUInt:
      return type.bits() == 8    ? Elements<std::uint8_t>(array, integer)
             : type.bits() == 16 ? Elements<std::uint16_t>(array, integer)
             : type.bits() == 32 ? Elements<std::uint32_t>(array, integer)
                                 : Elements<std::uint64_t>(array, integer);
    case TypeCode::kFloat:
    case TypeCode::kBFloat:
      return type.bits() == 16   ? Elements<std::uint16_t>(array, bits)
             : type.bits() == 32 ? Elements<float>(array, floating)
                                 : Elements<double>(array, floating);
    case TypeCode::kHandle:
      break;
  }
  throw Unimplemented(StrCat("a constant of type ", type.ToString(), " cannot be exported"));
}

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
    std::vector<std::string> constants = AddConstants();
    for (const loop::Function& function : FunctionsOf(lowered_, options_.name))
      direct_.push_back(file_.AddKernel(
          function, options_.native ? NativeSymbol(options_.name, function.name) : ""));
    places_.emplace(plan_, std::move(constants), &extents_);
    AddFunctions();
    return {.source = file_.Source(), .header = file_.Header(), .constants = constants_};
  }

 private:
  // Adds the constants and gives their addresses.
  std::vector<std::string> AddConstants() {
    std::vector<std::string> address;
    const std::string symbol = ConstantsSymbol(options_.name);
    for (std::size_t i = 0; i < lowered_.constants.size(); ++i) {
      const NDArray& constant = lowered_.constants[i];
      if (options_.native) {
        address.push_back(StrCat("(void*)(", symbol, " + ", constants_.size(), ")"));
        constants_.append(static_cast<const char*>(constant.raw()), constant.bytes());
        // A constant without elements has a place, too.
        const std::size_t none = constant.bytes() == 0 ? 1 : 0;
        constants_.resize(RoundUp(constants_.size() + none, kAlignment));
        continue;
      }
      const std::string name = file_.Unique(StrCat(options_.name, "_constant", i));
      file_.AddDefinitions(StrCat("/* ", constant.dtype().ToString(), " ",
                                  ShapeToString(constant.shape()), " */\nstatic const ",
                                  jit::CMemoryType(constant.dtype()), " ", name, "[",
                                  std::max<std::int64_t>(constant.size(), 1),
                                  "] TENON_ALIGNED = {\n  ", Initializer(constant), "};\n\n"));
      address.push_back(name);
    }
    if (!constants_.empty())
      file_.AddDefinitions(StrCat("extern const unsigned char ", symbol, "[];\n\n"));
    return address;
  }

  // The body of the entry function.
  jit::CBlock Run() {
    jit::CBlock run;
    const bool has_workspace = places_->has_workspace();
    run.Line("int32_t status = 0;");
    run.Line("const unsigned state = tenon_flush_denormals();");
    if (has_workspace) {
      run.Line("void* taken = NULL;");
      run.Line("unsigned char* memory;");
    } else {
      run.Line("(void)workspace;");
    }
    run.Line("(void)inputs;");
    run.Line("(void)outputs;");
    if (has_workspace) {
      run.Line(StrCat("if (workspace == NULL) workspace = taken = malloc(",
                      AsSize(places_->workspace()), ");"));
      run.Line("if (workspace == NULL) status = 1;");
      run.Line("memory = (unsigned char*)(((uintptr_t)workspace + 63) & ~(uintptr_t)63);");
    }
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      const Node& node = plan_.nodes[n];
      if (node.kind == NodeKind::kCopy)
        run.Line(StrCat("if (status == 0) memcpy(", places_->Address({static_cast<int>(n), 0}),
                        ", ", places_->Address(node.inputs[0]), ", ", Bytes(node.outputs[0]),
                        ");"));
      if (node.kind != NodeKind::kKernel) continue;
      std::vector<std::string> arguments;
      const auto add = [&](EntryRef ref, bool is_output) {
        arguments.push_back(StrCat("(", is_output ? "" : "const ",
                                   jit::CMemoryType(plan_.entry(ref).dtype), "*)",
                                   places_->Address(ref)));
      };
      for (const EntryRef input : node.inputs) add(input, false);
      for (std::size_t o = 0; o < node.outputs.size(); ++o)
        add({static_cast<int>(n), static_cast<int>(o)}, true);
      for (const Dim& extent : node.arguments) arguments.push_back(Number(extent));
      run.Line(StrCat("if (status == 0", HasElements(node), ")"));
      run.Line(StrCat("  status = ", direct_[static_cast<std::size_t>(node.kernel)], "(",
                      StrJoin(arguments, ", "), ");"));
    }
    // These results are not written to the caller's array by a node: inputs, constants, and a
    // result given twice.
    for (std::size_t k = 0; k < plan_.heads.size(); ++k) {
      const std::string source = places_->Address(plan_.heads[k]),
                        target = StrCat("outputs[", k, "]");
      if (source != target)
        run.Line(StrCat("if (status == 0) memcpy(", target, ", ", source, ", ",
                        Bytes(plan_.entry(plan_.heads[k])), ");"));
    }
    if (has_workspace) run.Line("free(taken);");
    run.Line("tenon_restore_denormals(state);");
    run.Line("return status;");
    return run;
  }

  void AddFunctions() {
    file_.UseDenormalControl();
    AddMacros();
    const bool has_variables = extents_.has_variables();
    // All of these must be made before the numbers that they ask for are defined.
    const jit::CBlock run = Run(), shapes = OutputShapes();
    if (has_variables) {
      file_.AddDefinitions(extents_.Definition());
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
                      Body(run, "2"), DescribeRun(), /*comes_first=*/true);
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
  // A kernel is called only if one of its results has elements. Empty: one has them for all values.
  std::string HasElements(const Node& node) {
    std::vector<std::string> results;
    for (const Entry& output : node.outputs) {
      std::vector<std::string> tests;
      for (const Dim& extent : output.dims()) {
        if (extent.LowerBound().value_or(0) < 1) tests.push_back(StrCat(Number(extent), " != 0"));
      }
      if (tests.empty()) return "";
      results.push_back(StrCat("(", StrJoin(tests, " && "), ")"));
    }
    return StrCat(" && (", StrJoin(results, " || "), ")");
  }
  std::string Number(const Dim& dim) { return extents_.Text(extents_.Of(dim)); }
  std::string Bytes(const Entry& entry) { return AsSize(extents_.Of(BytesForAll(entry))); }
  // The number as a size_t.
  std::string AsSize(int number) const {
    return StrCat(extents_.has_variables() ? "(size_t)" : "", extents_.Text(number));
  }

  void AddMacros() {
    const std::string upper = Upper(options_.name);
    file_.AddToHeader(StrCat("#define ", upper, "_NUM_INPUTS ", places_->inputs().size(),
                             "\n#define ", upper, "_NUM_OUTPUTS ", plan_.heads.size(), "\n"));
    if (!extents_.has_variables())
      file_.AddToHeader(StrCat("#define ", upper, "_WORKSPACE_BYTES ",
                               extents_.Text(places_->workspace()), "\n"));
    file_.AddToHeader("\n");
  }

  std::string DescribeRun() const {
    std::string text =
        "Runs the whole graph. Arrays are row-major and aligned to their elements:\n";
    const auto describe = [&](const char* list, std::size_t index, const std::string& name,
                              const Entry& entry) {
      StrAppend(&text, "     ", list, "[", index, "]: ", Comment(name), name.empty() ? "" : ", ",
                entry.dtype.ToString(), " ");
      if (extents_.has_variables()) {
        StrAppend(
            &text, "(",
            StrJoin(entry.dims(), ", ",
                    [](std::string* out, const Dim& dim) { *out += Comment(dim.ToString()); }),
            ")\n");
      } else {
        StrAppend(&text, ShapeToString(entry.shape), ", ", entry.bytes(), " bytes\n");
      }
    };
    for (std::size_t i = 0; i < places_->inputs().size(); ++i) {
      const Node& node = plan_.nodes[static_cast<std::size_t>(places_->inputs()[i])];
      describe("inputs", i, node.name, node.outputs[0]);
    }
    const std::vector<std::string> names = ir::ResultNamesOf(lowered_.module);
    for (std::size_t k = 0; k < plan_.heads.size(); ++k)
      describe("outputs", k, k < names.size() ? names[k] : "", plan_.entry(plan_.heads[k]));
    if (extents_.has_variables()) text += "   shapes[i]: the extents of inputs[i].\n";
    StrAppend(&text, "   workspace: ",
              extents_.has_variables() ? StrCat(options_.name, "_workspace_bytes(shapes)")
                                       : StrCat(Upper(options_.name), "_WORKSPACE_BYTES (",
                                                extents_.Text(places_->workspace()), ")"),
              " bytes of memory that no other call uses meanwhile, or\n   NULL: taken and given ",
              "back in the call. No two of these may overlap.\n   Gives 0; 1 when memory is out");
    if (extents_.has_variables()) text += "; 2 for shapes that the model does not take";
    if (!options_.cpu_features.empty())
      StrAppend(&text, "; 3 when the CPU has not all of ", StrJoin(options_.cpu_features, ", "));
    return text + ".";
  }

  const Lowered& lowered_;
  const Plan& plan_;
  const CModelOptions& options_;
  jit::CFile file_;
  std::string run_;
  std::vector<std::string> direct_;  // by kernel
  std::string constants_;
  CExtents extents_;
  std::optional<CPlaces> places_;
};

}  // namespace

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
