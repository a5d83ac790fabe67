// Operators whose results have as many elements as values say. ExpandRunTimeOps writes them as
// operators over all elements and a cut.
#include "tenon/ops/builtin.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;

void ArgWhere(TypeCall& call) {
  const auto* condition = call.tensor(0);
  if (condition == nullptr) return;
  if (condition->shape.empty()) call.Refuse("the condition must have a rank of at least 1");
  const auto rank = static_cast<std::int64_t>(condition->shape.size());
  call.LearnResult(ir::TensorType({Dim(), Dim(rank)}, Int32));
}

void SparseFillEmptyRows(TypeCall& call) {
  const auto* indices = call.tensor(0);
  const auto* values = call.tensor(1);
  const auto* shape = call.tensor(2);
  const auto* filled = call.tensor(3);
  if (indices == nullptr || values == nullptr || shape == nullptr || filled == nullptr) return;
  RequireIntegers(call, *indices);
  RequireIntegers(call, *shape);
  if (indices->shape.size() != 2 || !indices->shape[1].is_static())
    call.Refuse("the indices must have the shape (count, rank), with a rank that is a number");
  if (values->shape.size() != 1 || call.Differ(values->shape[0], indices->shape[0]))
    call.Refuse("there must be one value for each row of indices");
  if (shape->shape.size() != 1 || call.Differ(shape->shape[0], indices->shape[1]))
    call.Refuse("the dense shape must have one extent for each column of indices");
  if (!filled->shape.empty() || filled->dtype != values->dtype)
    call.Refuse("the default value must be a scalar of the values' type");
  call.LearnResult(
      ir::TupleType({ir::TensorType({Dim(), indices->shape[1]}, indices->dtype),
                     ir::TensorType({Dim()}, values->dtype), ir::TensorType({Dim()}, Bool)}));
}

}  // namespace

void RegisterRunTimeOps(OpRegistry& registry) {
  registry.Register("argwhere")
      .Describe(
          "the coordinates of the elements that are not 0, a row for each, in row-major order; "
          "their number is a variable of the types after it")
      .Argument("condition", "Tensor", "of rank 1 or more")
      .Level(10)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(ArgWhere, "ArgWhere");
  registry.Register("sparse_fill_empty_rows")
      .Describe(
          "entries of a sparse tensor, with an entry in the first column of each row that has "
          "none: rows in order, and their entries as they were. Gives indices, values, and whether "
          "each row was empty")
      .Argument("sparse_indices", "2D Tensor", "(count, rank): where the entries are")
      .Argument("sparse_values", "1D Tensor", "(count)")
      .Argument("dense_shape", "1D Tensor", "(rank): the extents of the whole")
      .Argument("default_value", "Tensor", "of rank 0: the value of entries that are added")
      .Level(3)
      .Pattern(OpPattern::kOpaque)
      .TypeRelation(SparseFillEmptyRows, "SparseFillEmptyRows");
}

}  // namespace tenon::ops
