#include "tenon/tools/compiled_model.h"

#include <utility>

#include "tenon/compiler/lower_program.h"
#include "tenon/compiler/remade_kernels.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/option_checks.h"

namespace tenon::tools {
namespace {

std::optional<DynamicModel> Hot(ir::Module* module, const CompileOptions& options,
                                std::size_t hot_after) {
  if (hot_after == 0) return std::nullopt;
  if (IsProgram(*module))
    throw InvalidArgument(
        "--hot-after: the model has control flow, of which no shape is compiled for itself");
  DynamicModel model = ValueOrThrow(
      DynamicModel::Make(std::move(*module), {.compile = options, .hot_after = hot_after}));
  if (!model.executable().is_symbolic())
    throw InvalidArgument(
        "--hot-after: the model has one shape; --symbolic keeps the extents of an ONNX model open");
  return model;
}

std::string Counted(std::size_t count, const char* what) {
  return StrCat(count, " ", what, count == 1 ? "" : "s");
}

}  // namespace

std::string ToText(const ShapeStatistics& statistics) {
  const std::string text = StrCat("runs made ", Counted(statistics.remade, "kernel"), " again");
  if (!statistics.hot) return text;
  const DynamicModel::Statistics& hot = *statistics.hot;
  return StrCat(text, "; ", Counted(hot.hot_compiled, "hot shape"), " compiled, ", hot.hot_kept,
                " kept, ", hot.hot_dropped, " dropped; ", Counted(hot.common, "run"),
                " of the compile for all shapes");
}

CLI::Option* AddHotAfter(CLI::App* command, std::size_t* hot_after) {
  return command
      ->add_option("--hot-after", *hot_after,
                   "of a model with variables: compile a shape for itself, in the background, once "
                   "it was run so often; the compile is kept if it is faster")
      ->check(WholeNumber(1));
}

CompiledModel::CompiledModel(ir::Module module, const CompileOptions& options,
                             std::size_t hot_after)
    : hot_(Hot(&module, options, hot_after)),
      executable_(hot_ ? hot_->executable() : ValueOrThrow(Compile(std::move(module), options))),
      remade_before_(RemadeKernels()) {}

std::vector<NDArray> CompiledModel::Run(Session* session, const runtime::Inputs& inputs) const {
  return ValueOrThrow(hot_ ? hot_->Run(inputs) : session->Run(inputs));
}

std::optional<ShapeStatistics> CompiledModel::statistics() const {
  if (!executable_.is_symbolic()) return std::nullopt;
  ShapeStatistics statistics{.remade = RemadeKernels() - remade_before_, .hot = std::nullopt};
  if (hot_) statistics.hot = hot_->statistics();
  return statistics;
}

}  // namespace tenon::tools
