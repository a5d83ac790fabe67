// Images of another size.
#include "tenon/loop/visit.h"
#include "tenon/ops/image/image_attrs.h"
#include "tenon/ops/image/resize_to_extents_attrs.h"
#include "tenon/ops/image/upsampling_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te/image/resample.h"

namespace tenon::strategies {
namespace {

using te::Tensor;

template <typename AttrsType>
std::vector<Tensor> Resize(const TeCall& call) {
  const auto& attrs = call.attrs.As<AttrsType>();
  const Tensor& x = call.input(0);
  const std::vector<std::size_t> at =
      ops::LayoutPositions(attrs.layout, AttrsType::kLetters, "layout");
  const std::size_t dims = at.size() - 2;
  const std::vector<te::Expr> shape = call.te_shape();
  std::vector<ResampledAxis> axes;
  for (std::size_t d = 0; d < dims; ++d) {
    ResampledAxis axis{.axis = at[d + 2],
                       .in = x.shape()[at[d + 2]],
                       .out = shape[at[d + 2]],
                       .scale = attrs.scales.empty() ? 0 : attrs.scales[d]};
    if (!attrs.roi.empty()) {
      axis.start = attrs.roi[d];
      axis.end = attrs.roi[d + dims];
    }
    axes.push_back(axis);
  }
  return {Resample(x, shape, call.dtype(), axes,
                   {.method = attrs.method,
                    .coordinates = attrs.coordinate_transformation_mode,
                    .rounding = attrs.rounding_method,
                    .cubic_alpha = attrs.cubic_alpha,
                    .cubic_exclude = attrs.cubic_exclude != 0,
                    .extrapolation_value = attrs.extrapolation_value},
                   call.target)};
}

// Coordinates are those of image.resize*d, with the quotients of the extents as scales.
std::vector<Tensor> ResizeToExtents(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::ResizeToExtentsAttrs>();
  const Tensor& x = call.input(0);
  const std::vector<te::Expr> shape = call.te_shape();
  std::vector<ResampledAxis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    ResampledAxis axis{.axis = d, .in = x.shape()[d], .out = shape[d], .by_ratio = true};
    if (!attrs.roi.empty()) {
      axis.start = attrs.roi[d];
      axis.end = attrs.roi[d + shape.size()];
    }
    const bool is_whole = axis.start == 0 && axis.end == 1;
    if (!is_whole || !loop::StructuralEqual(axis.in, axis.out)) axes.push_back(axis);
  }
  return {Resample(x, shape, call.dtype(), axes,
                   {.method = attrs.method,
                    .coordinates = attrs.coordinate_transformation_mode,
                    .rounding = attrs.rounding_method,
                    .cubic_alpha = attrs.cubic_alpha,
                    .cubic_exclude = attrs.cubic_exclude != 0,
                    .extrapolation_value = attrs.extrapolation_value},
                   call.target)};
}

std::vector<Tensor> UpSampling(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::UpSamplingAttrs>();
  const Tensor& x = call.input(0);
  const std::vector<std::size_t> at = ops::LayoutPositions(attrs.layout, "NCHW", "layout");
  const std::vector<te::Expr> shape = call.te_shape();
  std::vector<ResampledAxis> axes;
  for (std::size_t d = 2; d < 4; ++d)
    axes.push_back({.axis = at[d], .in = x.shape()[at[d]], .out = shape[at[d]]});
  const std::string method = attrs.method == "bilinear"  ? "linear"
                             : attrs.method == "bicubic" ? "cubic"
                                                         : "nearest_neighbor";
  return {Resample(x, shape, call.dtype(), axes,
                   {.method = method,
                    .coordinates = attrs.align_corners ? "align_corners" : "asymmetric",
                    .rounding = ""},
                   call.target)};
}

std::vector<Tensor> UpSampling3D(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::UpSampling3DAttrs>();
  const Tensor& x = call.input(0);
  const std::vector<std::size_t> at = ops::LayoutPositions(attrs.layout, "NCDHW", "layout");
  const std::vector<te::Expr> shape = call.te_shape();
  std::vector<ResampledAxis> axes;
  for (std::size_t d = 2; d < 5; ++d)
    axes.push_back({.axis = at[d], .in = x.shape()[at[d]], .out = shape[at[d]]});
  return {Resample(x, shape, call.dtype(), axes,
                   {.method = attrs.method == "trilinear" ? "linear" : "nearest_neighbor",
                    .coordinates = attrs.coordinate_transformation_mode,
                    .rounding = ""},
                   call.target)};
}

}  // namespace

void AttachImageComputes(ops::OpRegistry& registry) {
  registry.Definition("image.resize1d").SetColumn(TeCompute{Resize<ops::Resize1DAttrs>});
  registry.Definition("image.resize2d").SetColumn(TeCompute{Resize<ops::Resize2DAttrs>});
  registry.Definition("image.resize3d").SetColumn(TeCompute{Resize<ops::Resize3DAttrs>});
  registry.Definition("image.resize_to_extents").SetColumn(TeCompute{ResizeToExtents});
  registry.Definition("nn.upsampling").SetColumn(TeCompute{UpSampling});
  registry.Definition("nn.upsampling3d").SetColumn(TeCompute{UpSampling3D});
}

}  // namespace tenon::strategies
