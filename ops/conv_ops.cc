// Convolutions over one, two and three spatial axes, and transposed ones.
#include "tenon/ops/builtin.h"
#include "tenon/ops/conv_rules.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

// Axes of the weight: output channels (per group when transposed), then input channels (per group
// when not).
constexpr std::size_t kOutputs = 0, kInputs = 1;

void RequireGroups(const TypeCall& call, std::int64_t channels, std::int64_t groups,
                   const char* which) {
  if (channels % groups != 0)
    call.Refuse(StrCat("the ", channels, " ", which, " channels cannot be divided into ", groups,
                       " groups"));
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

void CheckKernelSize(const TypeCall& call, const ConvRules& rules, const std::vector<Dim>& taps) {
  if (!rules.kernel_size) return;
  bool differs = false;
  std::string text;
  for (std::size_t i = 0; i < rules.dims; ++i) {
    differs = differs || (taps[i].is_static() && taps[i].value() != (*rules.kernel_size)[i]);
    StrAppend(&text, i == 0 ? "" : " x ", taps[i].ToString());
  }
  if (differs)
    call.Refuse(StrCat("kernel_size is [", StrJoin(*rules.kernel_size, ", "),
                       "] and the weight has ", text, " taps"));
}

// The output channels that the weight makes; unknown when its extent is.
Dim OutputChannels(const TypeCall& call, const ConvRules& rules, const Dim& out) {
  if (!out.is_static() || !rules.transposed) return out;
  std::int64_t channels = 0;
  if (__builtin_mul_overflow(out.value(), rules.groups, &channels))
    call.Refuse("the number of output channels does not fit 64 bits");
  return Dim(channels);
}

void CheckOutputs(const TypeCall& call, const ConvRules& rules, const Dim& channels) {
  if (rules.channels && channels.is_static() && channels.value() != *rules.channels)
    call.Refuse(StrCat("channels is ", *rules.channels, " and the weight has ", channels.value(),
                       " output channels"));
}

void CheckInputs(const TypeCall& call, const ConvRules& rules, const Dim& in_channels,
                 const Dim& in) {
  if (!in.is_static() || !in_channels.is_static()) return;
  const std::int64_t given = in_channels.value();
  if (rules.transposed) {
    if (in.value() != given)
      call.Refuse(StrCat("the data has ", given, " channels; the weight takes ", in.value()));
  } else if (in.value() != given / rules.groups) {
    call.Refuse(StrCat("the data has ", given, " channels, which in ", rules.groups,
                       rules.groups == 1 ? " group makes " : " groups makes ", given / rules.groups,
                       " each; the weight takes ", in.value()));
  }
}

std::int64_t ResultExtent(const TypeCall& call, const ConvRules& rules, std::size_t i,
                          std::int64_t in, std::int64_t taps) {
  const std::int64_t window = WindowSpan(taps, rules.dilation[i]);
  if (rules.transposed) {
    const std::int64_t grown =
        PaddedExtent(WindowSpan(in, rules.strides[i]), window - 1, rules.output_padding[i]);
    const std::int64_t extent = grown - rules.before[i];
    if (rules.before[i] > grown || rules.after[i] > extent)
      call.Refuse(StrCat("the result has ", grown, " elements of ", SpatialName(i, rules.dims),
                         " and the padding drops more"));
    return extent - rules.after[i];
  }
  const std::int64_t padded = PaddedExtent(in, rules.before[i], rules.after[i]);
  if (window > padded)
    call.Refuse(StrCat("the kernel spans ", window, " elements of ", SpatialName(i, rules.dims),
                       " and the padded data has ", padded));
  return PaddedExtent((padded - window) / rules.strides[i], 0, 1);
}

// The same for any extent; what would be refused of a number is refused when its value is known.
Dim ResultDim(const TypeCall& call, const ConvRules& rules, std::size_t i, const Dim& in,
              std::int64_t taps) {
  if (in.is_static()) return ResultExtent(call, rules, i, in.value(), taps);
  const Dim span = WindowSpan(taps, rules.dilation[i]);
  if (rules.transposed)
    return (in - 1) * rules.strides[i] + span + rules.output_padding[i] - rules.before[i] -
           rules.after[i];
  return FloorDiv(in + rules.before[i] + rules.after[i] - span, rules.strides[i]) + 1;
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
  if (in_channels.is_static()) RequireGroups(call, in_channels.value(), rules.groups, "input");
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
    if (outputs.is_static()) RequireGroups(call, outputs.value(), rules.groups, "output");
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
    if (taps[i].is_static()) shape[rules.out[i + 2]] = ResultDim(call, rules, i, in, taps[i].value());
  }
  call.LearnResult(
      ir::TensorType(std::move(shape), rules.out_dtype.is_void() ? x->dtype : rules.out_dtype));
}

template <typename AttrsType>
void Register(OpRegistry& registry, const char* name, const char* help, const char* relation) {
  registry.Register(name)
      .Describe(help)
      .Argument("data", "Tensor", "batch of images, in data_layout")
      .Argument("weight", "Tensor", "kernels, in kernel_layout")
      .Attrs<AttrsType>()
      .Level(2)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(Convolution<AttrsType>, relation);
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
