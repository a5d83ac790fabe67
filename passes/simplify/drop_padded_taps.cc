// Along one axis, result y takes tap k from element y * stride + k * dilation - before. A tap for
// which no result meets an element can go at either end of the kernel; the padding shrinks with it.
#include "tenon/passes/simplify/drop_padded_taps.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "tenon/ir/visit.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/part_along.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

// A convolution along one axis.
struct Axis {
  std::int64_t data = 0, result = 0;  // extents
  std::int64_t taps = 0, stride = 0, dilation = 0, before = 0;

  bool IsUsed(std::int64_t tap) const {
    // The results y with 0 <= y * stride + first < data.
    const std::int64_t first = tap * dilation - before;
    const std::int64_t least = first >= 0 ? 0 : (-first + stride - 1) / stride;
    const std::int64_t end = data <= first ? 0 : (data - first + stride - 1) / stride;
    return least < std::min(end, result);
  }
  // The padding after the data with which `count` taps from `begin` on give as many results.
  // Nothing if there is no such padding.
  std::optional<std::int64_t> AfterFor(std::int64_t begin, std::int64_t count) const {
    const std::int64_t span = ops::WindowSpan(count, dilation);
    const std::int64_t padded = data + before - begin * dilation;
    const std::int64_t needed = (result - 1) * stride + span - padded;
    const std::int64_t padding = std::max<std::int64_t>(needed, 0);
    if ((padded + padding - span) / stride + 1 != result) return std::nullopt;
    return padding;
  }
};

struct Taps {
  std::int64_t begin = 0, count = 0, before = 0, after = 0;
};

// The taps that stay. Nothing if all stay, or if none is used.
std::optional<Taps> TapsOf(const Axis& axis) {
  std::int64_t begin = 0, end = axis.taps;
  while (begin < end && !axis.IsUsed(begin)) ++begin;
  while (begin < end && !axis.IsUsed(end - 1)) --end;
  if (begin == end) return std::nullopt;
  // If the window would begin inside the data, it keeps one more tap.
  begin = std::min(begin, axis.before / axis.dilation);
  for (; end <= axis.taps; ++end) {
    if (begin == 0 && end == axis.taps) return std::nullopt;
    if (const auto after = axis.AfterFor(begin, end - begin))
      return Taps{begin, end - begin, axis.before - begin * axis.dilation, *after};
  }
  return std::nullopt;
}

template <typename Bits>
bool HasFiniteBits(const NDArray& array, Bits exponent) {
  for (std::int64_t i = 0; i < array.size(); ++i) {
    Bits bits = 0;
    std::memcpy(&bits, static_cast<const char*>(array.raw()) + sizeof(Bits) * i, sizeof(Bits));
    if ((bits & exponent) == exponent) return false;
  }
  return true;
}

bool IsFinite(const NDArray& array) {
  const DataType type = array.dtype();
  if (type == Float32) return HasFiniteBits<std::uint32_t>(array, 0x7f800000U);
  if (type == Float64) return HasFiniteBits<std::uint64_t>(array, 0x7ff0000000000000ULL);
  if (type == Float16) return HasFiniteBits<std::uint16_t>(array, 0x7c00U);
  if (type == BFloat16) return HasFiniteBits<std::uint16_t>(array, 0x7f80U);
  return !type.is_float();
}

// One value for each axis.
ops::Ints ForEachAxis(const ops::Ints& values, std::size_t axes) {
  return values.size() == 1 ? ops::Ints(axes, values[0]) : values;
}

// The leading sides of all axes, then the trailing ones.
ops::Ints AllSides(const ops::Ints& padding, std::size_t axes) {
  if (padding.size() == 2 * axes) return padding;
  ops::Ints sides = ForEachAxis(padding, axes);
  sides.insert(sides.end(), sides.begin(), sides.end());
  return sides;
}

// Drops taps of a convolution. `letters` are those of the spatial axes; types are those of
// `original`.
template <typename Attrs>
std::optional<Expr> WithUsedTaps(const CallNode& call, const Expr& original,
                                 const std::string& letters) {
  auto attrs = call.attrs.As<Attrs>();
  const auto* weight = call.args[1].template As<ir::ConstantNode>();
  const std::string& out_layout = attrs.out_layout.empty() ? attrs.data_layout : attrs.out_layout;
  const std::size_t rank = letters.size() + 2;
  if (weight == nullptr || attrs.data_layout.size() != rank || attrs.kernel_layout.size() != rank ||
      out_layout.size() != rank)
    return std::nullopt;
  const auto* data =
      original.As<CallNode>()->args[0].checked_type().template As<ir::TensorTypeNode>();
  const auto* result = original.checked_type().template As<ir::TensorTypeNode>();
  ops::Ints padding = AllSides(attrs.padding, letters.size());
  ops::Ints dilation = ForEachAxis(attrs.dilation, letters.size());
  const ops::Ints strides = ForEachAxis(attrs.strides, letters.size());
  NDArray kernel = weight->data;
  ops::Ints kernel_size;
  for (std::size_t d = 0; d < letters.size(); ++d) {
    const ir::Dim& data_extent = data->shape[attrs.data_layout.find(letters[d])];
    const ir::Dim& result_extent = result->shape[out_layout.find(letters[d])];
    const std::size_t kernel_axis = attrs.kernel_layout.find(letters[d]);
    kernel_size.push_back(kernel.shape()[kernel_axis]);
    if (!data_extent.is_static() || !result_extent.is_static()) continue;
    const auto taps = TapsOf({.data = data_extent.value(),
                              .result = result_extent.value(),
                              .taps = kernel_size.back(),
                              .stride = strides[d],
                              .dilation = dilation[d],
                              .before = padding[d]});
    if (!taps) continue;
    kernel = PartAlong(kernel, kernel_axis, taps->begin, taps->count);
    padding[d] = taps->before;
    padding[d + letters.size()] = taps->after;
    kernel_size.back() = taps->count;
    if (taps->count == 1) dilation[d] = 1;
  }
  if (kernel.shape() == weight->data.shape() || !IsFinite(weight->data)) return std::nullopt;
  attrs.padding = std::move(padding);
  attrs.dilation = std::move(dilation);
  if (attrs.kernel_size) attrs.kernel_size = std::move(kernel_size);
  return ir::Call::Make(call.callee, {call.args[0], ir::Constant::Make(kernel)},
                        attrs::Attrs::Make(std::move(attrs)), call.span);
}

std::optional<Expr> Cropped(const Expr& original, const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (call == nullptr) return std::nullopt;
  const auto& known = ops::Known();
  if (call->callee == known.conv1d) return WithUsedTaps<ops::Conv1DAttrs>(*call, original, "W");
  if (call->callee == known.conv2d) return WithUsedTaps<ops::Conv2DAttrs>(*call, original, "HW");
  if (call->callee == known.conv3d) return WithUsedTaps<ops::Conv3DAttrs>(*call, original, "DHW");
  return std::nullopt;
}

}  // namespace

ir::Module DropPaddedTaps(const ir::Module& module) {
  return module.Map([](const Expr& function) {
    return ir::RewritePostOrder(function, [](const Expr& original, const Expr& e) {
      return ir::KeepType(original, Cropped(original, e).value_or(e));
    });
  });
}

}  // namespace tenon::passes
