// Pooling over windows and over whole images, and scaling of images.
#include <cmath>

#include "tenon/ops/builtin.h"
#include "tenon/ops/layout.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

// Where N, C, H and W of data in this layout stand.
std::vector<std::size_t> PooledAxes(TypeCall& call, const ir::TensorTypeNode& x,
                                    const std::string& text) {
  std::vector<std::size_t> at = ImagePositions(text, "layout");
  const Layout layout = Layout::Parse(text, "layout");
  if (x.shape.size() != layout.rank())
    call.Refuse(StrCat("the data must have rank ", layout.rank()));
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    const std::int64_t block = layout.axes()[i].block;
    if (block > 0 && x.shape[i].is_static() && x.shape[i].value() != block)
      call.Refuse(StrCat("dimension ", i, " of the data is ", x.shape[i].value(),
                         " and layout says blocks of ", block));
  }
  return at;
}

template <typename AttrsType>
void Pool2D(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<AttrsType>();
  if (!attrs.out_layout.empty() && attrs.out_layout != attrs.layout)
    call.Refuse("out_layout must be empty or equal to layout");
  const std::vector<std::size_t> at = PooledAxes(call, *x, attrs.layout);
  const auto window = Pair(attrs.pool_size, "pool_size");
  const auto strides = Pair(attrs.strides, "strides");
  const auto dilation = Pair(attrs.dilation, "dilation");
  const auto padding = FourPaddings(attrs.padding);
  std::vector<Dim> shape = x->shape;
  for (std::size_t i = 0; i < 2; ++i) {
    Dim& extent = shape[at[i + 2]];
    if (!extent.is_static()) continue;
    const std::int64_t span = WindowSpan(window[i], dilation[i]);
    const std::int64_t room = PaddedExtent(extent.value(), padding[i], padding[i + 2]) - span;
    if (room < 0)
      call.Refuse(StrCat("the window spans ", span, " elements of ", i == 0 ? "height" : "width",
                         " and the padded data has ", room + span));
    const bool one_more = attrs.ceil_mode && room % strides[i] != 0;
    extent = Dim(room / strides[i] + (one_more ? 2 : 1));
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void GlobalPool2D(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<GlobalPool2DAttrs>();
  if (!attrs.out_layout.empty() && attrs.out_layout != attrs.layout)
    call.Refuse("out_layout must be empty or equal to layout");
  const std::vector<std::size_t> at = PooledAxes(call, *x, attrs.layout);
  std::vector<Dim> shape = x->shape;
  shape[at[2]] = Dim(1);
  shape[at[3]] = Dim(1);
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

void UpSampling(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (x->shape.size() != 4) call.Refuse("the data must have rank 4");
  const auto& attrs = call.attrs<UpSamplingAttrs>();
  const std::vector<std::size_t> at = LayoutPositions(attrs.layout, "NCHW", "layout");
  std::vector<Dim> shape = x->shape;
  for (std::size_t i = 0; i < 2; ++i) {
    const double scale = i == 0 ? attrs.scale_h : attrs.scale_w;
    if (!(scale > 0)) call.Refuse("scale_h and scale_w must be greater than zero");
    Dim& extent = shape[at[i + 2]];
    if (!extent.is_static()) {
      extent = Dim();
      continue;
    }
    const double scaled = std::round(static_cast<double>(extent.value()) * scale);
    // Of larger images not even the offsets fit 64 bits.
    if (!(scaled < 0x1p31)) call.Refuse("the result is too large");
    if (scaled < 1 && extent.value() > 0) call.Refuse("no element of the image would remain");
    extent = Dim(static_cast<std::int64_t>(scaled));
  }
  call.LearnResult(ir::TensorType(std::move(shape), x->dtype));
}

OpBuilder Pool(OpRegistry& registry, const char* name, const char* help) {
  OpBuilder op = registry.Register(name);
  op.Describe(help).Argument("data", "Tensor", "batch of images").Level(2);
  op.Pattern(OpPattern::kOutEWiseFusable);
  return op;
}

}  // namespace

void RegisterPoolOps(OpRegistry& registry) {
  Pool(registry, "nn.max_pool2d", "greatest element of each window; padding never wins")
      .Attrs<MaxPool2DAttrs>()
      .TypeRelation(Pool2D<MaxPool2DAttrs>, "MaxPool2D");
  Pool(registry, "nn.avg_pool2d", "mean of each window")
      .Attrs<AvgPool2DAttrs>()
      .TypeRelation(Pool2D<AvgPool2DAttrs>, "AvgPool2D");
  Pool(registry, "nn.global_max_pool2d", "greatest element of each image and channel")
      .Attrs<GlobalPool2DAttrs>()
      .TypeRelation(GlobalPool2D, "GlobalMaxPool2D");
  Pool(registry, "nn.global_avg_pool2d", "mean of each image and channel")
      .Attrs<GlobalPool2DAttrs>()
      .TypeRelation(GlobalPool2D, "GlobalAvgPool2D");
  registry.Register("nn.upsampling")
      .Describe("images scaled along height and width")
      .Argument("data", "Tensor", "batch of images")
      .Attrs<UpSamplingAttrs>()
      .Level(2)
      .Pattern(OpPattern::kInjective)
      .TypeRelation(UpSampling, "UpSampling");
}

}  // namespace tenon::ops
