#include "tenon/examples/ocr/network.h"

#include <utility>

#include "tenon/ops/registry.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace ocr {
namespace {

// Pages of a book have lines of many lengths.
constexpr std::size_t kShapesKept = 64;
// Lines of one length after which that length is worth a compile of a second.
constexpr std::size_t kHotRuns = 200;

const tenon::onnx_import::OnnxModel& RequireOneInput(const tenon::onnx_import::OnnxModel& model,
                                                     const std::string& path) {
  if (model.inputs().size() != 1)
    throw tenon::InvalidArgument(
        tenon::StrCat(path, " has ", model.inputs().size(), " inputs; one picture is expected"));
  return model;
}

tenon::DynamicModel::Options OptionsFor(const tenon::onnx_import::OnnxModel& model, Shapes shapes,
                                        const tenon::CompileOptions& options) {
  tenon::DynamicModel::Options result = {.cache = kShapesKept, .compile = options};
  if (shapes == Shapes::kFew) return result;
  result.symbolic = [model] {
    return model.Import({.symbolic = true, .evaluate = tenon::strategies::EvaluateCall});
  };
  result.hot_after = kHotRuns;
  return result;
}

}  // namespace

Network::Network(std::string name, const std::string& path, Shapes shapes,
                 const tenon::CompileOptions& options)
    : name_(std::move(name)),
      onnx_(RequireOneInput(tenon::ValueOrThrow(tenon::onnx_import::OnnxModel::Load(path)), path)),
      model_(
          onnx_.inputs(),
          [onnx = onnx_](const tenon::ShapesByName& shapes) {
            return onnx.Import({.shapes = shapes, .evaluate = tenon::strategies::EvaluateCall});
          },
          OptionsFor(onnx_, shapes, options)) {
  tenon::strategies::RegisterStrategies(tenon::ops::OpRegistry::Global());
}

tenon::NDArray Network::operator()(const tenon::NDArray& x, const Observer& observer) const {
  const tenon::NDArray y = tenon::ValueOrThrow(model_.Run({{onnx_.inputs()[0].name, x}})).at(0);
  if (observer) observer(name_, x, y);
  return y;
}

}  // namespace ocr
