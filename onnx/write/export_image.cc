// Resized images.
#include <algorithm>

#include "tenon/onnx/write/exporters.h"
#include "tenon/ops/image/image_attrs.h"
#include "tenon/ops/known_ops.h"

namespace tenon::onnx_export {
namespace {

// ONNX's name of Tenon's way to round to a neighbour. Coordinates end at the edges, so that halves
// away from zero are halves upwards.
std::string NearestMode(CallToWrite& call, const std::string& rounding, bool aligns) {
  if (rounding == "round" || (rounding.empty() && aligns)) return "round_prefer_ceil";
  if (rounding.empty()) return "floor";
  call.Require(rounding == "round_prefer_floor" || rounding == "round_prefer_ceil" ||
                   rounding == "floor" || rounding == "ceil",
               "this rounding_method");
  return rounding;
}

std::string Mode(const std::string& method) {
  return method == "nearest_neighbor" ? "nearest" : method;
}

template <typename Attrs>
Names Resize(CallToWrite& call) {
  const auto& attrs = call.attrs<Attrs>();
  const std::string& where = attrs.coordinate_transformation_mode;
  call.Require(attrs.layout == Attrs::kLetters, "a layout other than channels first");
  call.Require(where == "half_pixel" || where == "pytorch_half_pixel" || where == "align_corners" ||
                   where == "asymmetric",
               "this coordinate_transformation_mode in opset 17");
  call.Require(call.result_dtype() == call.dtype(0), "an out_dtype other than the data's");
  NodeAttributes attributes = {{"mode", Mode(attrs.method)},
                               {"coordinate_transformation_mode", where}};
  if (attrs.method == "nearest_neighbor")
    attributes.push_back(
        {"nearest_mode", NearestMode(call, attrs.rounding_method, where == "align_corners")});
  if (attrs.method == "cubic") {
    attributes.push_back({"cubic_coeff_a", attrs.cubic_alpha});
    attributes.push_back({"exclude_outside", attrs.cubic_exclude});
  }
  if (attrs.scales.empty()) {
    const Shape shape = call.result_shape();
    return {call.graph.AddNode(
        "Resize", {call.input(0), "", "", call.graph.AddInts({shape.begin(), shape.end()})},
        attributes)};
  }
  // The result's extents are the product in ONNX, rounded to float32 and then down, so that sizes
  // of one's own have no form.
  std::vector<float> scales = {1, 1};
  for (std::size_t i = 0; i < attrs.scales.size(); ++i) {
    scales.push_back(static_cast<float>(attrs.scales[i]));
    const float extent = static_cast<float>(call.shape(0)[i + 2]) * scales.back();
    call.Require(static_cast<std::int64_t>(extent) == call.result_shape()[i + 2],
                 "sizes that are not those of the scales");
  }
  const auto count = static_cast<std::int64_t>(scales.size());
  const std::string factors = call.graph.AddConstant(NDArray::FromVector<float>({count}, scales));
  return {call.graph.AddNode("Resize", {call.input(0), "", factors}, attributes)};
}

}  // namespace

void AddImageExporters(ExporterTable* table) {
  const auto& known = ops::Known();
  (*table)[known.resize1d] = Resize<ops::Resize1DAttrs>;
  (*table)[known.resize2d] = Resize<ops::Resize2DAttrs>;
  (*table)[known.resize3d] = Resize<ops::Resize3DAttrs>;
}

}  // namespace tenon::onnx_export
