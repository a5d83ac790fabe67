// The entry function is the plan written out: one call a kernel node. Addresses are those of the
// memory plan, but that a node whose output is a result writes straight to the caller's array.
#include "tenon/compiler/export/c_model.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>

#include "tenon/jit/c/c_source.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/runtime/owners.h"
#include "tenon/support/alignment.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

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

// Text for a C comment: a name from outside must not end it.
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
        owners_(plan_),
        options_(options),
        file_(options.name) {}

  CModel Write() {
    run_ = file_.Unique(options_.name + "_run");
    GuardCpu(&file_, options_.cpu_features);
    AddConstants();
    for (const loop::Function& function : FunctionsOf(lowered_, options_.name))
      direct_.push_back(file_.AddKernel(
          function, options_.native ? NativeSymbol(options_.name, function.name) : ""));
    PlaceStorages();
    AddRun();
    return {.source = file_.Source(), .header = file_.Header(), .constants = constants_};
  }

 private:
  const Node& NodeOf(EntryRef ref) const { return plan_.nodes[static_cast<std::size_t>(ref.node)]; }

  void AddConstants() {
    const std::string symbol = ConstantsSymbol(options_.name);
    for (std::size_t i = 0; i < lowered_.constants.size(); ++i) {
      const NDArray& constant = lowered_.constants[i];
      if (options_.native) {
        constant_address_.push_back(StrCat("(void*)(", symbol, " + ", constants_.size(), ")"));
        constants_.append(static_cast<const char*>(constant.raw()), constant.bytes());
        constants_.resize(RoundUp(constants_.size(), kAlignment));
        continue;
      }
      const std::string name = file_.Unique(StrCat(options_.name, "_constant", i));
      file_.AddDefinitions(StrCat("/* ", constant.dtype().ToString(), " ",
                                  ShapeToString(constant.shape()), " */\nstatic const ",
                                  jit::CMemoryType(constant.dtype()), " ", name, "[",
                                  std::max<std::int64_t>(constant.size(), 1),
                                  "] TENON_ALIGNED = {\n  ", Initializer(constant), "};\n\n"));
      constant_address_.push_back(name);
    }
    if (!constants_.empty())
      file_.AddDefinitions(StrCat("extern const unsigned char ", symbol, "[];\n\n"));
  }

  void PlaceStorages() {
    offsets_.resize(plan_.storage_bytes.size(), 0);
    std::vector<bool> placed(plan_.storage_bytes.size(), false);
    for (std::size_t k = 0; k < plan_.heads.size(); ++k) {
      const EntryRef owner = owners_.Of(plan_.heads[k]).entry;
      // A part of a value is copied to the caller's array: all of the value has no room there.
      if (IsWritten(owner) && plan_.entry(owner).bytes() == plan_.entry(plan_.heads[k]).bytes())
        result_.emplace(std::pair(owner.node, owner.output), k);
    }
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      const Node& node = plan_.nodes[n];
      if (node.kind == NodeKind::kInput) inputs_.push_back(static_cast<int>(n));
      if (!runtime::IsComputed(node.kind)) continue;
      for (std::size_t o = 0; o < node.outputs.size(); ++o) {
        const auto id = static_cast<std::size_t>(node.outputs[o].storage_id);
        const EntryRef owner = owners_.Of({static_cast<int>(n), static_cast<int>(o)}).entry;
        if (placed[id] || result_.contains({owner.node, owner.output})) continue;
        placed[id] = true;
        offsets_[id] = workspace_bytes_;
        // Values without elements have an address, too.
        workspace_bytes_ += RoundUp(std::max<std::size_t>(plan_.storage_bytes[id], 1), kAlignment);
      }
    }
    // For rounding the address up.
    if (workspace_bytes_ > 0) workspace_bytes_ += kAlignment;
  }

  // The address of an entry as a C expression of type void* or const void*.
  std::string Address(EntryRef ref) const {
    const auto [owner, offset] = owners_.Of(ref);
    const Node& node = NodeOf(owner);
    const auto result = result_.find({owner.node, owner.output});
    std::string base;
    if (node.kind == NodeKind::kInput) {
      const auto at = std::find(inputs_.begin(), inputs_.end(), owner.node) - inputs_.begin();
      base = StrCat("inputs[", at, "]");
    } else if (node.kind == NodeKind::kConstant) {
      base = constant_address_[static_cast<std::size_t>(node.constant)];
    } else if (result != result_.end()) {
      base = StrCat("outputs[", result->second, "]");
    } else {
      return StrCat("(memory + ",
                    offsets_[static_cast<std::size_t>(plan_.entry(owner).storage_id)] + offset,
                    ")");
    }
    if (offset == 0) return base;
    return StrCat("((", IsWritten(owner) ? "" : "const ", "unsigned char*)", base, " + ", offset,
                  ")");
  }
  bool IsWritten(EntryRef owner) const { return !runtime::IsGiven(NodeOf(owner).kind); }

  void AddRun() {
    jit::CBlock out;
    out.Open("{");
    out.Line("int32_t status = 0;");
    const bool has_workspace = workspace_bytes_ > 0;
    out.Line("const unsigned state = tenon_flush_denormals();");
    if (has_workspace) {
      out.Line("void* taken = NULL;");
      out.Line("unsigned char* memory;");
    } else {
      out.Line("(void)workspace;");
    }
    out.Line("(void)inputs;");
    out.Line("(void)outputs;");
    if (has_workspace) {
      out.Line(
          StrCat("if (workspace == NULL) workspace = taken = malloc(", workspace_bytes_, ");"));
      out.Line("if (workspace == NULL) status = 1;");
      out.Line("memory = (unsigned char*)(((uintptr_t)workspace + 63) & ~(uintptr_t)63);");
    }
    for (std::size_t n = 0; n < plan_.nodes.size(); ++n) {
      const Node& node = plan_.nodes[n];
      if (node.kind == NodeKind::kCopy)
        out.Line(StrCat("if (status == 0) memcpy(", Address({static_cast<int>(n), 0}), ", ",
                        Address(node.inputs[0]), ", ", node.outputs[0].bytes(), ");"));
      if (node.kind != NodeKind::kKernel) continue;
      std::vector<std::string> arguments;
      const auto add = [&](EntryRef ref, bool is_output) {
        arguments.push_back(StrCat("(", is_output ? "" : "const ",
                                   jit::CMemoryType(plan_.entry(ref).dtype), "*)", Address(ref)));
      };
      for (const EntryRef input : node.inputs) add(input, false);
      for (std::size_t o = 0; o < node.outputs.size(); ++o)
        add({static_cast<int>(n), static_cast<int>(o)}, true);
      out.Line(StrCat("if (status == 0)"));
      out.Line(StrCat("  status = ", direct_[static_cast<std::size_t>(node.kernel)], "(",
                      StrJoin(arguments, ", "), ");"));
    }
    // Results that no node writes to the caller's array: inputs, constants, a result given twice.
    for (std::size_t k = 0; k < plan_.heads.size(); ++k) {
      const std::string source = Address(plan_.heads[k]), target = StrCat("outputs[", k, "]");
      if (source != target)
        out.Line(StrCat("if (status == 0) memcpy(", target, ", ", source, ", ",
                        plan_.entry(plan_.heads[k]).bytes(), ");"));
    }
    if (has_workspace) out.Line("free(taken);");
    out.Line("tenon_restore_denormals(state);");
    out.Line("return status;");
    out.Close();
    file_.UseDenormalControl();
    AddMacros();
    file_.AddFunction(StrCat("int32_t ", run_,
                             "(const void* const* inputs, void* const* outputs, void* workspace)"),
                      out.Text(), DescribeRun(), /*comes_first=*/true);
  }

  void AddMacros() {
    const std::string upper = Upper(options_.name);
    file_.AddToHeader(StrCat("#define ", upper, "_NUM_INPUTS ", inputs_.size(), "\n#define ", upper,
                             "_NUM_OUTPUTS ", plan_.heads.size(), "\n#define ", upper,
                             "_WORKSPACE_BYTES ", workspace_bytes_, "\n\n"));
  }

  std::string DescribeRun() const {
    std::string text =
        "Runs the whole graph. Arrays are row-major and aligned to their elements:\n";
    const auto describe = [&](const char* list, std::size_t index, const std::string& name,
                              const Entry& entry) {
      StrAppend(&text, "     ", list, "[", index, "]: ", Comment(name), name.empty() ? "" : ", ",
                entry.dtype.ToString(), " ", ShapeToString(entry.shape), ", ", entry.bytes(),
                " bytes\n");
    };
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      const Node& node = plan_.nodes[static_cast<std::size_t>(inputs_[i])];
      describe("inputs", i, node.name, node.outputs[0]);
    }
    for (std::size_t k = 0; k < plan_.heads.size(); ++k)
      describe("outputs", k, "", plan_.entry(plan_.heads[k]));
    StrAppend(&text, "   workspace: ", Upper(options_.name), "_WORKSPACE_BYTES (", workspace_bytes_,
              ") bytes of memory that no other call uses meanwhile, or\n   NULL: taken and given ",
              "back in the call. No two of these may overlap.\n   Gives 0; 1 when memory is out");
    if (!options_.cpu_features.empty())
      StrAppend(&text, "; 3 when the CPU has not all of ", StrJoin(options_.cpu_features, ", "));
    return text + ".";
  }

  const Lowered& lowered_;
  const Plan& plan_;
  const runtime::Owners owners_;
  const CModelOptions& options_;
  jit::CFile file_;
  std::string run_;
  std::vector<std::string> direct_;            // by kernel
  std::vector<std::string> constant_address_;  // by constant
  std::string constants_;
  std::vector<int> inputs_;                            // nodes
  std::map<std::pair<int, int>, std::size_t> result_;  // entries that a kernel writes to outputs
  std::vector<std::size_t> offsets_;                   // by storage
  std::size_t workspace_bytes_ = 0;
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
