// Running sums and products.
#include "tenon/ops/builtin.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/pass_rules.h"

namespace tenon::ops {
namespace {

void Scan(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<ScanopAttrs>();
  const DataType dtype = attrs.dtype.is_void() ? x->dtype : attrs.dtype;
  if (dtype.is_bool()) call.Refuse("the result cannot be bool; give dtype");
  if (!attrs.axis) {
    call.LearnResult(ir::TensorType({Product(x->shape)}, dtype));
    return;
  }
  NormalizeAxis(call, *attrs.axis, x->shape.size());
  call.LearnResult(ir::TensorType(x->shape, dtype));
}

}  // namespace

void RegisterScanOps(OpRegistry& registry) {
  const auto op = [&](const char* name, const char* help) {
    OpBuilder made = registry.Register(name);
    made.Describe(help).Argument("data", "Tensor", "input").Attrs<ScanopAttrs>();
    made.Level(3).Pattern(OpPattern::kOpaque);
    return made;
  };
  op("cumsum", "sums of the elements up to each one")
      .TypeRelation(Scan, "Cumsum")
      .Column(PrecisionRule::kNever)
      .Column(HalfSums::kPlain);
  op("cumprod", "products of the elements up to each one")
      .TypeRelation(Scan, "Cumprod")
      .Column(HalfSums::kPlain);
}

}  // namespace tenon::ops
