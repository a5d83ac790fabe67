// Operators that order elements along an axis or search for them. Equal elements keep their order
// (the lower index first), and NaN is greater than every number.
#include "tenon/ops/builtin.h"
#include "tenon/ops/index/sort_attrs.h"
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
    if (call.Exceeds(*attrs.k, shape[axis]))
      call.Refuse(
          StrCat("k is ", *attrs.k, " for an axis of ", shape[axis].ToString(), " elements"));
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

void SearchSorted(TypeCall& call) {
  const auto* sequence = call.tensor(0);
  const auto* values = call.tensor(1);
  if (sequence == nullptr || values == nullptr) return;
  const DataType dtype = call.attrs<SearchSortedAttrs>().dtype;
  if (dtype != Int32 && dtype != Int64)
    call.Refuse(StrCat("dtype is ", dtype.ToString(), "; it may be int32 or int64"));
  if (sequence->dtype != values->dtype)
    call.Refuse("sequence and values must have one element type");
  if (sequence->shape.empty()) call.Refuse("the sequence must have an axis");
  const std::size_t rows = sequence->shape.size() - 1;
  bool agrees = rows == 0 || values->shape.size() == rows + 1;
  for (std::size_t d = 0; agrees && d < rows; ++d)
    agrees = !call.Differ(sequence->shape[d], values->shape[d]);
  if (!agrees)
    call.Refuse(
        "sequence and values must have one shape except for the last axis, or the "
        "sequence must be a vector");
  call.LearnResult(ir::TensorType(values->shape, dtype));
}

void Unique(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (x->shape.empty()) call.Refuse("the data must have an axis");
  const ir::Type places = ir::TensorType({x->shape[0]}, Int32);
  std::vector<ir::Type> fields = {call.input(0), places, places,
                                  ir::TensorType({ir::Dim(1)}, Int32)};
  if (call.attrs<UniqueAttrs>().return_counts) fields.push_back(places);
  call.LearnResult(ir::TupleType(std::move(fields)));
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
  op("topk", "the k largest or smallest elements along an axis, in order, and their indices")
      .Attrs<TopKAttrs>()
      .TypeRelation(TopK, "TopK");
  registry.Register("searchsorted")
      .Describe(
          "how many elements of the ascending sequence come before each value; NaN comes last")
      .Argument("sorted_sequence", "Tensor", "ascending along the last axis")
      .Argument("values", "Tensor", "values to search for")
      .Attrs<SearchSortedAttrs>()
      .Level(6)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(SearchSorted, "SearchSorted");
  registry.Register("unique")
      .Describe(
          "the distinct elements of a vector, or slices along the first axis, where each first "
          "occurs, which of them each one is, how many there are and, if asked for, how often each "
          "occurs; zeros follow them. Slices are in the order of the first elements that differ. "
          "NaN equals nothing")
      .Argument("data", "Tensor", "a vector or more")
      .Attrs<UniqueAttrs>()
      .Level(3)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(Unique, "UniqueRel");
}

}  // namespace tenon::ops
