#include "tenon/ops/layout/layout_inference.h"

#include <algorithm>

#include "tenon/ops/layout/layout.h"
#include "tenon/ops/layout/layout_rules.h"
#include "tenon/ops/op.h"

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

}  // namespace

void AttachLayoutInference(OpRegistry& registry) {
  for (const std::string& name : registry.Names()) {
    OpDef& op = registry.Definition(name);
    if (op.Column<LayoutInference>() != nullptr) continue;
    if (op.pattern == OpPattern::kElemWise && op.num_inputs() == 1)
      op.SetColumn(LayoutInference{AnyLayout});
    if (op.pattern == OpPattern::kBroadcast &&
        (op.relation_name == "Broadcast" || op.relation_name == "BroadcastComp" ||
         op.relation_name == "Where"))
      op.SetColumn(LayoutInference{BroadcastTogether});
  }
}

}  // namespace tenon::ops
