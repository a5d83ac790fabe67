// Resampling of images.
#include "tenon/ops/builtin.h"
#include "tenon/ops/extents/given_extents.h"
#include "tenon/ops/extents/scaled_extent.h"
#include "tenon/ops/image/image_attrs.h"
#include "tenon/ops/image/resize_to_extents_attrs.h"
#include "tenon/ops/image/warp_attrs.h"
#include "tenon/ops/layout/layout_columns.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

template <typename AttrsType>
void Resize(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<AttrsType>();
  const std::string letters = AttrsType::kLetters;
  const std::size_t dims = letters.size() - 2;
  if (x->shape.size() != letters.size())
    call.Refuse(StrCat("the data must have rank ", letters.size()));
  const std::vector<std::size_t> at = LayoutPositions(attrs.layout, letters, "layout");
  const bool by_scales = attrs.size.empty() && !attrs.scales.empty();
  if (!by_scales && attrs.size.size() != dims)
    call.Refuse(StrCat("size has ", attrs.size.size(), " values; it takes ", dims));
  const bool crops = attrs.coordinate_transformation_mode == "tf_crop_and_resize";
  if (crops ? attrs.roi.size() != 2 * dims : !attrs.roi.empty() && attrs.roi.size() != 2 * dims)
    call.Refuse(StrCat("roi has ", attrs.roi.size(), " values; it takes ", 2 * dims,
                       ", the starts and then the ends"));
  if (!attrs.scales.empty() && attrs.scales.size() != dims)
    call.Refuse(StrCat("scales has ", attrs.scales.size(), " values; it takes ", dims));
  for (const double scale : attrs.scales) {
    if (!(scale > 0)) call.Refuse("the scales must be greater than zero");
  }
  if (attrs.cubic_exclude != 0 && attrs.cubic_exclude != 1)
    call.Refuse(StrCat("cubic_exclude is ", attrs.cubic_exclude, "; it may be 0 or 1"));
  std::vector<Dim> shape = x->shape;
  for (std::size_t d = 0; d < dims; ++d) {
    Dim& extent = shape[at[d + 2]];
    const Dim size = by_scales ? ScaledExtent(call, extent, attrs.scales[d]) : Dim(attrs.size[d]);
    if (!by_scales && attrs.size[d] > 0 && call.Exceeds(1, extent))
      call.Refuse("there are no elements to take from");
    extent = size;
  }
  call.LearnResult(
      ir::TensorType(std::move(shape), attrs.out_dtype.is_void() ? x->dtype : attrs.out_dtype));
}

void ResizeToExtents(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto fields = call.tensors(1);
  if (x == nullptr || !fields) return;
  const auto& attrs = call.attrs<ResizeToExtentsAttrs>();
  std::vector<Dim> shape = GivenExtents(call, attrs.shape, *fields);
  if (shape.size() != x->shape.size())
    call.Refuse(
        StrCat("shape has ", shape.size(), " extents; the data has rank ", x->shape.size()));
  if (attrs.cubic_exclude != 0 && attrs.cubic_exclude != 1)
    call.Refuse(StrCat("cubic_exclude is ", attrs.cubic_exclude, "; it may be 0 or 1"));
  const bool crops = attrs.coordinate_transformation_mode == "tf_crop_and_resize";
  if (attrs.roi.size() != (crops ? 2 * shape.size() : 0))
    call.Refuse(StrCat("roi has ", attrs.roi.size(), " values; it takes ",
                       crops ? 2 * shape.size() : 0,
                       crops ? ", the starts and then the ends" : ""));
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if ((shape[d] == x->shape[d] && !crops) || shape[d] == Dim(0)) continue;
    if (call.Exceeds(1, x->shape[d])) call.Refuse("there are no elements to take from");
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void GridSample(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* grid = call.tensor(1);
  if (x == nullptr || grid == nullptr) return;
  if (x->shape.size() != 4 || grid->shape.size() != 4)
    call.Refuse("the data and the grid must have rank 4");
  if (!x->dtype.is_float() || !grid->dtype.is_float())
    call.Refuse("the data and the grid must be of floating types");
  if (call.Differ(grid->shape[1], 2))
    call.Refuse(StrCat("the grid has ", grid->shape[1].ToString(),
                       " coordinates per point; it takes two, x and y"));
  for (const std::size_t axis : {std::size_t{2}, std::size_t{3}}) {
    if (call.Exceeds(1, x->shape[axis])) call.Refuse("there are no elements to take from");
  }
  const Dim& batch = grid->shape[0];
  if (call.Differ(batch, x->shape[0]))
    call.Refuse(StrCat("the data has the batch ", x->shape[0].ToString(), " and the grid ",
                       batch.ToString()));
  call.LearnResult(
      ir::TensorType({x->shape[0], x->shape[1], grid->shape[2], grid->shape[3]}, x->dtype));
}

void CropAndResize(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* boxes = call.tensor(1);
  const auto* owners = call.tensor(2);
  if (x == nullptr || boxes == nullptr || owners == nullptr) return;
  const auto& attrs = call.attrs<CropAndResizeAttrs>();
  if (x->shape.size() != 4) call.Refuse("the data must have rank 4");
  if (boxes->shape.size() != 2 || call.Differ(boxes->shape[1], Dim(4)) || !boxes->dtype.is_float())
    call.Refuse("the boxes must be floats of the shape (count, 4): y1, x1, y2, x2");
  if (owners->shape.size() != 1 || call.Differ(owners->shape[0], boxes->shape[0]) ||
      !owners->dtype.is_integral())
    call.Refuse("box_indices must be a vector of integers, one per box");
  const auto size = Pair(attrs.crop_size, "crop_size");
  const std::vector<std::size_t> at = LayoutPositions(attrs.layout, "NCHW", "layout");
  for (const std::size_t axis : {at[0], at[2], at[3]}) {
    if (call.Exceeds(1, x->shape[axis])) call.Refuse("there are no elements to take from");
  }
  std::vector<Dim> shape = x->shape;
  shape[at[0]] = boxes->shape[0];
  shape[at[2]] = Dim(size[0]);
  shape[at[3]] = Dim(size[1]);
  call.LearnResult(
      ir::TensorType(std::move(shape), attrs.out_dtype.is_void() ? x->dtype : attrs.out_dtype));
}

void AffineGrid(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (x->shape.size() != 3 || call.Differ(x->shape[1], 2) || call.Differ(x->shape[2], 3))
    call.Refuse("the data must have the shape (batch, 2, 3)");
  if (!x->dtype.is_float()) call.Refuse("the data must be of a floating type");
  const auto size = Pair(call.attrs<AffineGridAttrs>().target_shape, "target_shape");
  call.LearnResult(ir::TensorType({x->shape[0], Dim(2), Dim(size[0]), Dim(size[1])}, x->dtype));
}

template <typename AttrsType>
void Register(OpRegistry& registry, const char* name, const char* help, const char* relation) {
  registry.Register(name)
      .Describe(help)
      .Argument("data", "Tensor", "batch of images")
      .Attrs<AttrsType>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(Resize<AttrsType>, relation)
      .Column(LayoutInference{LayoutsOfWholeAxes<AttrsType>})
      .Column(ChoiceOfImage<AttrsType>());
}

}  // namespace

void RegisterImageOps(OpRegistry& registry) {
  Register<Resize1DAttrs>(registry, "image.resize1d", "signals resampled to another length",
                          "Resize1D");
  Register<Resize2DAttrs>(registry, "image.resize2d", "images resampled to another size",
                          "Resize2D");
  Register<Resize3DAttrs>(registry, "image.resize3d", "volumes resampled to another size",
                          "Resize3d");
  registry.Register("image.resize_to_extents")
      .Describe("data resampled to extents that are expressions of those of other tensors")
      .Argument("data", "Tensor", "input")
      .Argument("extents", "Tuple", "tensors whose extents the shape names")
      .Attrs<ResizeToExtentsAttrs>()
      .Level(10)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(ResizeToExtents, "ResizeToExtents");
  registry.Register("image.grid_sample")
      .Describe("images sampled at the points of a grid, whose coordinates run from -1 to 1")
      .Argument("data", "Tensor", "batch of images")
      .Argument("grid", "Tensor", "(batch, 2, height, width): x and y of each result")
      .Attrs<GridSampleAttrs>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(GridSample, "GridSample");
  registry.Register("image.affine_grid")
      .Describe("where each point of a grid from -1 to 1 goes under an affine map")
      .Argument("data", "Tensor", "(batch, 2, 3): affine maps")
      .Attrs<AffineGridAttrs>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(AffineGrid, "AffineGrid")
      .Column(HalfSums::kPlain);
  registry.Register("image.crop_and_resize")
      .Describe("boxes cut out of images and resampled to one size")
      .Argument("data", "Tensor", "batch of images")
      .Argument("boxes", "Tensor", "(count, 4): y1, x1, y2, x2 as fractions of the last indices")
      .Argument("box_indices", "Tensor", "the image of each box")
      .Attrs<CropAndResizeAttrs>()
      .Level(5)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(CropAndResize, "CropAndResize");
}

}  // namespace tenon::ops
