// Rules of constant pads. All are exact.
#include <algorithm>

#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/simplify/simplify_rules.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

const NDArray* PadValue(const CallNode* call) {
  if (call == nullptr || !(call->callee == ops::Known().pad) ||
      call->attrs.As<ops::PadAttrs>().pad_mode != "constant")
    return nullptr;
  const auto* value = call->args[1].As<ir::ConstantNode>();
  return value == nullptr ? nullptr : &value->data;
}

bool AddsNothing(const std::vector<ops::Ints>& widths) {
  return std::all_of(widths.begin(), widths.end(), [](const ops::Ints& pair) {
    return std::all_of(pair.begin(), pair.end(), [](std::int64_t w) { return w == 0; });
  });
}

bool NeverCrops(const std::vector<ops::Ints>& widths) {
  return std::all_of(widths.begin(), widths.end(), [](const ops::Ints& pair) {
    return std::all_of(pair.begin(), pair.end(), [](std::int64_t w) { return w >= 0; });
  });
}

}  // namespace

// Drops a pad that adds nothing, and joins two that add the same value, unless the outer one crops.
Expr SimplifyPads(const CallNode& call, const SimplifyContext&) {
  if (!(call.callee == ops::Known().pad)) return Expr();
  const auto& outer = call.attrs.As<ops::PadAttrs>();
  if (AddsNothing(outer.pad_width)) return call.args[0];
  const auto* inner = call.args[0].As<CallNode>();
  const NDArray* value = PadValue(&call);
  const NDArray* inner_value = PadValue(inner);
  if (value == nullptr || inner_value == nullptr || !value->SameBytes(*inner_value)) return Expr();
  ops::PadAttrs joined = inner->attrs.As<ops::PadAttrs>();
  if (!NeverCrops(outer.pad_width) || !NeverCrops(joined.pad_width)) return Expr();
  for (std::size_t i = 0; i < joined.pad_width.size(); ++i) {
    for (std::size_t side = 0; side < 2; ++side)
      joined.pad_width[i][side] += outer.pad_width[i][side];
  }
  return InferCall(ir::Call::Make(call.callee, {inner->args[0], call.args[1]},
                                  attrs::Attrs::Make(std::move(joined)), call.span));
}

}  // namespace tenon::passes
