#include "tenon/examples/ocr/network.h"

#include <utility>

#include "tenon/ops/registry.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace ocr {
namespace {

// Pages of a book have lines of many lengths.
constexpr std::size_t kHotShapes = 64;
// Lines of one length after which that length is worth a compile of a second.
constexpr std::size_t kHotRuns = 200;

tenon::onnx_import::OnnxModel Load(const std::string& path) {
  tenon::onnx_import::OnnxModel model =
      tenon::ValueOrThrow(tenon::onnx_import::OnnxModel::Load(path));
  if (model.inputs().size() != 1)
    throw tenon::InvalidArgument(
        tenon::StrCat(path, " has ", model.inputs().size(), " inputs; one picture is expected"));
  return model;
}

tenon::DynamicModel Compiled(const tenon::onnx_import::OnnxModel& model,
                             const std::optional<tenon::Shape>& shape,
                             const tenon::CompileOptions& options) {
  tenon::strategies::RegisterStrategies(tenon::ops::OpRegistry::Global());
  tenon::onnx_import::ImportOptions import = {.symbolic = !shape.has_value(),
                                              .evaluate = tenon::strategies::EvaluateCall};
  if (shape) import.shapes[model.inputs()[0].name] = *shape;
  return tenon::ValueOrThrow(tenon::DynamicModel::Make(
      tenon::ValueOrThrow(model.Import(import)),
      {.compile = options, .hot_after = kHotRuns, .hot_shapes = kHotShapes}));
}

}  // namespace

Network::Network(std::string name, const std::string& path, const tenon::CompileOptions& options,
                 const std::optional<tenon::Shape>& shape)
    : Network(std::move(name), Load(path), options, shape) {}

Network::Network(std::string name, const tenon::onnx_import::OnnxModel& model,
                 const tenon::CompileOptions& options, const std::optional<tenon::Shape>& shape)
    : name_(std::move(name)),
      input_(model.inputs()[0].name),
      model_(Compiled(model, shape, options)) {}

tenon::NDArray Network::operator()(const tenon::NDArray& x, const Observer& observer) const {
  const tenon::NDArray y = tenon::ValueOrThrow(model_.Run({{input_, x}})).at(0);
  if (observer) observer(name_, x, y);
  return y;
}

}  // namespace ocr
