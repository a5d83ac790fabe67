// Operators that write elements by index.
#include "tenon/ops/builtin.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;
using ir::TensorTypeNode;

void RequireUpdates(const TypeCall& call, const TensorTypeNode& x, const TensorTypeNode& updates,
                    const std::string& mode) {
  if (updates.dtype != x.dtype) call.Refuse("data and updates have different element types");
  if (x.dtype.is_bool() && mode != "update")
    call.Refuse(StrCat("bool elements can only be updated; there is no ", mode, " of them"));
}

void ScatterElements(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* indices = call.tensor(1);
  const auto* updates = call.tensor(2);
  if (x == nullptr || indices == nullptr || updates == nullptr) return;
  const auto& attrs = call.attrs<ScatterElementsAttrs>();
  RequireIntegers(call, *indices);
  RequireUpdates(call, *x, *updates, attrs.reduction);
  const std::size_t rank = x->shape.size();
  const auto axis = static_cast<std::size_t>(NormalizeAxis(call, attrs.axis, rank));
  if (indices->shape.size() != rank || updates->shape.size() != rank)
    call.Refuse("data, indices and updates must have one rank");
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim& extent = indices->shape[i];
    if (call.Differ(extent, updates->shape[i]))
      call.Refuse("indices and updates must have one shape");
    if (i != axis && call.Exceeds(extent, x->shape[i]))
      call.Refuse(StrCat("the indices have the extent ", extent.ToString(), " on axis ", i,
                         ", the data only ", x->shape[i].ToString()));
  }
  call.LearnResult(call.input(0));
}

void ScatterND(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* indices = call.tensor(1);
  const auto* updates = call.tensor(2);
  if (x == nullptr || indices == nullptr || updates == nullptr) return;
  RequireIntegers(call, *indices);
  RequireUpdates(call, *x, *updates, call.attrs<ScatterNDAttrs>().mode);
  if (indices->shape.empty() || !indices->shape[0].is_static())
    call.Refuse("the first extent of the indices (the length of an index) must be known");
  const std::int64_t length = indices->shape[0].value();
  if (length > static_cast<std::int64_t>(x->shape.size()))
    call.Refuse(StrCat("an index of ", length, " for data of rank ", x->shape.size()));
  std::vector<Dim> shape(indices->shape.begin() + 1, indices->shape.end());
  shape.insert(shape.end(), x->shape.begin() + length, x->shape.end());
  if (call.Differ(updates->shape, shape))
    call.Refuse(StrCat(
        "the updates must have the shape (",
        StrJoin(shape, ", ", [](std::string* out, const Dim& dim) { *out += dim.ToString(); }),
        "): that of the indices without their first axis, then that of a slice"));
  call.LearnResult(call.input(0));
}

void InvertPermutation(TypeCall& call) {
  if (const auto* x = call.tensor(0); x != nullptr) {
    RequireIntegers(call, *x);
    if (x->shape.size() != 1) call.Refuse("the permutation must be a vector");
  }
  Identity(call);
}

}  // namespace

void RegisterScatterOps(OpRegistry& registry) {
  const auto op = [&](const char* name, const char* help, int level, OpPattern pattern) {
    OpBuilder made = registry.Register(name);
    made.Describe(help).Argument("data", "Tensor", "input").Level(level).Pattern(pattern);
    return made;
  };
  op("scatter_elements", "the data with elements along one axis replaced or combined", 3,
     OpPattern::kOpaque)
      .Argument("indices", "Tensor",
                "integers; negative ones count from the end, and those out of range even so are "
                "dropped")
      .Argument("updates", "Tensor", "one value per index, one after the other")
      .Attrs<ScatterElementsAttrs>()
      .TypeRelation(ScatterElements, "ScatterElements");
  op("scatter_nd", "the data with slices replaced or combined, by index tuples", 3,
     OpPattern::kOpaque)
      .Argument("indices", "Tensor",
                "integers as those of scatter_elements; an index tuple runs along the first axis")
      .Argument("updates", "Tensor", "one slice per index tuple")
      .Attrs<ScatterNDAttrs>()
      .TypeRelation(ScatterND, "ScatterND");
  op("invert_permutation", "q with q[data[i]] = i; 0 where no element points", 1,
     OpPattern::kOpaque)
      .TypeRelation(InvertPermutation, "Identity");
}

}  // namespace tenon::ops
