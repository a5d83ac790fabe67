// Convolutions over one, two and three spatial axes, and transposed ones.
#include "tenon/ops/builtin.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_columns.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

// Axes of the weight: output channels (per group when transposed), then input channels (per group
// when not).
constexpr std::size_t kOutputs = 0, kInputs = 1;

void RequireGroups(TypeCall& call, const Dim& channels, std::int64_t groups, const char* which) {
  if (call.HasRest(channels, groups))
    call.Refuse(StrCat("the ", channels.ToString(), " ", which, " channels cannot be divided into ",
                       groups, " groups"));
}

// Learns the weight's type from the attributes when they determine it.
void LearnWeight(TypeCall& call, const ConvRules& rules, const Dim& in_channels, DataType dtype) {
  if (!rules.channels || !rules.kernel_size || !in_channels.is_static()) return;
  if (rules.transposed) RequireGroups(call, *rules.channels, rules.groups, "output");
  std::vector<Dim> shape(rules.dims + 2);
  shape[rules.kernel[kOutputs]] = Dim(*rules.channels / (rules.transposed ? rules.groups : 1));
  shape[rules.kernel[kInputs]] = Dim(in_channels.value() / (rules.transposed ? 1 : rules.groups));
  for (std::size_t i = 0; i < rules.dims; ++i)
    shape[rules.kernel[i + 2]] = Dim((*rules.kernel_size)[i]);
  call.LearnInput(1, ir::TensorType(std::move(shape), dtype));
}

void CheckKernelSize(TypeCall& call, const ConvRules& rules, const std::vector<Dim>& taps) {
  if (!rules.kernel_size) return;
  bool differs = false;
  std::string text;
  for (std::size_t i = 0; i < rules.dims; ++i) {
    differs = call.Differ(taps[i], (*rules.kernel_size)[i]) || differs;
    StrAppend(&text, i == 0 ? "" : " x ", taps[i].ToString());
  }
  if (differs)
    call.Refuse(StrCat("kernel_size is [", StrJoin(*rules.kernel_size, ", "),
                       "] and the weight has ", text, " taps"));
}

// The output channels that the weight makes; unknown when its extent is.
Dim OutputChannels(const TypeCall& call, const ConvRules& rules, const Dim& out) {
  if (!rules.transposed) return out;
  if (!out.is_static()) return out * rules.groups;
  std::int64_t channels = 0;
  if (__builtin_mul_overflow(out.value(), rules.groups, &channels))
    call.Refuse("the number of output channels does not fit 64 bits");
  return Dim(channels);
}

void CheckOutputs(TypeCall& call, const ConvRules& rules, const Dim& channels) {
  if (rules.channels && call.Differ(channels, *rules.channels))
    call.Refuse(StrCat("channels is ", *rules.channels, " and the weight has ", channels.ToString(),
                       " output channels"));
}

void CheckInputs(TypeCall& call, const ConvRules& rules, const Dim& in_channels, const Dim& in) {
  if (rules.transposed) {
    if (call.Differ(in, in_channels))
      call.Refuse(StrCat("the data has ", in_channels.ToString(), " channels; the weight takes ",
                         in.ToString()));
    return;
  }
  const Dim each = FloorDiv(in_channels, rules.groups);
  if (call.Differ(in, each))
    call.Refuse(StrCat("the data has ", in_channels.ToString(), " channels, which in ",
                       rules.groups, rules.groups == 1 ? " group makes " : " groups makes ",
                       each.ToString(), " each; the weight takes ", in.ToString()));
}

Dim ResultExtent(TypeCall& call, const ConvRules& rules, std::size_t i, const Dim& in,
                 std::int64_t taps) {
  const std::int64_t window = WindowSpan(taps, rules.dilation[i]);
  if (rules.transposed) {
    const Dim grown =
        PaddedExtent(SpanOf(call, in, rules.strides[i]), window - 1, rules.output_padding[i]);
    const Dim extent = grown - rules.before[i];
    if (call.Exceeds(rules.after[i], extent))
      call.Refuse(StrCat("the result has ", grown.ToString(), " elements of ",
                         SpatialName(i, rules.dims), " and the padding drops more"));
    return extent - rules.after[i];
  }
  const Dim padded = PaddedExtent(in, rules.before[i], rules.after[i]);
  if (call.Exceeds(window, padded))
    call.Refuse(StrCat("the kernel spans ", window, " elements of ", SpatialName(i, rules.dims),
                       " and the padded data has ", padded.ToString()));
  return PaddedExtent(FloorDiv(padded - window, rules.strides[i]), 0, 1);
}

template <typename AttrsType>
void Convolution(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const std::size_t rank = AttrsType{}.strides.size() + 2;
  if (x->shape.size() != rank) call.Refuse(StrCat("the data must have rank ", rank));
  const ConvRules rules = ConvRulesOf(call.attrs<AttrsType>());
  const auto dim = [&](std::size_t i) { return x->shape[rules.data[i]]; };
  const Dim in_channels = dim(1);
  RequireGroups(call, in_channels, rules.groups, "input");
  LearnWeight(call, rules, in_channels,
              call.tensor(1) == nullptr ? x->dtype : call.tensor(1)->dtype);

  Dim channels = rules.channels ? Dim(*rules.channels) : Dim();
  std::vector<Dim> taps(rules.dims);
  if (rules.kernel_size) taps.assign(rules.kernel_size->begin(), rules.kernel_size->end());
  if (const auto* w = call.tensor(1)) {
    if (w->shape.size() != rank) call.Refuse(StrCat("the weight must have rank ", rank));
    if (w->dtype != x->dtype && !AreBytesIntoInt32(x->dtype, w->dtype, rules.out_dtype))
      call.Refuse(
          StrCat("the data is ", x->dtype.ToString(), " and the weight ", w->dtype.ToString()));
    const auto w_dim = [&](std::size_t i) { return w->shape[rules.kernel[i]]; };
    std::vector<Dim> w_taps;
    for (std::size_t i = 0; i < rules.dims; ++i) w_taps.push_back(w_dim(i + 2));
    const Dim outputs = OutputChannels(call, rules, w_dim(kOutputs));
    CheckOutputs(call, rules, outputs);
    CheckKernelSize(call, rules, w_taps);
    RequireGroups(call, outputs, rules.groups, "output");
    CheckInputs(call, rules, in_channels, w_dim(kInputs));
    // A weight that is not fully known must not lose what the attributes say.
    if (channels.is_any()) channels = outputs;
    for (std::size_t i = 0; i < rules.dims; ++i) {
      if (taps[i].is_any()) taps[i] = w_taps[i];
    }
  } else if (!rules.channels || !rules.kernel_size) {
    return;
  }

  std::vector<Dim> shape(rank);
  shape[rules.out[0]] = dim(0);
  shape[rules.out[1]] = channels;
  for (std::size_t i = 0; i < rules.dims; ++i) {
    const Dim in = dim(i + 2);
    if (taps[i].is_static())
      shape[rules.out[i + 2]] = ResultExtent(call, rules, i, in, taps[i].value());
  }
  call.LearnResult(
      ir::TensorType(std::move(shape), rules.out_dtype.is_void() ? x->dtype : rules.out_dtype));
}

// A tensor given in `layout` as one of whole axes in the order of `letters`.
ir::Type WholeType(TypeCall& call, const ir::TensorTypeNode& type, const std::string& text,
                   const std::string& letters, const char* attribute, const char* what) {
  const Layout layout = Layout::Parse(text, attribute);
  LayoutPositions(layout.Whole(), letters, attribute);
  if (type.shape.size() != layout.rank())
    call.Refuse(
        StrCat("the ", what, " must have rank ", layout.rank(), ", as ", attribute, " is ", text));
  std::vector<Dim> shape;
  for (const char letter : letters) {
    const Dim& count = type.shape[layout.PositionOf(letter)];
    std::int64_t extent = 0;
    if (count.is_static() && __builtin_mul_overflow(count.value(), layout.BlockOf(letter), &extent))
      call.Refuse(StrCat("the extent of ", std::string(1, letter), " does not fit 64 bits"));
    shape.push_back(count.is_static() ? Dim(extent) : count * layout.BlockOf(letter));
  }
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    const std::int64_t block = layout.axes()[i].block;
    if (block > 0 && call.Differ(type.shape[i], block))
      call.Refuse(StrCat("dimension ", i, " of the ", what, " is ", type.shape[i].ToString(),
                         ", and ", attribute, " ", text, " says blocks of ", block));
  }
  return ir::TensorType(std::move(shape), type.dtype);
}

// A type of whole axes in the order of `letters` as one in `layout`.
ir::Type BlockedType(const TypeCall& call, const ir::Type& type, const std::string& letters,
                     const std::string& layout, const char* attribute) {
  if (const auto blocked = TypeInLayout(*type.As<ir::TensorTypeNode>(), letters, layout))
    return *blocked;
  call.Refuse(StrCat(attribute, " is ", layout, ", and the extents of ", ir::ToString(type), " (",
                     letters, ") are no whole blocks"));
}

// Layouts with blocks: the rules are those of whole axes. `name`: of the operator that takes them.
template <typename AttrsType>
void ConvolutionInLayouts(TypeCall& call, const char* name) {
  const auto& attrs = call.attrs<AttrsType>();
  if (!HasBlocks(attrs)) return Convolution<AttrsType>(call);
  if (call.op() != name) call.Refuse("layouts must be without blocks");
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const std::string image = AttrsType{}.data_layout, kernel = AttrsType{}.kernel_layout;
  AttrsType whole = attrs;
  whole.data_layout = whole.out_layout = image;
  whole.kernel_layout = kernel;
  const attrs::Attrs whole_attrs = attrs::Attrs::Make(whole);
  const auto* w = call.tensor(1);
  TypeCall inner(
      call.op(), whole_attrs,
      {WholeType(call, *x, attrs.data_layout, image, "data_layout", "data"),
       w == nullptr ? ir::Type()
                    : WholeType(call, *w, attrs.kernel_layout, kernel, "kernel_layout", "weight")},
      ir::Type());
  const std::string& out = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  LayoutPositions(Layout::Parse(out, "out_layout").Whole(), image, "out_layout");
  Convolution<AttrsType>(inner);
  call.AddNeedsOf(inner);
  if (w == nullptr && inner.learned_input(1))
    call.LearnInput(
        1, BlockedType(call, inner.learned_input(1), kernel, attrs.kernel_layout, "kernel_layout"));
  if (inner.learned_result())
    call.LearnResult(BlockedType(call, inner.learned_result(), image, out, "out_layout"));
}

template <typename AttrsType>
void Register(OpRegistry& registry, const char* name, const char* help, const char* relation) {
  OpBuilder op = registry.Register(name);
  op.Describe(help)
      .Argument("data", "Tensor", "batch of images, in data_layout")
      .Argument("weight", "Tensor", "kernels, in kernel_layout")
      .Attrs<AttrsType>()
      .Level(2)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation([name](TypeCall& call) { ConvolutionInLayouts<AttrsType>(call, name); },
                    relation)
      .Column(PrecisionRule::kAlways);
  // Where CPUs have instructions that take bfloat16 and add in float32.
  constexpr bool kIsPlain = std::is_same_v<AttrsType, Conv2DAttrs>;
  op.Column(kIsPlain ? HalfSums::kOfProducts : HalfSums::kPlain);
  if constexpr (!std::is_same_v<AttrsType, Conv1DTransposeAttrs>) {
    op.Column(LayoutInference{LayoutsOfConvolution<AttrsType>});
    LayoutChoice choice = ChoiceOfConvolution<AttrsType>();
    choice.takes_blocks = true;
    op.Column(choice);
  }
}

}  // namespace

void RegisterConvOps(OpRegistry& registry) {
  Register<Conv2DAttrs>(registry, "nn.conv2d",
                        "2-D convolution (cross-correlation) with groups, dilation and padding",
                        "Conv2D");
  Register<Conv1DAttrs>(registry, "nn.conv1d",
                        "1-D convolution (cross-correlation) with groups, dilation and padding",
                        "Conv1D");
  Register<Conv3DAttrs>(registry, "nn.conv3d",
                        "3-D convolution (cross-correlation) with groups, dilation and padding",
                        "Conv3D");
  Register<Conv1DTransposeAttrs>(
      registry, "nn.conv1d_transpose",
      "1-D transposed convolution: each element adds its kernel to the result", "Conv1DTranspose");
  Register<Conv2DTransposeAttrs>(
      registry, "nn.conv2d_transpose",
      "2-D transposed convolution: each element adds its kernel to the result", "Conv2DTranspose");
  Register<Conv3DTransposeAttrs>(
      registry, "nn.conv3d_transpose",
      "3-D transposed convolution: each element adds its kernel to the result", "Conv3DTranspose");
}

}  // namespace tenon::ops
