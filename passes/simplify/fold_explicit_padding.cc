#include "tenon/passes/simplify/fold_explicit_padding.h"

#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "tenon/ir/visit.h"
#include "tenon/ops/conv/conv2d_attrs.h"
#include "tenon/ops/conv/conv_rules.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/layout/layout.h"
#include "tenon/ops/pool/pool_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/simplify/constant_arithmetic.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

struct ConstantPad {
  Expr data;
  NDArray value;
  std::vector<ops::Ints> widths;
};
std::optional<ConstantPad> PadOf(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (call == nullptr || !(call->callee == ops::Known().pad)) return std::nullopt;
  const auto& attrs = call->attrs.As<ops::PadAttrs>();
  const auto* value = call->args[1].As<ir::ConstantNode>();
  if (value == nullptr || attrs.pad_mode != "constant") return std::nullopt;
  return ConstantPad{call->args[0], value->data, attrs.pad_width};
}

bool IsZero(const NDArray& value) { return IsFilledWith(value, 0.0) || IsFilledWith(value, -0.0); }

// Whether the value is the one from which a maximum starts.
bool IsLeast(const NDArray& value) {
  const DataType t = value.dtype();
  if (t.is_float()) return IsFilledWith(value, -std::numeric_limits<double>::infinity());
  if (t.is_uint()) return IsFilledWith(value, 0);
  return t.is_int() && t.bits() <= 32 && IsFilledWith(value, -std::ldexp(1.0, t.bits() - 1));
}

// The operator's padding plus the pad's. Nothing when the pad also covers other axes than the
// image's. Channels may be cut into blocks.
std::optional<ops::Ints> Joined(const ops::Ints& padding, const ConstantPad& pad,
                                const std::string& layout) {
  const std::vector<std::size_t> at = ops::ImagePositions(layout, "data_layout");
  for (std::size_t axis = 0; axis < pad.widths.size(); ++axis) {
    const bool is_spatial = axis == at[2] || axis == at[3];
    for (const std::int64_t width : pad.widths[axis]) {
      if (width < 0 || (width != 0 && !is_spatial)) return std::nullopt;
    }
  }
  std::array<std::int64_t, 4> sides = ops::FourPaddings(padding);
  for (std::size_t i = 0; i < 4; ++i) sides[i] += pad.widths[at[2 + i % 2]][i / 2];
  return ops::Ints(sides.begin(), sides.end());
}

std::optional<attrs::Attrs> Conv2D(const CallNode& call, const ConstantPad& pad) {
  auto attrs = call.attrs.As<ops::Conv2DAttrs>();
  if (ops::HasBlocks(attrs)) return std::nullopt;
  const auto padding = Joined(attrs.padding, pad, attrs.data_layout);
  if (!padding || !IsZero(pad.value)) return std::nullopt;
  attrs.padding = *padding;
  return attrs::Attrs::Make(std::move(attrs));
}

std::optional<attrs::Attrs> MaxPool2D(const CallNode& call, const ConstantPad& pad) {
  auto attrs = call.attrs.As<ops::MaxPool2DAttrs>();
  const auto padding = Joined(attrs.padding, pad, attrs.layout);
  if (!padding || attrs.ceil_mode || !IsLeast(pad.value)) return std::nullopt;
  attrs.padding = *padding;
  return attrs::Attrs::Make(std::move(attrs));
}

std::optional<attrs::Attrs> AvgPool2D(const CallNode& call, const ConstantPad& pad) {
  auto attrs = call.attrs.As<ops::AvgPool2DAttrs>();
  const auto padding = Joined(attrs.padding, pad, attrs.layout);
  const std::array<std::int64_t, 4> own = ops::FourPaddings(attrs.padding);
  const bool counts_all = attrs.count_include_pad || own == std::array<std::int64_t, 4>{};
  if (!padding || attrs.ceil_mode || !counts_all || !IsZero(pad.value)) return std::nullopt;
  attrs.padding = *padding;
  attrs.count_include_pad = true;
  return attrs::Attrs::Make(std::move(attrs));
}

Expr Fold(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (call == nullptr || call->args.empty()) return e;
  const auto pad = PadOf(call->args[0]);
  if (!pad) return e;
  const auto& known = ops::Known();
  const auto folded = call->callee == known.conv2d       ? Conv2D(*call, *pad)
                      : call->callee == known.max_pool2d ? MaxPool2D(*call, *pad)
                      : call->callee == known.avg_pool2d ? AvgPool2D(*call, *pad)
                                                         : std::nullopt;
  if (!folded) return e;
  std::vector<Expr> args = call->args;
  args[0] = pad->data;
  return ir::Call::Make(call->callee, std::move(args), *folded, call->span);
}

}  // namespace

ir::Module FoldExplicitPadding(const ir::Module& module) {
  return module.Map([&](const Expr& function) {
    return ir::RewritePostOrder(function, [](const Expr& original, const Expr& e) {
      return ir::KeepType(original, Fold(e));
    });
  });
}

}  // namespace tenon::passes
