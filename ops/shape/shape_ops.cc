// Operators that rearrange elements: reshape, squeeze, transpose, concatenate, split and similar
// ones.
#include <algorithm>

#include "tenon/ops/builtin.h"
#include "tenon/ops/data_op.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/extents/given_extents.h"
#include "tenon/ops/layout/layout_rules.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;
using ir::TensorType;

void Reshape(TypeCall& call) {
  if (const auto* x = call.tensor(0))
    call.LearnResult(
        TensorType(ReshapeTarget(call.attrs<ReshapeAttrs>(), x->shape, &call), x->dtype));
}

// Like reshape with everything written backwards.
void ReverseReshape(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  ReshapeAttrs attrs = call.attrs<ReshapeAttrs>();
  if (std::find(attrs.newshape.begin(), attrs.newshape.end(), -4) != attrs.newshape.end())
    call.Refuse("newshape may not have -4, whose two extents would come before it");
  std::reverse(attrs.newshape.begin(), attrs.newshape.end());
  std::vector<Dim> shape = ReshapeTarget(attrs, {x->shape.rbegin(), x->shape.rend()}, &call);
  std::reverse(shape.begin(), shape.end());
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void ReshapeLike(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* like = call.tensor(1);
  if (x == nullptr || like == nullptr) return;
  const auto& attrs = call.attrs<ReshapeLikeAttrs>();
  const auto bound = [&](std::int64_t at, std::size_t rank) {
    const auto n = static_cast<std::int64_t>(rank);
    if (at < -n || at > n) call.Refuse(StrCat("a bound is ", at, " for a tensor of rank ", rank));
    return at < 0 ? at + n : at;
  };
  const std::size_t n = x->shape.size();
  const std::size_t m = like->shape.size();
  const auto lhs_begin = bound(attrs.lhs_begin, n);
  const auto lhs_end = attrs.lhs_end ? bound(*attrs.lhs_end, n) : static_cast<std::int64_t>(n);
  const auto rhs_begin = bound(attrs.rhs_begin, m);
  const auto rhs_end = attrs.rhs_end ? bound(*attrs.rhs_end, m) : static_cast<std::int64_t>(m);
  if (lhs_begin > lhs_end || rhs_begin > rhs_end) call.Refuse("a begin lies after its end");
  std::vector<Dim> shape(x->shape.begin(), x->shape.begin() + lhs_begin);
  shape.insert(shape.end(), like->shape.begin() + rhs_begin, like->shape.begin() + rhs_end);
  shape.insert(shape.end(), x->shape.begin() + lhs_end, x->shape.end());
  // The axes that stay say nothing where one of them is 0.
  const auto part = [](const std::vector<Dim>& of, std::int64_t begin, std::int64_t end) {
    return Product(std::vector<Dim>(of.begin() + begin, of.begin() + end));
  };
  if (call.Differ(part(x->shape, lhs_begin, lhs_end), part(like->shape, rhs_begin, rhs_end)))
    call.Refuse("the two shapes have different numbers of elements");
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void ReshapeToExtents(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto fields = call.tensors(1);
  if (x == nullptr || !fields) return;
  std::vector<Dim> shape = GivenExtents(call, call.attrs<ExtentsAttrs>().shape, *fields);
  if (call.Differ(Product(x->shape), Product(shape)))
    call.Refuse("the two shapes have different numbers of elements");
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void BatchFlatten(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (x->shape.empty()) call.Refuse("the input must have a batch axis");
  call.LearnResult(TensorType(
      {x->shape[0], Product(std::vector<Dim>(x->shape.begin() + 1, x->shape.end()))}, x->dtype));
}

void ExpandDims(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<ExpandDimsAttrs>();
  const int axis = NormalizeAxis(call, attrs.axis, x->shape.size() + 1);
  std::vector<Dim> shape = x->shape;
  shape.insert(shape.begin() + axis, static_cast<std::size_t>(attrs.num_newaxis), Dim(1));
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void Squeeze(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<SqueezeAttrs>();
  std::vector<bool> drop(x->shape.size(), false);
  if (attrs.axis) {
    for (const int axis : NormalizeAxes(call, *attrs.axis, x->shape.size())) {
      const Dim& dim = x->shape[static_cast<std::size_t>(axis)];
      if (call.Differ(dim, 1))
        call.Refuse(StrCat("axis ", axis, " has the extent ", dim.ToString(), ", not 1"));
      drop[static_cast<std::size_t>(axis)] = true;
    }
  }
  std::vector<Dim> shape;
  for (std::size_t i = 0; i < x->shape.size(); ++i) {
    if (!attrs.axis && !x->shape[i].is_static())
      call.Refuse("without axis all extents must be known");
    if (!attrs.axis) drop[i] = x->shape[i] == Dim(1);
    if (!drop[i]) shape.push_back(x->shape[i]);
  }
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void Transpose(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<TransposeAttrs>();
  std::vector<Dim> shape(x->shape.rbegin(), x->shape.rend());
  if (attrs.axes) {
    const std::vector<int> axes = NormalizeAxes(call, *attrs.axes, x->shape.size(), "axes");
    if (axes.size() != x->shape.size())
      call.Refuse(
          StrCat("axes has ", axes.size(), " entries for an input of rank ", x->shape.size()));
    for (std::size_t i = 0; i < axes.size(); ++i)
      shape[i] = x->shape[static_cast<std::size_t>(axes[i])];
  }
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void Reverse(TypeCall& call) {
  if (const auto* x = call.tensor(0))
    NormalizeAxis(call, call.attrs<ReverseAttrs>().axis, x->shape.size());
  Identity(call);
}

void Concatenate(TypeCall& call) {
  const auto fields = call.tensors(0);
  if (!fields) return;
  if (fields->empty()) call.Refuse("the tuple must have a field");
  const ir::TensorTypeNode& first = *fields->front();
  if (first.shape.empty()) call.Refuse("the fields must have an axis to concatenate along");
  const auto axis = static_cast<std::size_t>(
      NormalizeAxis(call, call.attrs<ConcatenateAttrs>().axis, first.shape.size()));
  std::vector<Dim> shape = first.shape;
  for (std::size_t f = 1; f < fields->size(); ++f) {
    const ir::TensorTypeNode& field = *(*fields)[f];
    if (field.dtype != first.dtype || field.shape.size() != shape.size())
      call.Refuse(StrCat("field ", f, " has another element type or rank than field 0"));
    for (std::size_t i = 0; i < shape.size(); ++i) {
      const Dim& extent = field.shape[i];
      if (i == axis) {
        shape[i] =
            extent.is_static() ? PaddedExtent(shape[i], 0, extent.value()) : shape[i] + extent;
      } else if (call.Differ(shape[i], extent)) {
        call.Refuse(StrCat("field ", f, " has the extent ", extent.ToString(), " on axis ", i,
                           ", field 0 has ", shape[i].ToString(), "; only axis ", axis,
                           " may differ"));
      } else if (!shape[i].is_static()) {
        shape[i] = extent;
      }
    }
  }
  call.LearnResult(TensorType(std::move(shape), first.dtype));
}

void Stack(TypeCall& call) {
  const auto fields = call.tensors(0);
  if (!fields) return;
  if (fields->empty()) call.Refuse("the tuple must have a field");
  std::vector<Dim> shape = fields->front()->shape;
  const int axis = NormalizeAxis(call, call.attrs<StackAttrs>().axis, shape.size() + 1);
  for (std::size_t f = 1; f < fields->size(); ++f) {
    if ((*fields)[f]->dtype != fields->front()->dtype || call.Differ((*fields)[f]->shape, shape))
      call.Refuse(StrCat("field ", f, " has another type than field 0"));
  }
  shape.insert(shape.begin() + axis, Dim(static_cast<std::int64_t>(fields->size())));
  call.LearnResult(TensorType(std::move(shape), fields->front()->dtype));
}

std::vector<Dim> PartExtents(TypeCall& call, const SplitAttrs& attrs, const Dim& whole) {
  std::vector<Dim> extents;
  if (whole.is_static()) {
    for (const auto& [begin, extent] : SplitParts(attrs, whole.value()))
      extents.emplace_back(extent);
    return extents;
  }
  if (const auto* sections = std::get_if<std::int64_t>(&attrs.indices_or_sections)) {
    const std::optional<Dim> part =
        *sections < 1 || *sections > kMaxParts ? std::nullopt : ExactQuotient(whole, *sections);
    if (!part)
      call.Refuse(StrCat("an extent of ", whole.ToString(), " is not known to have ", *sections,
                         " equal parts"));
    extents.assign(static_cast<std::size_t>(*sections), *part);
    return extents;
  }
  std::int64_t begin = 0;
  for (const std::int64_t cut : std::get<Ints>(attrs.indices_or_sections)) {
    if (cut < begin) call.Refuse(StrCat("the cut points must ascend; ", cut, " follows ", begin));
    extents.emplace_back(cut - begin);
    begin = cut;
  }
  if (call.Exceeds(begin, whole))
    call.Refuse(StrCat("the cut point ", begin, " lies after the extent ", whole.ToString()));
  extents.push_back(whole - begin);
  return extents;
}

void Split(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<SplitAttrs>();
  const auto axis = static_cast<std::size_t>(NormalizeAxis(call, attrs.axis, x->shape.size()));
  if (x->shape[axis].is_any()) call.Refuse("the extent that is split must be known");
  std::vector<ir::Type> parts;
  for (const Dim& extent : PartExtents(call, attrs, x->shape[axis])) {
    std::vector<Dim> shape = x->shape;
    shape[axis] = extent;
    parts.push_back(TensorType(std::move(shape), x->dtype));
  }
  call.LearnResult(ir::TupleType(std::move(parts)));
}

}  // namespace

void RegisterShapeOps(OpRegistry& registry) {
  constexpr OpPattern kInjective = OpPattern::kInjective;
  DataOp(registry, "reshape", "the same elements under another shape", 3, kInjective)
      .Attrs<ReshapeAttrs>()
      .TypeRelation(Reshape, "Reshape")
      .ReshapeOnly()
      .Column(PrecisionRule::kFollow);
  DataOp(registry, "contrib_reverse_reshape",
         "the same elements under another shape; its codes are read from the last axis backwards",
         10, kInjective)
      .Attrs<ReshapeAttrs>()
      .TypeRelation(ReverseReshape, "ReverseReshape")
      .ReshapeOnly();
  DataOp(registry, "reshape_like", "the same elements in the shape of the second input", 3,
         kInjective)
      .Argument("shape_like", "Tensor", "gives the shape")
      .Attrs<ReshapeLikeAttrs>()
      .TypeRelation(ReshapeLike, "ReshapeLike")
      .ReshapeOnly();
  DataOp(registry, "reshape_to_extents",
         "the same elements under a shape of expressions of the extents of other tensors", 10,
         kInjective)
      .Argument("extents", "Tuple", "tensors whose extents the shape names")
      .Attrs<ExtentsAttrs>()
      .TypeRelation(ReshapeToExtents, "ReshapeToExtents")
      .ReshapeOnly();
  DataOp(registry, "nn.batch_flatten", "all axes but the first become one", 2, kInjective)
      .TypeRelation(BatchFlatten, "BatchFlatten")
      .ReshapeOnly()
      .Column(PrecisionRule::kFollow);
  DataOp(registry, "expand_dims", "insert axes of extent 1", 1, OpPattern::kBroadcast)
      .Attrs<ExpandDimsAttrs>()
      .TypeRelation(ExpandDims, "ExpandDims")
      .ReshapeOnly()
      .Column(PrecisionRule::kFollow);
  DataOp(registry, "squeeze", "drop axes of extent 1", 3, kInjective)
      .Attrs<SqueezeAttrs>()
      .TypeRelation(Squeeze, "Squeeze")
      .ReshapeOnly()
      .Column(PrecisionRule::kFollow)
      .Column(LayoutInference{LayoutsOfSqueeze});
  DataOp(registry, "transpose", "permute the axes", 3, kInjective)
      .Attrs<TransposeAttrs>()
      .TypeRelation(Transpose, "Transpose")
      .Column(PrecisionRule::kFollow)
      .Column(LayoutInference{LayoutsOfTranspose});
  DataOp(registry, "reverse", "flip the order along an axis", 3, kInjective)
      .Attrs<ReverseAttrs>()
      .TypeRelation(Reverse, "Reverse")
      .Column(PrecisionRule::kFollow);
  DataOp(registry, "split", "cut along an axis into a tuple", 3, kInjective)
      .Attrs<SplitAttrs>()
      .TypeRelation(Split, "Split")
      .Column(PrecisionRule::kFollow)
      .Column(LayoutInference{LayoutsOfSplit});
  DataOp(registry, "concatenate", "concatenate the fields of a tuple along an axis", 1, kInjective)
      .Attrs<ConcatenateAttrs>()
      .TypeRelation(Concatenate, "Concatenate")
      .Column(PrecisionRule::kFollow)
      .Column(LayoutInference{LayoutsOfConcatenate});
  DataOp(registry, "stack", "stack the fields of a tuple along a new axis", 3, kInjective)
      .Attrs<StackAttrs>()
      .TypeRelation(Stack, "Stack")
      .Column(PrecisionRule::kFollow);
}

}  // namespace tenon::ops
