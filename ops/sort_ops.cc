// Operators that order elements along an axis. Equal elements stay in order, the lower index first;
// NaN is greater than every number.
#include "tenon/ops/builtin.h"
#include "tenon/ops/sort_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

DataType IndexType(const TypeCall& call, DataType dtype) {
  if (dtype.is_void()) return Int32;
  if (!dtype.is_int() && !dtype.is_float())
    call.Refuse(StrCat("the indices cannot be ", dtype.ToString()));
  return dtype;
}

void Sort(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  NormalizeAxis(call, call.attrs<ArgsortAttrs>().axis, x->shape.size());
  call.LearnResult(call.input(0));
}

void Argsort(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<ArgsortAttrs>();
  NormalizeAxis(call, attrs.axis, x->shape.size());
  call.LearnResult(ir::TensorType(x->shape, IndexType(call, attrs.dtype)));
}

void TopK(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<TopKAttrs>();
  const auto axis = static_cast<std::size_t>(NormalizeAxis(call, attrs.axis, x->shape.size()));
  std::vector<ir::Dim> shape = x->shape;
  if (attrs.k && *attrs.k >= 1) {
    if (shape[axis].is_static() && *attrs.k > shape[axis].value())
      call.Refuse(StrCat("k is ", *attrs.k, " for an axis of ", shape[axis].value(), " elements"));
    shape[axis] = ir::Dim(*attrs.k);
  }
  const ir::Type values = ir::TensorType(shape, x->dtype);
  const ir::Type indices = ir::TensorType(shape, IndexType(call, attrs.dtype));
  if (attrs.ret_type == "both") {
    call.LearnResult(ir::TupleType({values, indices}));
  } else {
    call.LearnResult(attrs.ret_type == "values" ? values : indices);
  }
}

}  // namespace

void RegisterSortOps(OpRegistry& registry) {
  const auto op = [&](const char* name, const char* help) {
    OpBuilder made = registry.Register(name);
    made.Describe(help).Argument("data", "Tensor", "input").Level(6).Pattern(OpPattern::kOpaque);
    return made;
  };
  op("sort", "the elements in order along an axis")
      .Attrs<ArgsortAttrs>()
      .TypeRelation(Sort, "Sort");
  op("argsort", "the indices that sort along an axis; equal elements stay in order")
      .Attrs<ArgsortAttrs>()
      .TypeRelation(Argsort, "Argsort");
  op("topk", "the k greatest or least elements along an axis, in order, and where they are")
      .Attrs<TopKAttrs>()
      .TypeRelation(TopK, "TopK");
}

}  // namespace tenon::ops
