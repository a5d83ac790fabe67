// Compiling and running.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "tenon/c_api/arrays.h"
#include "tenon/c_api/handles.h"
#include "tenon/c_api/options.h"
#include "tenon/compiler/lower_program.h"
#include "tenon/compiler/symbolic/named_extents.h"
#include "tenon/ir/flatten.h"
#include "tenon/passes/infer_type.h"
#include "tenon/runtime/dlpack.h"

namespace tenon::c_api {
namespace {

using Json = nlohmann::ordered_json;

// Expressions of variables are texts.
Json Describe(const runtime::Entry& entry) {
  Json shape = Json::array();
  for (const Dim& dim : entry.dims())
    shape.push_back(dim.is_static() ? Json(dim.value()) : Json(dim.ToString()));
  return {{"dtype", entry.dtype.ToString()}, {"shape", shape}};
}

// The fields of the result of @main, in a module that is typed for this.
std::vector<runtime::Entry> ResultsOf(const ir::Module& module) {
  std::vector<runtime::Entry> results;
  const ir::Module typed = passes::InferType(module);
  for (const ir::Type& field : Flatten(typed.Main().body.checked_type())) {
    const auto* tensor = field.As<ir::TensorTypeNode>();
    if (tensor == nullptr)
      throw Unimplemented(StrCat("a result of @main is ", ir::ToString(field), ", no tensor"));
    results.push_back({.shape = {}, .dtype = tensor->dtype, .extents = tensor->shape});
  }
  return results;
}

std::vector<runtime::Entry> ResultsOf(const runtime::Plan& plan) {
  std::vector<runtime::Entry> results;
  for (std::size_t i = 0; i < plan.heads.size() - plan.extents.size(); ++i)
    results.push_back(plan.entry(plan.heads[i]));
  return results;
}

// A module of variables. The plan for all their values shows it, where there is one. The executable
// also takes values for which that does not hold, and kernels that are made for each shape.
TenonExecutable CompiledForAll(const ir::Module& module, const CompileOptions& options) {
  runtime::Executable executable = ValueOrThrow(Compile(module, options));
  absl::StatusOr<Lowered> planned = Lower(module, options);
  const bool has_plan = planned.ok();
  if (!has_plan && planned.status().code() != absl::StatusCode::kInternal)
    planned = LowerKernels(module, options);
  Lowered lowered = ValueOrThrow(std::move(planned));
  std::vector<runtime::Entry> results =
      has_plan ? ResultsOf(lowered.plan) : ResultsOf(compiler::NameExtents(module));
  // Those of the executable, in their order.
  std::erase_if(lowered.kernels, [](const LoweredKernel& kernel) {
    return !std::holds_alternative<loop::Function>(kernel.choice.built.kernel);
  });
  return {.lowered = std::move(lowered),
          .has_plan = has_plan,
          .executable = std::move(executable),
          .results = std::move(results)};
}

TenonExecutable Compiled(const ir::Module& module, const CompileOptions& options) {
  if (module.Find("main") && IsProgram(module)) {
    runtime::Executable executable = ValueOrThrow(Compile(module, options));
    return {.lowered = {},
            .has_plan = false,
            .executable = std::move(executable),
            .results = ResultsOf(module)};
  }
  if (module.Find("main") && compiler::HasSymbols(module)) return CompiledForAll(module, options);
  Lowered lowered = ValueOrThrow(Lower(module, options));
  runtime::Executable executable = ValueOrThrow(Link(lowered, options));
  std::vector<runtime::Entry> results = ResultsOf(executable.plan());
  return {.lowered = std::move(lowered),
          .has_plan = true,
          .executable = std::move(executable),
          .results = std::move(results)};
}

std::string Describe(const TenonExecutable& executable) {
  Json inputs = Json::array();
  for (const runtime::InputInfo& info : executable.executable.inputs()) {
    Json input = {{"name", info.name}};
    input.update(Describe({.shape = {}, .dtype = info.dtype, .extents = info.extents}));
    inputs.push_back(std::move(input));
  }
  Json results = Json::array();
  const std::vector<std::string>& names = executable.executable.result_names();
  for (std::size_t i = 0; i < executable.results.size(); ++i) {
    Json result = Json::object();
    if (i < names.size()) result["name"] = names[i];
    result.update(Describe(executable.results[i]));
    results.push_back(std::move(result));
  }
  Json kernels = Json::array();
  const std::vector<LoweredKernel>& lowered = executable.lowered.kernels;
  for (std::size_t i = 0; i < executable.executable.kernels().size(); ++i) {
    Json kernel = Json::object();
    if (i < lowered.size()) kernel["name"] = lowered[i].name;
    kernel["implementation"] = executable.executable.kernels()[i]->implementation();
    kernels.push_back(std::move(kernel));
  }
  // Names of a model may hold any bytes.
  return Json({{"inputs", inputs}, {"results", results}, {"kernels", kernels}})
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

constexpr const char* kExplain = "explain";
constexpr std::pair<const char*, jit::KernelText> kTexts[] = {
    {"te", jit::KernelText::kTensorExpressions}, {"schedule", jit::KernelText::kSchedule},
    {"loops", jit::KernelText::kLoops},          {"llvm", jit::KernelText::kLlvmIr},
    {"asm", jit::KernelText::kAssembly},         {"c", jit::KernelText::kC}};

std::string KernelText(const TenonExecutable& executable, std::size_t kernel,
                       const std::string& kind) {
  const std::size_t count = executable.executable.kernels().size();
  if (kernel >= count)
    throw OutOfRange(StrCat("kernel ", kernel, " is asked for; the executable has ", count));
  if (kind == kExplain && executable.executable.program() != nullptr)
    throw Unimplemented(
        "a program, which has control flow or extents that values decide, does not explain its "
        "kernels");
  if (kind == kExplain) return executable.lowered.kernels.at(kernel).choice.Explanation();
  for (const auto& [name, text] : kTexts) {
    if (kind == name) return executable.executable.kernels()[kernel]->Text(text);
  }
  throw InvalidArgument(StrCat("there is no text \"", kind,
                               "\" of kernels; there are te, schedule, "
                               "loops, llvm, asm, c and ",
                               kExplain));
}

void RunInto(const TenonExecutable& executable, const runtime::Inputs& inputs,
             DLManagedTensor** results, std::size_t num_results) {
  const std::size_t count = executable.results.size();
  if (num_results != count)
    throw InvalidArgument(
        StrCat(num_results, " results are asked for; the executable has ", count));
  if (count > 0) Required(results, "where the results go");
  const std::vector<NDArray> arrays = ValueOrThrow(executable.executable.Run(inputs));
  // All of them or none.
  std::vector<std::unique_ptr<DLManagedTensor, void (*)(DLManagedTensor*)>> given;
  for (const NDArray& array : arrays)
    given.emplace_back(runtime::ToDLPack(array), [](DLManagedTensor* t) { t->deleter(t); });
  for (std::size_t i = 0; i < count; ++i) results[i] = given[i].release();
}

}  // namespace
}  // namespace tenon::c_api

using tenon::c_api::Give;
using tenon::c_api::Required;
using tenon::c_api::RequiredText;
using tenon::c_api::Run;

TenonError* tenon_compile(const TenonModule* module, const char* options,
                          TenonExecutable** executable) {
  return Run(__func__, [&] {
    Required(executable, "where the result goes");
    const tenon::CompileOptions parsed =
        options == nullptr ? tenon::CompileOptions() : tenon::c_api::ParseOptions(options);
    *executable =
        new TenonExecutable(tenon::c_api::Compiled(Required(module, "module").module, parsed));
  });
}

TenonError* tenon_describe(const TenonExecutable* executable, TenonText** json) {
  return Run(__func__,
             [&] { Give(tenon::c_api::Describe(Required(executable, "executable")), json); });
}

TenonError* tenon_num_results(const TenonExecutable* executable, size_t* count) {
  return Run(__func__, [&] {
    Required(count, "where the number goes") = Required(executable, "executable").results.size();
  });
}

TenonError* tenon_run(const TenonExecutable* executable, const char* const* names,
                      const DLTensor* const* inputs, size_t num_inputs, DLManagedTensor** results,
                      size_t num_results) {
  return Run(__func__, [&] {
    tenon::runtime::Inputs given;
    if (num_inputs > 0) {
      Required(names, "names");
      Required(inputs, "inputs");
    }
    for (size_t i = 0; i < num_inputs; ++i) {
      const std::string name = RequiredText(names[i], "the name of an input");
      const bool is_new =
          given.emplace(name, tenon::c_api::Borrowed(Required(inputs[i], name.c_str()))).second;
      if (!is_new)
        throw tenon::InvalidArgument(tenon::StrCat("the input ", name, " is given twice"));
    }
    tenon::c_api::RunInto(Required(executable, "executable"), given, results, num_results);
  });
}

TenonError* tenon_kernel_text(const TenonExecutable* executable, size_t kernel, const char* kind,
                              TenonText** text) {
  return Run(__func__, [&] {
    Give(tenon::c_api::KernelText(Required(executable, "executable"), kernel,
                                  RequiredText(kind, "kind")),
         text);
  });
}

TenonError* tenon_graph_json(const TenonExecutable* executable, TenonText** json) {
  return Run(__func__, [&] {
    const TenonExecutable& given = Required(executable, "executable");
    if (given.executable.program() != nullptr)
      throw tenon::Unimplemented(
          "a program, which has control flow or extents that values decide, has no single plan");
    if (!given.has_plan)
      throw tenon::Unimplemented(
          "kernels of the module are made for each shape, so it has no plan for all shapes");
    Give(tenon::runtime::ToGraphJson(given.lowered.plan), json);
  });
}

void tenon_executable_free(TenonExecutable* executable) { delete executable; }
