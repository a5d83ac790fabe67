// Normalisations, softmax, bias and dropout.
#include "tenon/ops/builtin.h"
#include "tenon/ops/layout/layout_columns.h"
#include "tenon/ops/norm/nn_attrs.h"
#include "tenon/ops/norm/norm_attrs.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

void RequireFloats(const TypeCall& call, const ir::TensorTypeNode& x) {
  if (!x.dtype.is_float())
    call.Refuse(StrCat("the input must be of a floating type, not ", x.dtype.ToString()));
}

void BiasAdd(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const int axis = NormalizeAxis(call, call.attrs<BiasAddAttrs>().axis, x->shape.size());
  call.LearnInput(1, ir::TensorType({x->shape[static_cast<std::size_t>(axis)]}, x->dtype));
  call.LearnResult(call.input(0));
}

void BatchNorm(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const int axis = NormalizeAxis(call, call.attrs<BatchNormAttrs>().axis, x->shape.size());
  const ir::Type channel = ir::TensorType({x->shape[static_cast<std::size_t>(axis)]}, x->dtype);
  for (std::size_t i = 1; i < 5; ++i) call.LearnInput(i, channel);
  call.LearnResult(ir::TupleType({call.input(0), channel, channel}));
}

void LayerNorm(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const int axis = NormalizeAxis(call, call.attrs<LayerNormAttrs>().axis, x->shape.size());
  const ir::Type along = ir::TensorType({x->shape[static_cast<std::size_t>(axis)]}, x->dtype);
  call.LearnInput(1, along);
  call.LearnInput(2, along);
  call.LearnResult(call.input(0));
}

// In each sample (the first axis), each group of channels is normalised over all other axes.
void NormOfChannels(TypeCall& call, std::int64_t axis, std::int64_t groups) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  RequireFloats(call, *x);
  const auto channel_axis = static_cast<std::size_t>(NormalizeAxis(call, axis, x->shape.size()));
  if (channel_axis == 0) call.Refuse("axis is 0, which is the axis of the samples");
  if (x->shape.size() < 3)
    call.Refuse(StrCat("the input has rank ", x->shape.size(), "; it must be at least 3"));
  const ir::Dim& channels = x->shape[channel_axis];
  if (call.HasRest(channels, groups))
    call.Refuse(StrCat("num_groups is ", groups, ", which does not divide the ",
                       channels.ToString(), " channels"));
  const ir::Type along = ir::TensorType({channels}, x->dtype);
  call.LearnInput(1, along);
  call.LearnInput(2, along);
  call.LearnResult(call.input(0));
}
void GroupNorm(TypeCall& call) {
  const auto& attrs = call.attrs<GroupNormAttrs>();
  NormOfChannels(call, attrs.axis, attrs.num_groups);
}
void InstanceNorm(TypeCall& call) { NormOfChannels(call, call.attrs<InstanceNormAttrs>().axis, 1); }

void Softmax(TypeCall& call) {
  if (const auto* x = call.tensor(0))
    NormalizeAxis(call, call.attrs<SoftmaxAttrs>().axis, x->shape.size());
  Identity(call);
}

void L2Normalize(TypeCall& call) {
  if (const auto* x = call.tensor(0); x != nullptr) {
    RequireFloats(call, *x);
    NormalizeAxes(call, call.attrs<L2NormalizeAttrs>().axis, x->shape.size());
  }
  Identity(call);
}

void LRN(TypeCall& call) {
  if (const auto* x = call.tensor(0); x != nullptr) {
    RequireFloats(call, *x);
    NormalizeAxis(call, call.attrs<LRNAttrs>().axis, x->shape.size());
  }
  Identity(call);
}

void Dropout(TypeCall& call) {
  if (call.tensor(0) != nullptr) call.LearnResult(ir::TupleType({call.input(0), call.input(0)}));
}

}  // namespace

void RegisterNormOps(OpRegistry& registry) {
  registry.Register("nn.bias_add")
      .Describe("add a vector along an axis")
      .Argument("data", "nD Tensor", "input")
      .Argument("bias", "1D Tensor", "one value per index of the axis")
      .Attrs<BiasAddAttrs>()
      .Level(1)
      .Pattern(OpPattern::kBroadcast)
      .TypeRelation(BiasAdd, "BiasAdd")
      .Column(PrecisionRule::kFollow)
      .Column(LayoutInference{LayoutsAlongAxis<BiasAddAttrs>});
  registry.Register("nn.batch_norm")
      .Describe(
          "(x - mean) / sqrt(var + epsilon) * gamma + beta along a channel axis; a tuple of "
          "the result and the two moments")
      .Argument("data", "Tensor", "input")
      .Argument("gamma", "Tensor", "scale of each channel")
      .Argument("beta", "Tensor", "shift of each channel")
      .Argument("moving_mean", "Tensor", "mean of each channel")
      .Argument("moving_var", "Tensor", "variance of each channel")
      .Attrs<BatchNormAttrs>()
      .Level(1)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(BatchNorm, "BatchNorm")
      .Column(PrecisionRule::kNever)
      .Column(LayoutInference{LayoutsAlongAxis<BatchNormAttrs>});
  registry.Register("nn.layer_norm")
      .Describe("(x - mean) / sqrt(variance + epsilon) over one axis, times gamma plus beta")
      .Argument("data", "Tensor", "input")
      .Argument("gamma", "Tensor", "scale along the axis")
      .Argument("beta", "Tensor", "shift along the axis")
      .Attrs<LayerNormAttrs>()
      .Level(1)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(LayerNorm, "LayerNorm")
      .Column(PrecisionRule::kNever)
      .Column(HalfSums::kPlain)
      .Column(LayoutInference{LayoutsAlongAxis<LayerNormAttrs>});
  registry.Register("nn.group_norm")
      .Describe(
          "(x - mean) / sqrt(variance + epsilon) over groups of channels and all axes but the "
          "first, times gamma plus beta")
      .Argument("data", "Tensor", "input")
      .Argument("gamma", "Tensor", "scale of each channel")
      .Argument("beta", "Tensor", "shift of each channel")
      .Attrs<GroupNormAttrs>()
      .Level(1)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(GroupNorm, "GroupNorm")
      .Column(HalfSums::kPlain);
  registry.Register("nn.instance_norm")
      .Describe(
          "(x - mean) / sqrt(variance + epsilon) over all axes but the first and that of the "
          "channels, times gamma plus beta")
      .Argument("data", "Tensor", "input")
      .Argument("gamma", "Tensor", "scale of each channel")
      .Argument("beta", "Tensor", "shift of each channel")
      .Attrs<InstanceNormAttrs>()
      .Level(1)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(InstanceNorm, "InstanceNorm")
      .Column(HalfSums::kPlain);
  for (const char* name : {"nn.softmax", "nn.fast_softmax", "nn.log_softmax"})
    registry.Register(name)
        .Describe("exp(x - max) / sum of these along an axis (log_softmax: its logarithm)")
        .Argument("data", "Tensor", "input")
        .Attrs<SoftmaxAttrs>()
        .Level(1)
        .Pattern(OpPattern::kOutEWiseFusable)
        .TypeRelation(Softmax, "Softmax")
        .Column(PrecisionRule::kNever)
        .Column(HalfSums::kPlain)
        .Column(LayoutInference{LayoutsAlongAxis<SoftmaxAttrs>});
  registry.Register("nn.l2_normalize")
      .Describe("x / sqrt(max(sum of squares over the axes, eps))")
      .Argument("data", "Tensor", "input")
      .Attrs<L2NormalizeAttrs>()
      .Level(2)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(L2Normalize, "Identity")
      .Column(PrecisionRule::kNever)
      .Column(HalfSums::kPlain);
  registry.Register("nn.lrn")
      .Describe("x / (bias + alpha * mean of squares in a window along an axis) ^ beta")
      .Argument("data", "Tensor", "input")
      .Attrs<LRNAttrs>()
      .Level(2)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(LRN, "Identity")
      .Column(HalfSums::kPlain)
      .Column(LayoutInference{LayoutsAlongAxis<LRNAttrs>});
  registry.Register("nn.dropout")
      .Describe("tuple of the data and a mask; nothing is dropped at inference")
      .Argument("data", "Tensor", "input")
      .Attrs<DropoutAttrs>()
      .Level(1)
      .Pattern(OpPattern::kOpaque)
      .Stateful()
      .TypeRelation(Dropout, "Dropout")
      .Column(PrecisionRule::kFollow);
}

}  // namespace tenon::ops
