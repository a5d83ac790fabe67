// Modules: texts, ONNX and passes.
#include <vector>

#include <nlohmann/json.hpp>

#include "tenon/c_api/handles.h"
#include "tenon/c_api/shallow_json.h"
#include "tenon/compiler/code_generator.h"
#include "tenon/compiler/named_passes.h"
#include "tenon/ir/text_format.h"
#include "tenon/onnx/import.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/pipeline.h"
#include "tenon/relax/text_format.h"
#include "tenon/strategies/lower_function.h"

namespace tenon::c_api {
namespace {

std::map<std::string, Shape> ShapesOf(const char* text) {
  std::map<std::string, Shape> shapes;
  if (text == nullptr) return shapes;
  const nlohmann::json json = ParseShallow(text, "shapes");
  const char* const wanted = "shapes must be a JSON object of lists of integers";
  if (!json.is_object()) throw InvalidArgument(wanted);
  for (const auto& [name, extents] : json.items()) {
    if (!extents.is_array()) throw InvalidArgument(StrCat(wanted, "; ", name, " is none"));
    for (const auto& extent : extents) {
      if (!extent.is_number_integer())
        throw InvalidArgument(StrCat(wanted, "; an extent of ", name, " is ", extent.dump()));
      shapes[name].push_back(extent.get<std::int64_t>());
    }
  }
  return shapes;
}

}  // namespace
}  // namespace tenon::c_api

using tenon::ValueOrThrow;
using tenon::c_api::Give;
using tenon::c_api::Required;
using tenon::c_api::RequiredText;
using tenon::c_api::Run;

TenonError* tenon_module_from_expr(const TenonExpr* expr, TenonModule** module) {
  return Run(__func__,
             [&] { Give(tenon::ir::Module::FromExpr(Required(expr, "expr").expr), module); });
}

TenonError* tenon_parse(const char* text, const char* source, TenonModule** module) {
  return Run(__func__, [&] {
    const std::string given = RequiredText(text, "text");
    const std::string name = source == nullptr ? "text" : source;
    Give(ValueOrThrow(tenon::relax::LooksLikeRelax(given)
                          ? tenon::relax::ParseRelax(given, name)
                          : tenon::ir::ParseModule(
                                given, tenon::ops::OpRegistry::Global().Resolver(), name)),
         module);
  });
}

TenonError* tenon_read_onnx(const char* path, const char* shapes, TenonModule** module) {
  return Run(__func__, [&] {
    tenon::onnx_import::ImportOptions options{.shapes = tenon::c_api::ShapesOf(shapes),
                                              .symbolic = true,
                                              .control_flow = false,
                                              .evaluate = tenon::strategies::EvaluateCall};
    const std::string file = RequiredText(path, "path");
    auto read = tenon::onnx_import::LoadOnnx(file, options);
    if (read.status().code() == absl::StatusCode::kUnimplemented) {
      options.control_flow = true;
      if (auto program = tenon::onnx_import::LoadOnnx(file, options); program.ok())
        read = std::move(program);
    }
    Give(ValueOrThrow(std::move(read)), module);
  });
}

TenonError* tenon_run_passes(const TenonModule* module, const char* passes, TenonModule** changed) {
  return Run(__func__, [&] {
    tenon::strategies::RegisterStrategies(tenon::ops::OpRegistry::Global());
    tenon::RegisterNamedPasses();
    const tenon::passes::Pipeline pipeline =
        tenon::passes::ParsePipeline(RequiredText(passes, "passes"), tenon::DefaultPassArguments());
    Give(tenon::passes::RunPasses(pipeline, Required(module, "module").module, {.verify = true}),
         changed);
  });
}

TenonError* tenon_partition(const TenonModule* module, const char* generator,
                            TenonModule** changed) {
  return Run(__func__, [&] {
    Give(tenon::PartitionFor(Required(module, "module").module,
                             RequiredText(generator, "generator")),
         changed);
  });
}

TenonError* tenon_print(const TenonModule* module, int with_metadata, TenonText** text) {
  return Run(__func__, [&] {
    Give(
        tenon::ir::PrintModule(Required(module, "module").module, {.metadata = with_metadata != 0}),
        text);
  });
}

TenonError* tenon_print_relax(const TenonModule* module, int with_metadata, TenonText** text) {
  return Run(__func__, [&] {
    Give(tenon::relax::PrintRelax(Required(module, "module").module,
                                  {.metadata = with_metadata != 0}),
         text);
  });
}

void tenon_module_free(TenonModule* module) { delete module; }
