// Operators that make tensors from attributes or types.
#include <algorithm>
#include <cmath>

#include "tenon/ops/builtin.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

std::vector<ir::Dim> GivenShape(TypeCall& call) {
  const auto& shape = call.attrs<InitOpAttrs>().shape;
  if (!shape) call.Refuse("shape must be given");
  return {shape->begin(), shape->end()};
}

void InitOp(TypeCall& call) {
  const DataType dtype = call.attrs<InitOpAttrs>().dtype;
  if (dtype.is_void()) call.Refuse("dtype must be given");
  call.LearnResult(ir::TensorType(GivenShape(call), dtype));
}

void Full(TypeCall& call) {
  const auto* value = call.tensor(0);
  if (value == nullptr) return;
  if (!value->shape.empty()) call.Refuse("fill_value must have rank 0");
  const DataType dtype = call.attrs<InitOpAttrs>().dtype;
  call.LearnResult(ir::TensorType(GivenShape(call), dtype.is_void() ? value->dtype : dtype));
}

void Arange(TypeCall& call) {
  const auto& attrs = call.attrs<ArangeAttrs>();
  // Steps that lead away from the stop take none.
  const double count = std::ceil((attrs.stop - attrs.start) / attrs.step);
  if (!(std::isfinite(count) && count < 1e15))
    call.Refuse(StrCat("the range ", attrs.start, " to ", attrs.stop, " by ", attrs.step,
                       " has no finite number of values"));
  call.LearnResult(ir::TensorType({static_cast<std::int64_t>(std::max(count, 0.0))}, attrs.dtype));
}

void ShapeOf(TypeCall& call) {
  if (const auto* x = call.tensor(0))
    call.LearnResult(ir::TensorType({static_cast<std::int64_t>(x->shape.size())},
                                    call.attrs<ShapeOfAttrs>().dtype));
}

void NdarraySize(TypeCall& call) {
  if (call.tensor(0) != nullptr)
    call.LearnResult(ir::TensorType({}, call.attrs<ShapeOfAttrs>().dtype));
}

}  // namespace

void RegisterCreateOps(OpRegistry& registry) {
  for (const char* name : {"zeros", "ones"})
    registry.Register(name)
        .Describe("a tensor of one value")
        .Attrs<InitOpAttrs>()
        .Level(3)
        .Pattern(OpPattern::kElemWise)
        .TypeRelation(InitOp, "InitOp");
  registry.Register("full")
      .Describe("a tensor of the given value")
      .Argument("fill_value", "Tensor", "rank 0")
      .Attrs<InitOpAttrs>()
      .Level(3)
      .Pattern(OpPattern::kElemWise)
      .TypeRelation(Full, "Full");
  registry.Register("arange")
      .Describe("start, start + step, ... below stop")
      .Attrs<ArangeAttrs>()
      .Level(3)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(Arange, "Arange")
      .Column(PrecisionRule::kNever);
  registry.Register("shape_of")
      .Describe("the extents of the input")
      .Argument("data", "Tensor", "input")
      .Attrs<ShapeOfAttrs>()
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(ShapeOf, "ShapeOf");
  registry.Register("ndarray_size")
      .Describe("the number of elements of the input")
      .Argument("data", "Tensor", "input")
      .Attrs<ShapeOfAttrs>()
      .Pattern(OpPattern::kInjective)
      .TypeRelation(NdarraySize, "NdarraySize");
}

}  // namespace tenon::ops
