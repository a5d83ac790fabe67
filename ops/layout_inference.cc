#include "tenon/ops/layout_inference.h"

#include <algorithm>

#include "tenon/ops/conv_attrs.h"
#include "tenon/ops/dilation_rules.h"
#include "tenon/ops/elementwise_attrs.h"
#include "tenon/ops/image_attrs.h"
#include "tenon/ops/layout.h"
#include "tenon/ops/layout_rules.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/norm_attrs.h"
#include "tenon/ops/op.h"
#include "tenon/ops/pool_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/ops/upsampling_attrs.h"

namespace tenon::ops {
namespace {

std::size_t RankOf(const ir::Type& type) {
  const auto* tensor = type.As<ir::TensorTypeNode>();
  return tensor == nullptr ? 0 : tensor->shape.size();
}

LayoutAnswer AnyLayout(const LayoutQuestion& q) {
  const std::string layout = WantedLayout(q, 0);
  return {{layout}, layout, q.attrs};
}

// A block of one element stands for an axis that is broadcast.
bool HasBlocksOfOne(const std::string& layout) {
  const Layout parsed = Layout::Parse(layout, "layout");
  const std::vector<LayoutAxis>& axes = parsed.axes();
  return std::any_of(axes.begin(), axes.end(), [](const LayoutAxis& a) { return a.block == 1; });
}

// `layout` for an operand of this type: an axis that it lacks, or that has extent 1, has blocks of
// 1. Nothing when it is not certain that blocks can be cut.
std::optional<std::string> OperandLayout(const ir::Type& type, const std::string& from,
                                         const std::string& layout) {
  const auto& shape = type.As<ir::TensorTypeNode>()->shape;
  std::vector<LayoutAxis> axes = Layout::Parse(layout, "layout").axes();
  for (LayoutAxis& axis : axes) {
    if (axis.block == 0) continue;
    const std::size_t at = from.find(axis.letter);
    const std::size_t missing = from.size() - shape.size();
    if (at >= missing && !shape[at - missing].is_static()) return std::nullopt;
    const std::int64_t extent = at < missing ? 1 : shape[at - missing].value();
    if (extent == 1) {
      axis.block = 1;
    } else if (axis.block == 1 || extent % axis.block != 0) {
      return std::nullopt;
    }
  }
  return LayoutText(axes);
}

// All inputs take the layout of an input of the highest rank that has a new one. Axes of extent 1
// get blocks of 1, so that they are broadcast over the blocks as well.
LayoutAnswer BroadcastTogether(const LayoutQuestion& q) {
  const std::size_t count = q.new_inputs.size();
  std::size_t rank = 0;
  for (const ir::Type& type : q.old_types) rank = std::max(rank, RankOf(type));
  std::size_t leader = count;
  for (std::size_t i = 0; i < count; ++i) {
    if (RankOf(q.old_types[i]) != rank || q.old_inputs[i].empty()) continue;
    const auto worth = [&](std::size_t k) {
      return !IsLayoutChanged(q, k) ? 0 : HasBlocksOfOne(q.new_inputs[k]) ? 1 : 2;
    };
    if (leader == count || worth(i) > worth(leader)) leader = i;
  }
  if (leader == count || rank == 0) return KeepLayouts(q);
  const std::string& from = q.old_inputs[leader];
  if (from.size() != rank) return KeepLayouts(q);
  const std::string& to = WantedLayout(q, leader);
  LayoutAnswer answer{{}, to, q.attrs};
  LayoutAnswer kept{{}, from, q.attrs};
  bool fits = true;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_scalar = RankOf(q.old_types[i]) == 0;
    const auto layout = is_scalar ? std::string() : OperandLayout(q.old_types[i], from, to);
    fits = fits && layout.has_value();
    answer.inputs.push_back(layout.value_or(""));
    kept.inputs.push_back(is_scalar ? "" : from);
  }
  return fits ? answer : kept;
}

// Whether `layout` is an order of the letters of `letters`.
bool IsOrderOf(std::string letters, std::string layout) {
  std::sort(letters.begin(), letters.end());
  std::sort(layout.begin(), layout.end());
  return layout == letters;
}
bool IsImageLayout(const std::string& layout) { return IsOrderOf("NCHW", layout); }
bool IsPooledLayout(const std::string& text) {
  const Layout layout = Layout::Parse(text, "layout");
  return IsImageLayout(layout.Whole()) && layout.rank() == (layout.IsCut('C') ? 5 : 4);
}

// Whether an operator whose attribute says `own` may take the new layout of its first input.
bool MayFollow(const LayoutQuestion& q, const std::string& own) {
  return IsLayoutChanged(q, 0) && q.old_inputs[0] == own;
}

template <typename AttrsType>
LayoutAnswer Convolution(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  if (MayFollow(q, attrs.data_layout) && IsOrderOf(AttrsType{}.data_layout, WantedLayout(q, 0))) {
    attrs.data_layout = WantedLayout(q, 0);
    if constexpr (requires { attrs.out_layout; }) attrs.out_layout.clear();
  }
  std::string output = attrs.data_layout;
  if constexpr (requires { attrs.out_layout; }) {
    if (!attrs.out_layout.empty()) output = attrs.out_layout;
  }
  return {{attrs.data_layout, attrs.kernel_layout}, output, attrs::Attrs::Make(attrs)};
}

template <typename AttrsType>
LayoutAnswer Pool(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  // Channels may be cut into blocks.
  if (MayFollow(q, attrs.layout) && IsImageLayout(q.old_inputs[0]) &&
      IsPooledLayout(WantedLayout(q, 0))) {
    attrs.layout = WantedLayout(q, 0);
    attrs.out_layout.clear();
  }
  return {{attrs.layout}, attrs.layout, attrs::Attrs::Make(attrs)};
}

template <typename AttrsType>
LayoutAnswer WholeAxes(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  if (MayFollow(q, attrs.layout) && IsOrderOf(AttrsType{}.layout, WantedLayout(q, 0))) {
    attrs.layout = WantedLayout(q, 0);
    if constexpr (requires { attrs.out_layout; }) attrs.out_layout.clear();
  }
  return {{attrs.layout}, attrs.layout, attrs::Attrs::Make(attrs)};
}

// The axis that an attribute names moves with its letter and stays whole.
template <typename AttrsType>
LayoutAnswer AlongAxis(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  const std::string& from = q.old_inputs[0];
  LayoutAnswer answer{std::vector<std::string>(q.new_inputs.size()), from, q.attrs};
  answer.inputs[0] = from;
  if (!IsLayoutChanged(q, 0)) return answer;
  const Layout to = Layout::Parse(WantedLayout(q, 0), "layout");
  const char letter = from[static_cast<std::size_t>(NormalAxis(attrs.axis, from.size()))];
  if (to.IsCut(letter)) return answer;
  attrs.axis = static_cast<std::int64_t>(to.PositionOf(letter));
  answer.inputs[0] = WantedLayout(q, 0);
  answer.output = WantedLayout(q, 0);
  answer.attrs = attrs::Attrs::Make(attrs);
  return answer;
}

// Of a matrix. Its layouts stay, unless AlterOpLayout replaces the call.
LayoutAnswer Dense(const LayoutQuestion& q) {
  if (RankOf(q.old_types[0]) != 2) return {{"", ""}, "", q.attrs};
  return {{"NC", "NC"}, "NC", q.attrs};
}

}  // namespace

void AttachLayoutInference(OpRegistry& registry) {
  for (const std::string& name : registry.Names()) {
    OpDef& op = registry.Definition(name);
    if (op.pattern == OpPattern::kElemWise && op.num_inputs() == 1 && name != "nn.prelu")
      op.SetColumn(LayoutInference{AnyLayout});
    if (op.pattern == OpPattern::kBroadcast &&
        (op.relation_name == "Broadcast" || op.relation_name == "BroadcastComp" ||
         op.relation_name == "Where"))
      op.SetColumn(LayoutInference{BroadcastTogether});
  }
  registry.Definition("reinterpret").SetColumn(LayoutInference{AnyLayout});
  registry.Definition("nn.conv1d").SetColumn(LayoutInference{Convolution<Conv1DAttrs>});
  registry.Definition("nn.dense").SetColumn(LayoutInference{Dense});
  registry.Definition("nn.conv2d").SetColumn(LayoutInference{Convolution<Conv2DAttrs>});
  registry.Definition("nn.conv3d").SetColumn(LayoutInference{Convolution<Conv3DAttrs>});
  registry.Definition("nn.conv2d_transpose")
      .SetColumn(LayoutInference{Convolution<Conv2DTransposeAttrs>});
  registry.Definition("nn.conv3d_transpose")
      .SetColumn(LayoutInference{Convolution<Conv3DTransposeAttrs>});
  registry.Definition("nn.max_pool2d").SetColumn(LayoutInference{Pool<MaxPool2DAttrs>});
  registry.Definition("nn.avg_pool2d").SetColumn(LayoutInference{Pool<AvgPool2DAttrs>});
  for (const char* name : {"nn.global_avg_pool2d", "nn.global_max_pool2d"})
    registry.Definition(name).SetColumn(LayoutInference{Pool<GlobalPool2DAttrs>});
  registry.Definition("nn.max_pool1d").SetColumn(LayoutInference{WholeAxes<MaxPool1DAttrs>});
  registry.Definition("nn.avg_pool1d").SetColumn(LayoutInference{WholeAxes<AvgPool1DAttrs>});
  registry.Definition("nn.max_pool3d").SetColumn(LayoutInference{WholeAxes<MaxPool3DAttrs>});
  registry.Definition("nn.avg_pool3d").SetColumn(LayoutInference{WholeAxes<AvgPool3DAttrs>});
  for (const std::string kind : {"max", "avg"}) {
    const std::string name = "nn.adaptive_" + kind + "_pool";
    registry.Definition(name + "1d").SetColumn(LayoutInference{WholeAxes<AdaptivePoolAttrs<1>>});
    registry.Definition(name + "2d").SetColumn(LayoutInference{Pool<AdaptivePoolAttrs<2>>});
    registry.Definition(name + "3d").SetColumn(LayoutInference{WholeAxes<AdaptivePoolAttrs<3>>});
  }
  registry.Definition("nn.upsampling").SetColumn(LayoutInference{WholeAxes<UpSamplingAttrs>});
  registry.Definition("nn.upsampling3d").SetColumn(LayoutInference{WholeAxes<UpSampling3DAttrs>});
  registry.Definition("image.dilation2d").SetColumn(LayoutInference{Convolution<Dilation2DAttrs>});
  registry.Definition("image.resize1d").SetColumn(LayoutInference{WholeAxes<Resize1DAttrs>});
  registry.Definition("image.resize2d").SetColumn(LayoutInference{WholeAxes<Resize2DAttrs>});
  registry.Definition("image.resize3d").SetColumn(LayoutInference{WholeAxes<Resize3DAttrs>});
  for (const char* name : {"sum", "prod", "max", "min", "mean", "all", "any"})
    registry.Definition(name).SetColumn(LayoutInference{LayoutsOfReduction});
  for (const char* name : {"argmax", "argmin"})
    registry.Definition(name).SetColumn(LayoutInference{LayoutsOfArgReduction});
  registry.Definition("concatenate").SetColumn(LayoutInference{LayoutsOfConcatenate});
  registry.Definition("nn.pad").SetColumn(LayoutInference{LayoutsOfPad});
  registry.Definition("split").SetColumn(LayoutInference{LayoutsOfSplit});
  registry.Definition("squeeze").SetColumn(LayoutInference{LayoutsOfSqueeze});
  registry.Definition("strided_slice").SetColumn(LayoutInference{LayoutsOfStridedSlice});
  registry.Definition("transpose").SetColumn(LayoutInference{LayoutsOfTranspose});
  for (const char* name : {"nn.softmax", "nn.log_softmax"})
    registry.Definition(name).SetColumn(LayoutInference{AlongAxis<SoftmaxAttrs>});
  registry.Definition("nn.layer_norm").SetColumn(LayoutInference{AlongAxis<LayerNormAttrs>});
  registry.Definition("nn.lrn").SetColumn(LayoutInference{AlongAxis<LRNAttrs>});
  registry.Definition("nn.prelu").SetColumn(LayoutInference{AlongAxis<PReluAttrs>});
  registry.Definition("nn.bias_add").SetColumn(LayoutInference{AlongAxis<BiasAddAttrs>});
  registry.Definition("nn.batch_norm").SetColumn(LayoutInference{AlongAxis<BatchNormAttrs>});
}

}  // namespace tenon::ops
