#include "tenon/ops/layout_inference.h"

#include <algorithm>

#include "tenon/ops/conv_attrs.h"
#include "tenon/ops/nn_attrs.h"
#include "tenon/ops/op.h"

namespace tenon::ops {
namespace {

std::size_t RankOf(const ir::Type& type) {
  const auto* tensor = type.As<ir::TensorTypeNode>();
  return tensor == nullptr ? 0 : tensor->shape.size();
}

const std::string& Wanted(const LayoutQuestion& q, std::size_t i) {
  return q.new_inputs[i].empty() ? q.old_inputs[i] : q.new_inputs[i];
}

LayoutAnswer AnyLayout(const LayoutQuestion& q) {
  const std::string layout = Wanted(q, 0);
  return {{layout}, layout, q.attrs};
}

// All inputs of the highest rank take the layout of the first one that has a new one. An input of a
// lower rank would have to be reshaped: everything keeps its old layout then, but for scalars.
LayoutAnswer BroadcastTogether(const LayoutQuestion& q) {
  std::size_t rank = 0;
  for (const ir::Type& type : q.old_types) rank = std::max(rank, RankOf(type));
  std::string layout;
  bool keep = false;
  for (std::size_t i = 0; i < q.new_inputs.size(); ++i) {
    const std::size_t own = RankOf(q.old_types[i]);
    if (own == rank && layout.empty()) layout = Wanted(q, i);
    keep = keep || (own != 0 && own != rank);
  }
  LayoutAnswer answer{{}, layout, q.attrs};
  for (std::size_t i = 0; i < q.new_inputs.size(); ++i) {
    if (keep) {
      answer.inputs.push_back(q.old_inputs[i]);
      if (RankOf(q.old_types[i]) == rank) answer.output = q.old_inputs[i];
    } else {
      answer.inputs.push_back(RankOf(q.old_types[i]) == 0 ? "" : layout);
    }
  }
  return answer;
}

// An order of the letters of `letters`.
bool IsOrderOf(std::string letters, std::string layout) {
  std::sort(letters.begin(), letters.end());
  std::sort(layout.begin(), layout.end());
  return layout == letters;
}
bool IsImageLayout(const std::string& layout) { return IsOrderOf("NCHW", layout); }

template <typename AttrsType>
LayoutAnswer Convolution(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  if (IsOrderOf(AttrsType{}.data_layout, Wanted(q, 0))) {
    attrs.data_layout = Wanted(q, 0);
    attrs.out_layout.clear();
  }
  const std::string output = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  return {{attrs.data_layout, attrs.kernel_layout}, output, attrs::Attrs::Make(attrs)};
}

template <typename AttrsType>
LayoutAnswer Pool(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  if (IsImageLayout(Wanted(q, 0))) attrs.layout = Wanted(q, 0);
  return {{attrs.layout}, attrs.layout, attrs::Attrs::Make(attrs)};
}

// The axis that an attribute names moves with its letter.
template <typename AttrsType>
LayoutAnswer AlongAxis(const LayoutQuestion& q) {
  AttrsType attrs = q.attrs.As<AttrsType>();
  const std::string& from = q.old_inputs[0];
  const std::string& to = Wanted(q, 0);
  const auto rank = static_cast<std::int64_t>(from.size());
  LayoutAnswer answer{std::vector<std::string>(q.new_inputs.size()), from, q.attrs};
  answer.inputs[0] = from;
  const std::int64_t axis = attrs.axis < 0 ? attrs.axis + rank : attrs.axis;
  if (to.size() != from.size() || axis < 0 || axis >= rank) return answer;
  const std::size_t moved = to.find(from[static_cast<std::size_t>(axis)]);
  if (moved == std::string::npos) return answer;
  attrs.axis = static_cast<std::int64_t>(moved);
  answer.inputs[0] = to;
  answer.output = to;
  answer.attrs = attrs::Attrs::Make(attrs);
  return answer;
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
  registry.Definition("nn.conv1d").SetColumn(LayoutInference{Convolution<Conv1DAttrs>});
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
  registry.Definition("nn.bias_add").SetColumn(LayoutInference{AlongAxis<BiasAddAttrs>});
  registry.Definition("nn.batch_norm").SetColumn(LayoutInference{AlongAxis<BatchNormAttrs>});
}

}  // namespace tenon::ops
