// Operators on images that read windows: pooling (over windows, into bins, over whole images),
// upsampling and grey-scale dilation.
#include <algorithm>
#include <cmath>

#include "tenon/ops/builtin.h"
#include "tenon/ops/conv/dilation_rules.h"
#include "tenon/ops/image/upsampling_attrs.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_columns.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/pool/pool_rules.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

// Refuses data whose rank differs from the layout's or whose blocks have another size.
void CheckLayout(TypeCall& call, const ir::TensorTypeNode& x, const std::string& text) {
  const Layout layout = Layout::Parse(text, "layout");
  if (x.shape.size() != layout.rank())
    call.Refuse(StrCat("the data must have rank ", layout.rank()));
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    const std::int64_t block = layout.axes()[i].block;
    if (block > 0 && call.Differ(x.shape[i], block))
      call.Refuse(StrCat("dimension ", i, " of the data is ", x.shape[i].ToString(),
                         " and layout says blocks of ", block));
  }
}

template <typename AttrsType>
void CheckOutLayout(TypeCall& call, const AttrsType& attrs) {
  if (!attrs.out_layout.empty() && attrs.out_layout != attrs.layout)
    call.Refuse("out_layout must be empty or equal to layout");
}

template <typename AttrsType>
void WindowPool(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<AttrsType>();
  CheckOutLayout(call, attrs);
  const PoolRules rules = PoolRulesOf(attrs);
  CheckLayout(call, *x, attrs.layout);
  std::vector<Dim> shape = x->shape;
  for (std::size_t i = 0; i < rules.dims; ++i) {
    Dim& extent = shape[rules.at[i]];
    const std::int64_t span = WindowSpan(rules.size[i], rules.dilation[i]);
    const Dim padded = PaddedExtent(extent, rules.before[i], rules.after[i]);
    // ceil_mode adds a window that lacks less than a stride, and one may be all there is.
    const std::int64_t needed =
        attrs.ceil_mode ? std::max<std::int64_t>(1, span - (rules.strides[i] - 1)) : span;
    if (call.Exceeds(needed, padded))
      call.Refuse(StrCat("the window spans ", span, " elements of ", SpatialName(i, rules.dims),
                         " and the padded data has ", padded.ToString()));
    // One position more where elements are left over; strides may be as large as fits 64 bits.
    const Dim room = padded - span;
    extent = attrs.ceil_mode ? FloorDiv(room - 1, rules.strides[i]) + 2
                             : FloorDiv(room, rules.strides[i]) + 1;
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

template <typename AttrsType>
void AdaptivePool(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  constexpr std::size_t kDims = AttrsType::kSpatialAxes;
  const auto& attrs = call.attrs<AttrsType>();
  CheckOutLayout(call, attrs);
  const std::vector<std::size_t> at = PooledAxes(attrs.layout, kDims);
  CheckLayout(call, *x, attrs.layout);
  std::vector<Dim> shape = x->shape;
  if (!attrs.output_size.empty()) {
    const Ints bins = SpatialValues(attrs.output_size, kDims, "output_size");
    for (std::size_t i = 0; i < kDims; ++i) {
      Dim& extent = shape[at[i]];
      if (call.Exceeds(1, extent))
        call.Refuse(StrCat("the ", SpatialName(i, kDims), " is 0, which leaves bins empty"));
      // The bounds of bins are quotients of this product.
      std::int64_t product = 0;
      if (extent.is_static() && __builtin_mul_overflow(extent.value(), bins[i] + 1, &product))
        call.Refuse("the result is too large");
      extent = Dim(bins[i]);
    }
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void GlobalPool2D(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<GlobalPool2DAttrs>();
  CheckOutLayout(call, attrs);
  const std::vector<std::size_t> at = PooledAxes(attrs.layout, 2);
  CheckLayout(call, *x, attrs.layout);
  std::vector<Dim> shape = x->shape;
  for (const std::size_t axis : at) shape[axis] = Dim(1);
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

// `scales` are in the order of the spatial axes of `letters`.
void Scaled(TypeCall& call, const std::string& layout, const std::string& letters,
            const std::vector<double>& scales) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (x->shape.size() != letters.size())
    call.Refuse(StrCat("the data must have rank ", letters.size()));
  const std::vector<std::size_t> at = LayoutPositions(layout, letters, "layout");
  std::vector<Dim> shape = x->shape;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    if (!(scales[i] > 0))
      call.Refuse(StrCat("scale_", scales.size() == 3 ? "d, scale_h" : "h",
                         " and scale_w must be greater than zero"));
    Dim& extent = shape[at[i + 2]];
    if (!extent.is_static()) {
      // Whole factors scale all extents; of others, the rounding is known for numbers only.
      extent = scales[i] == std::floor(scales[i]) && scales[i] < 0x1p31
                   ? extent * static_cast<std::int64_t>(scales[i])
                   : Dim();
      continue;
    }
    const double scaled = std::round(static_cast<double>(extent.value()) * scales[i]);
    // With larger images, not even the offsets fit 64 bits.
    if (!(scaled < 0x1p31)) call.Refuse("the result is too large");
    if (scaled < 1 && extent.value() > 0) call.Refuse("no element of the image would remain");
    extent = Dim(static_cast<std::int64_t>(scaled));
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void UpSampling(TypeCall& call) {
  const auto& attrs = call.attrs<UpSamplingAttrs>();
  Scaled(call, attrs.layout, "NCHW", {attrs.scale_h, attrs.scale_w});
}

void UpSampling3D(TypeCall& call) {
  const auto& attrs = call.attrs<UpSampling3DAttrs>();
  Scaled(call, attrs.layout, "NCDHW", {attrs.scale_d, attrs.scale_h, attrs.scale_w});
}

void Dilation2D(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* weight = call.tensor(1);
  if (x == nullptr || weight == nullptr) return;
  if (x->dtype != weight->dtype) call.Refuse("data and weight have different element types");
  if (x->shape.size() != 4) call.Refuse("the data must have rank 4");
  if (weight->shape.size() != 3) call.Refuse("the weight must have rank 3");
  const DilationRules rules = DilationRulesOf(call.attrs<Dilation2DAttrs>());
  std::vector<Dim> shape = x->shape;
  const Dim& channels = x->shape[rules.data[1]];
  const Dim& own = weight->shape[rules.kernel[0]];
  if (call.Differ(channels, own))
    call.Refuse(
        StrCat("the data has ", channels.ToString(), " channels and the weight ", own.ToString()));
  for (std::size_t i = 0; i < 2; ++i) {
    Dim& extent = shape[rules.data[i + 2]];
    const Dim& taps = weight->shape[rules.kernel[i + 1]];
    if (!extent.is_static() || !taps.is_static()) {
      extent = Dim();
      continue;
    }
    if (taps.value() < 1) call.Refuse("the weight must have elements");
    const std::int64_t span = WindowSpan(taps.value(), rules.dilations[i]);
    const std::int64_t room =
        PaddedExtent(extent.value(), rules.padding[i], rules.padding[i + 2]) - span;
    if (room < 0)
      call.Refuse(StrCat("the window spans ", span, " elements of ", SpatialName(i, 2),
                         " and the padded data has ", room + span));
    extent = Dim(room / rules.strides[i] + 1);
  }
  const auto& out_dtype = call.attrs<Dilation2DAttrs>().out_dtype;
  call.LearnResult(ir::TensorType(std::move(shape), out_dtype.is_void() ? x->dtype : out_dtype));
}

OpBuilder Pool(OpRegistry& registry, const std::string& name, const char* help, int level = 2) {
  OpBuilder op = registry.Register(name);
  op.Describe(help).Argument("data", "Tensor", "batch of images").Level(level);
  op.Pattern(OpPattern::kOutEWiseFusable);
  return op;
}

// Channels of images may be cut into blocks.
template <typename AttrsType, std::size_t kDims>
LayoutInference LayoutsOf() {
  if constexpr (kDims == 2) return {LayoutsOfPool<AttrsType>};
  return {LayoutsOfWholeAxes<AttrsType>};
}

template <std::size_t kDims>
void RegisterWindows(OpRegistry& registry) {
  OpBuilder max = Pool(registry, StrCat("nn.max_pool", kDims, "d"),
                       "maximum of each window; padding never wins")
                      .Attrs<MaxPoolAttrs<kDims>>()
                      .TypeRelation(WindowPool<MaxPoolAttrs<kDims>>, StrCat("MaxPool", kDims, "D"))
                      .Column(PrecisionRule::kFollow)
                      .Column(LayoutsOf<MaxPoolAttrs<kDims>, kDims>());
  OpBuilder mean = Pool(registry, StrCat("nn.avg_pool", kDims, "d"), "mean of each window")
                       .Attrs<AvgPoolAttrs<kDims>>()
                       .TypeRelation(WindowPool<AvgPoolAttrs<kDims>>, StrCat("AvgPool", kDims, "D"))
                       .Column(PrecisionRule::kNever)
                       .Column(HalfSums::kPlain)
                       .Column(LayoutsOf<AvgPoolAttrs<kDims>, kDims>());
  if constexpr (kDims == 2) {
    max.Column(ChoiceOfImage<MaxPool2DAttrs>());
    mean.Column(ChoiceOfImage<AvgPool2DAttrs>());
  }
}

// Bin i of n covers the elements from floor(i * extent / n) up to ceil((i + 1) * extent / n).
template <std::size_t kDims>
void RegisterBins(OpRegistry& registry) {
  using AttrsType = AdaptivePoolAttrs<kDims>;
  Pool(registry, StrCat("nn.adaptive_max_pool", kDims, "d"),
       "maximum of each of output_size bins of nearly equal extents", 10)
      .Attrs<AttrsType>()
      .TypeRelation(AdaptivePool<AttrsType>, StrCat("AdaptiveMaxPool", kDims, "D"))
      .Column(PrecisionRule::kFollow)
      .Column(LayoutsOf<AttrsType, kDims>());
  Pool(registry, StrCat("nn.adaptive_avg_pool", kDims, "d"),
       "mean of each of output_size bins of nearly equal extents", 10)
      .Attrs<AttrsType>()
      .TypeRelation(AdaptivePool<AttrsType>, StrCat("AdaptiveAvgPool", kDims, "D"))
      .Column(PrecisionRule::kNever)
      .Column(LayoutsOf<AttrsType, kDims>())
      .Column(HalfSums::kPlain);
}

}  // namespace

void RegisterPoolOps(OpRegistry& registry) {
  RegisterWindows<1>(registry);
  RegisterWindows<2>(registry);
  RegisterWindows<3>(registry);
  RegisterBins<1>(registry);
  RegisterBins<2>(registry);
  RegisterBins<3>(registry);
  Pool(registry, "nn.global_max_pool2d", "maximum of each image and channel")
      .Attrs<GlobalPool2DAttrs>()
      .TypeRelation(GlobalPool2D, "GlobalMaxPool2D")
      .Column(PrecisionRule::kFollow)
      .Column(LayoutInference{LayoutsOfPool<GlobalPool2DAttrs>})
      .Column(ChoiceOfImage<GlobalPool2DAttrs>());
  Pool(registry, "nn.global_avg_pool2d", "mean of each image and channel")
      .Attrs<GlobalPool2DAttrs>()
      .TypeRelation(GlobalPool2D, "GlobalAvgPool2D")
      .Column(PrecisionRule::kNever)
      .Column(LayoutInference{LayoutsOfPool<GlobalPool2DAttrs>})
      .Column(ChoiceOfImage<GlobalPool2DAttrs>())
      .Column(HalfSums::kPlain);
  registry.Register("nn.upsampling")
      .Describe("images scaled along height and width")
      .Argument("data", "Tensor", "batch of images")
      .Attrs<UpSamplingAttrs>()
      .Level(2)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(UpSampling, "UpSampling")
      .Column(LayoutInference{LayoutsOfWholeAxes<UpSamplingAttrs>})
      .Column(ChoiceOfImage<UpSamplingAttrs>());
  registry.Register("nn.upsampling3d")
      .Describe("volumes scaled along depth, height and width")
      .Argument("data", "Tensor", "batch of volumes")
      .Attrs<UpSampling3DAttrs>()
      .Level(2)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(UpSampling3D, "UpSampling3D")
      .Column(LayoutInference{LayoutsOfWholeAxes<UpSampling3DAttrs>});
  registry.Register("image.dilation2d")
      .Describe(
          "grey-scale morphology: the maximum of the sums of an element of the window and its "
          "weight; padding never wins")
      .Argument("data", "Tensor", "batch of images")
      .Argument("weight", "Tensor", "one structuring element per channel")
      .Attrs<Dilation2DAttrs>()
      .Level(2)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(Dilation2D, "Dilation2D")
      .Column(LayoutInference{LayoutsOfConvolution<Dilation2DAttrs>});
}

}  // namespace tenon::ops
