// Products with fixed-point numbers, rounded half up, as integer-only inference has them.
#include "tenon/ops/builtin.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/quantize/fixed_point_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

void RequireInt32(const TypeCall& call, const ir::TensorTypeNode& type, const char* name) {
  if (type.dtype != Int32)
    call.Refuse(StrCat(name, " is ", type.dtype.ToString(), "; it must be int32"));
}

void FixedPointMultiply(TypeCall& call) {
  if (const auto* x = call.tensor(0)) RequireInt32(call, *x, "the data");
  Identity(call);
}

void FixedPointMultiplyPerAxis(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  RequireInt32(call, *x, "the data");
  const std::vector<int> axes = NormalizeAxes(
      call, call.attrs<FixedPointMultiplyPerAxisAttrs>().axes, x->shape.size(), "axes");
  for (const auto& [i, name] : {std::pair<std::size_t, const char*>{1, "fp_multiplier"},
                                {2, "left_shift"},
                                {3, "right_shift"}}) {
    const auto* parameter = call.tensor(i);
    if (parameter == nullptr) return;
    RequireInt32(call, *parameter, name);
    std::vector<ir::Dim> extents;
    for (const int axis : axes) extents.push_back(x->shape[static_cast<std::size_t>(axis)]);
    if (call.Differ(parameter->shape, extents))
      call.Refuse(StrCat(name, " must have the extents of the data's axes"));
  }
  call.LearnResult(call.input(0));
}

}  // namespace

void RegisterFixedPointOps(OpRegistry& registry) {
  registry.Register("fixed_point_multiply")
      .Describe("data * multiplier * 2^(shift - 31), rounded half up; computed in int64")
      .Argument("data", "Tensor", "int32")
      .Attrs<FixedPointMultiplyAttrs>()
      .Pattern(OpPattern::kElemWise)
      .TypeRelation(FixedPointMultiply, "Identity")
      .Column(IgnoresPlaces());
  registry.Register("fixed_point_multiply_per_axis")
      .Describe(
          "data * 2^left_shift * fp_multiplier / 2^(31 + right_shift), rounded half up; computed "
          "in int64")
      .Argument("data", "Tensor", "int32")
      .Argument("fp_multiplier", "Tensor", "int32, one per index of the axes")
      .Argument("left_shift", "Tensor", "int32 from 0 to 31, one per index of the axes")
      .Argument("right_shift", "Tensor", "int32 from 0 to 31, one per index of the axes")
      .Attrs<FixedPointMultiplyPerAxisAttrs>()
      .Pattern(OpPattern::kBroadcast)
      .TypeRelation(FixedPointMultiplyPerAxis, "FixedPointMultiplyPerAxis");
}

}  // namespace tenon::ops
