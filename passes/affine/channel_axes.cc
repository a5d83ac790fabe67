#include "tenon/passes/affine/channel_axes.h"

#include <algorithm>
#include <array>
#include <string>

#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/matmul/matmul_attrs.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/registry.h"
#include "tenon/ops/type_relation.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

using ir::CallNode;

std::vector<std::size_t> AxesOf(const ops::Layout& layout, char letter) {
  std::vector<std::size_t> axes;
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    if (layout.axes()[i].letter == letter) axes.push_back(i);
  }
  return axes;
}

bool BlockFollows(const ops::Layout& layout, const std::vector<std::size_t>& axes) {
  return axes.size() == 1 || (axes.size() == 2 && layout.axes()[axes[0]].block == 0);
}

// A convolution, with any attributes that have the three layouts, groups and padding.
template <typename ConvAttrs, bool kTransposed = false>
std::optional<ChannelAxes> Convolution(const CallNode& call) {
  const auto& attrs = call.attrs.As<ConvAttrs>();
  const ops::Layout data = ops::Layout::Parse(attrs.data_layout, "data_layout");
  const ops::Layout kernel = ops::Layout::Parse(attrs.kernel_layout, "kernel_layout");
  const ops::Layout result = ops::Layout::Parse(
      attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout, "out_layout");
  ChannelAxes axes{
      .data = AxesOf(data, 'C'),
      .result = AxesOf(result, 'C'),
      .inputs = AxesOf(kernel, 'I'),
      .outputs = AxesOf(kernel, 'O'),
      .groups = attrs.groups,
      .is_transposed = kTransposed,
      // A transposed convolution sums only taps that lie within the data, so the number of taps in
      // a sum depends on the position.
      .is_padded = kTransposed || std::any_of(attrs.padding.begin(), attrs.padding.end(),
                                              [](std::int64_t p) { return p != 0; })};
  const bool known = BlockFollows(data, axes.data) && BlockFollows(result, axes.result) &&
                     BlockFollows(kernel, axes.inputs) && BlockFollows(kernel, axes.outputs);
  return known ? std::optional(axes) : std::nullopt;
}

std::size_t RankOf(const ir::Expr& e) {
  return e.checked_type().As<ir::TensorTypeNode>()->shape.size();
}

std::optional<ChannelAxes> Dense(const CallNode& call) {
  const std::size_t last = RankOf(call.args[0]) - 1;
  return ChannelAxes{.data = {last}, .result = {last}, .inputs = {1}, .outputs = {0}};
}

std::optional<ChannelAxes> Matmul(const CallNode& call) {
  const auto& attrs = call.attrs.As<ops::MatmulAttrs>();
  const std::size_t rank = RankOf(call.args[0]);
  if (RankOf(call.args[1]) != 2 || rank < 2) return std::nullopt;
  return ChannelAxes{.data = {attrs.transpose_a ? rank - 2 : rank - 1},
                     .result = {rank - 1},
                     .inputs = {attrs.transpose_b ? 1U : 0U},
                     .outputs = {attrs.transpose_b ? 0U : 1U}};
}

struct Row {
  ir::Expr op;
  std::optional<ChannelAxes> (*read)(const CallNode& call);
};

const std::array<Row, 8>& Table() {
  static const auto& table = *new std::array<Row, 8>{{
      {ops::Known().conv2d, Convolution<ops::Conv2DAttrs>},
      {ops::Known().conv1d, Convolution<ops::Conv1DAttrs>},
      {ops::Known().conv3d, Convolution<ops::Conv3DAttrs>},
      {ops::Known().conv1d_transpose, Convolution<ops::Conv1DTransposeAttrs, true>},
      {ops::Known().conv2d_transpose, Convolution<ops::Conv2DTransposeAttrs, true>},
      {ops::Known().conv3d_transpose, Convolution<ops::Conv3DTransposeAttrs, true>},
      {ops::Known().dense, Dense},
      {ops::Known().matmul, Matmul},
  }};
  return table;
}

bool IsTensor(const ir::Type& type) { return type && type.As<ir::TensorTypeNode>() != nullptr; }

// Requires that the axes which a user's rule names exist.
void RequireAxes(const CallNode& call, const ChannelAxes& axes) {
  const auto require = [&](const std::vector<std::size_t>& named, const ir::Type& type,
                           const char* of) {
    const std::size_t rank = type.As<ir::TensorTypeNode>()->shape.size();
    const bool are_there =
        !named.empty() && std::ranges::all_of(named, [&](std::size_t axis) { return axis < rank; });
    if (!are_there)
      throw InvalidArgument(StrCat(call.op()->name, ": the axes of channels of ", of, " are [",
                                   StrJoin(named, ", "), "]; it has ", rank, " axes"))
          .At(call.span);
  };
  require(axes.data, call.args[0].checked_type(), "the data");
  require(axes.inputs, call.args[1].checked_type(), "the weight's inputs");
  require(axes.outputs, call.args[1].checked_type(), "the weight's outputs");
  require(axes.result, call.checked_type, "the result");
  if (axes.groups < 1)
    throw InvalidArgument(StrCat(call.op()->name, ": channels are in ", axes.groups, " groups"))
        .At(call.span);
  const auto count = [](const ir::Type& type, const std::vector<std::size_t>& named) {
    std::vector<ir::Dim> extents;
    for (const std::size_t axis : named)
      extents.push_back(type.As<ir::TensorTypeNode>()->shape[axis]);
    return ops::Product(extents);
  };
  // One side of the weight runs over the channels of one group.
  const auto require_count = [&](const ir::Dim& all, const ir::Dim& in_weight, bool is_of_group) {
    if (!all.is_static() || !in_weight.is_static()) return;
    const std::int64_t wanted = in_weight.value() * (is_of_group ? axes.groups : 1);
    if (all.value() != wanted)
      throw InvalidArgument(StrCat(call.op()->name, ": the weight is for ", wanted,
                                   " channels where there are ", all.value()))
          .At(call.span);
  };
  const ir::Type& weight = call.args[1].checked_type();
  require_count(count(call.args[0].checked_type(), axes.data), count(weight, axes.inputs),
                !axes.is_transposed);
  require_count(count(call.checked_type, axes.result), count(weight, axes.outputs),
                axes.is_transposed);
}

}  // namespace

std::optional<ChannelAxes> ChannelAxesOf(const CallNode& call) {
  for (const Row& row : Table()) {
    if (call.callee == row.op) return row.read(call);
  }
  const auto* rule = call.op() == nullptr ? nullptr : ops::OpOf(call)->Column<ops::ChannelRule>();
  const bool may_fold = rule != nullptr && call.args.size() >= 2 &&
                        IsTensor(call.args[0].checked_type()) &&
                        IsTensor(call.args[1].checked_type()) && IsTensor(call.checked_type);
  std::optional<ChannelAxes> axes = may_fold ? rule->axes(call) : std::nullopt;
  if (axes) RequireAxes(call, *axes);
  return axes;
}

bool KeepsPositiveScale(const CallNode& call) {
  if (call.callee == ops::Known().relu || call.callee == ops::Known().leaky_relu) return true;
  return call.op() != nullptr && ops::OpOf(call)->Column<ops::KeepsPositiveScale>() != nullptr &&
         call.args.size() == 1 && ir::Equal(call.args[0].checked_type(), call.checked_type);
}

}  // namespace tenon::passes
