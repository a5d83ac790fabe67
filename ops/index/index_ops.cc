// Operators that select elements by index.
#include "tenon/ops/builtin.h"
#include "tenon/ops/data_op.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/index/sequence_attrs.h"
#include "tenon/ops/layout/layout_rules.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;
using ir::TensorType;

void StridedSlice(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  for (const Dim& dim : x->shape) {
    if (dim.is_any()) call.Refuse("all extents of the input must be known");
  }
  std::vector<Dim> shape;
  for (const SliceDims& range : SliceRanges(call.attrs<StridedSliceAttrs>(), x->shape))
    shape.push_back(range.extent);
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void SliceLike(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* like = call.tensor(1);
  if (x == nullptr || like == nullptr) return;
  std::vector<Dim> shape = x->shape;
  const auto crop = [&](std::size_t axis) {
    if (axis >= like->shape.size()) call.Refuse(StrCat("shape_like has no axis ", axis));
    const Dim& to = like->shape[axis];
    if (call.Exceeds(to, shape[axis]))
      call.Refuse(StrCat("axis ", axis, " has ", shape[axis].ToString(),
                         " elements, fewer than the ", to.ToString(), " of shape_like"));
    shape[axis] = to;
  };
  const auto& attrs = call.attrs<SliceLikeAttrs>();
  if (attrs.axes && !attrs.axes->empty()) {
    for (const int axis : NormalizeAxes(call, *attrs.axes, shape.size(), "axes"))
      crop(static_cast<std::size_t>(axis));
  } else {
    for (std::size_t i = 0; i < std::min(shape.size(), like->shape.size()); ++i) crop(i);
  }
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void Take(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* indices = call.tensor(1);
  if (x == nullptr || indices == nullptr) return;
  RequireIntegers(call, *indices);
  const auto& attrs = call.attrs<TakeAttrs>();
  if (!attrs.axis) {
    for (std::size_t i = 0; i < x->shape.size(); ++i)
      RequireElements(call, x->shape[i], StrCat("axis ", i), indices->shape);
    call.LearnResult(TensorType(indices->shape, x->dtype));
    return;
  }
  const int axis = NormalizeAxis(call, *attrs.axis, x->shape.size());
  const auto batch = attrs.batch_dims;
  if (batch > axis || batch > static_cast<std::int64_t>(indices->shape.size()))
    call.Refuse("batch_dims must be at most axis and the rank of the indices");
  for (std::size_t d = 0; d < static_cast<std::size_t>(batch); ++d) {
    if (call.Differ(indices->shape[d], x->shape[d]))
      call.Refuse(StrCat("batch axis ", d, " has other extents in data and indices"));
  }
  std::vector<Dim> shape(x->shape.begin(), x->shape.begin() + axis);
  shape.insert(shape.end(), indices->shape.begin() + batch, indices->shape.end());
  shape.insert(shape.end(), x->shape.begin() + axis + 1, x->shape.end());
  RequireElements(call, x->shape[static_cast<std::size_t>(axis)], StrCat("axis ", axis), shape);
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void Gather(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* indices = call.tensor(1);
  if (x == nullptr || indices == nullptr) return;
  RequireIntegers(call, *indices);
  const auto axis = static_cast<std::size_t>(
      NormalizeAxis(call, call.attrs<GatherAttrs>().axis, x->shape.size()));
  if (indices->shape.size() != x->shape.size()) call.Refuse("data and indices must have one rank");
  for (std::size_t i = 0; i < x->shape.size(); ++i) {
    const Dim& extent = indices->shape[i];
    if (i != axis && call.Differ(extent, x->shape[i]))
      call.Refuse("data and indices must have one shape except for the axis");
  }
  RequireElements(call, x->shape[axis], StrCat("axis ", axis), indices->shape);
  call.LearnResult(TensorType(indices->shape, x->dtype));
}

void GatherND(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* indices = call.tensor(1);
  if (x == nullptr || indices == nullptr) return;
  RequireIntegers(call, *indices);
  if (indices->shape.empty() || !indices->shape[0].is_static())
    call.Refuse("the first extent of the indices (the length of an index) must be known");
  const auto batch = static_cast<std::size_t>(call.attrs<GatherNDAttrs>().batch_dims);
  const auto used = batch + static_cast<std::size_t>(indices->shape[0].value());
  if (used > x->shape.size())
    call.Refuse(StrCat("an index of ", indices->shape[0].value(), " and ", batch,
                       " batch axes for data of rank ", x->shape.size()));
  if (batch >= indices->shape.size())
    call.Refuse(StrCat(batch, " batch axes, but the indices have ", indices->shape.size() - 1,
                       " axes after the first"));
  for (std::size_t d = 0; d < batch; ++d) {
    if (call.Differ(indices->shape[d + 1], x->shape[d]))
      call.Refuse(StrCat("batch axis ", d, " has other extents in data and indices"));
  }
  std::vector<Dim> shape(indices->shape.begin() + 1, indices->shape.end());
  shape.insert(shape.end(), x->shape.begin() + static_cast<std::ptrdiff_t>(used), x->shape.end());
  for (std::size_t d = batch; d < used; ++d)
    RequireElements(call, x->shape[d], StrCat("axis ", d), shape);
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void AdvIndex(TypeCall& call) {
  const auto fields = call.tensors(0);
  if (!fields) return;
  if (fields->size() < 2) call.Refuse("the tuple must hold the data and an index");
  const ir::TensorTypeNode& x = *fields->front();
  const std::size_t used = fields->size() - 1;
  if (used > x.shape.size()) call.Refuse("there are more indices than axes");
  std::vector<Dim> shape;
  for (std::size_t f = 1; f < fields->size(); ++f) {
    RequireIntegers(call, *(*fields)[f]);
    shape = BroadcastShapes(call, shape, (*fields)[f]->shape);
  }
  shape.insert(shape.end(), x.shape.begin() + static_cast<std::ptrdiff_t>(used), x.shape.end());
  for (std::size_t d = 0; d < used; ++d)
    RequireElements(call, x.shape[d], StrCat("axis ", d), shape);
  call.LearnResult(TensorType(std::move(shape), x.dtype));
}

void OneHot(TypeCall& call) {
  const auto* indices = call.tensor(0);
  const auto* on = call.tensor(1);
  const auto* off = call.tensor(2);
  if (indices == nullptr || on == nullptr || off == nullptr) return;
  RequireIntegers(call, *indices);
  if (!on->shape.empty() || !off->shape.empty())
    call.Refuse("on_value and off_value must have rank 0");
  const auto& attrs = call.attrs<OneHotAttrs>();
  std::vector<Dim> shape = indices->shape;
  const int axis = NormalizeAxis(call, attrs.axis, shape.size() + 1);
  shape.insert(shape.begin() + axis, Dim(attrs.depth));
  call.LearnResult(TensorType(std::move(shape), attrs.dtype.is_void() ? on->dtype : attrs.dtype));
}

void ReverseSequence(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* lengths = call.tensor(1);
  if (x == nullptr || lengths == nullptr) return;
  const auto& attrs = call.attrs<ReverseSequenceAttrs>();
  const int along = NormalizeAxis(call, attrs.seq_axis, x->shape.size(), "seq_axis");
  const int batch = NormalizeAxis(call, attrs.batch_axis, x->shape.size(), "batch_axis");
  if (along == batch) call.Refuse("seq_axis and batch_axis must differ");
  if (!lengths->dtype.is_integral() || lengths->shape.size() != 1)
    call.Refuse("seq_lengths must be a vector of integers");
  const Dim& extent = x->shape[static_cast<std::size_t>(batch)];
  if (call.Differ(extent, lengths->shape[0]))
    call.Refuse(StrCat("there are ", lengths->shape[0].ToString(), " lengths for a batch of ",
                       extent.ToString()));
  call.LearnResult(call.input(0));
}

void SequenceMask(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* lengths = call.tensor(1);
  if (x == nullptr || lengths == nullptr) return;
  const std::int64_t axis = call.attrs<SequenceMaskAttrs>().axis;
  if (x->shape.size() < 2) call.Refuse("the input must have an axis of time and one of the batch");
  if (axis != 0 && axis != 1) call.Refuse(StrCat("axis is ", axis, "; it must be 0 or 1"));
  if (!lengths->dtype.is_integral() || lengths->shape.size() != 1)
    call.Refuse("valid_length must be a vector of integers");
  const Dim& batch = x->shape[axis == 0 ? 1 : 0];
  if (call.Differ(batch, lengths->shape[0]))
    call.Refuse(StrCat("there are ", lengths->shape[0].ToString(), " lengths for a batch of ",
                       batch.ToString()));
  call.LearnResult(call.input(0));
}

// The maximum rank of the array into which offsets point, as in NumPy 2. The coordinate of each
// axis is an expression of its own.
constexpr std::int64_t kMaxUnravelled = 64;

void UnravelIndex(TypeCall& call) {
  const auto* indices = call.tensor(0);
  const auto* extents = call.tensor(1);
  if (indices == nullptr || extents == nullptr) return;
  RequireIntegers(call, *indices);
  if (indices->shape.size() > 1) call.Refuse("the indices must have rank 0 or 1");
  if (!extents->dtype.is_integral() || extents->shape.size() != 1)
    call.Refuse("shape must be a vector of integers");
  if (!extents->shape[0].is_static()) call.Refuse("the length of shape must be known");
  if (extents->shape[0].value() > kMaxUnravelled)
    call.Refuse(StrCat("shape has ", extents->shape[0].value(), " extents; at most ",
                       kMaxUnravelled, " are supported"));
  std::vector<Dim> shape = {extents->shape[0]};
  shape.insert(shape.end(), indices->shape.begin(), indices->shape.end());
  call.LearnResult(TensorType(std::move(shape), indices->dtype));
}

void Trilu(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  if (x->shape.size() < 2) call.Refuse("the input must have two axes");
  if (const auto* k = call.tensor(1);
      k != nullptr && (!k->shape.empty() || !k->dtype.is_integral()))
    call.Refuse("k must be an integer of rank 0");
  call.LearnResult(call.input(0));
}

}  // namespace

void RegisterIndexOps(OpRegistry& registry) {
  constexpr OpPattern kInjective = OpPattern::kInjective;
  const char* const kFromEnd =
      "integers; negative ones count from the end, and those out of range even so take the nearest "
      "element";
  DataOp(registry, "strided_slice", "elements begin, begin + stride, ... of each axis", 4,
         kInjective)
      .Attrs<StridedSliceAttrs>()
      .TypeRelation(StridedSlice, "StridedSlice")
      .Column(PrecisionRule::kFollow)
      .Column(LayoutInference{LayoutsOfStridedSlice});
  DataOp(registry, "slice_like", "cropped to the extents of the second input", 10, kInjective)
      .Argument("shape_like", "Tensor", "gives the extents")
      .Attrs<SliceLikeAttrs>()
      .TypeRelation(SliceLike, "SliceLike");
  DataOp(registry, "take", "elements along an axis by index", 3, kInjective)
      .Argument("indices", "Tensor", "integers")
      .Attrs<TakeAttrs>()
      .TypeRelation(Take, "Take")
      .Column(PrecisionRule::kFollow);
  DataOp(registry, "gather", "elements along one axis, the index having the data's rank", 3,
         kInjective)
      .Argument("indices", "Tensor", kFromEnd)
      .Attrs<GatherAttrs>()
      .TypeRelation(Gather, "Gather");
  DataOp(registry, "gather_nd",
         "elements by index tuples that run along the first axis of the indices", 3, kInjective)
      .Argument("indices", "Tensor", kFromEnd)
      .Attrs<GatherNDAttrs>()
      .TypeRelation(GatherND, "GatherND");
  registry.Register("adv_index")
      .Describe("indices that broadcast together replace the leading axes")
      .Argument("inputs", "Tuple of Tensors",
                "data and indices, of which negative ones count from the end; those out of range "
                "even so take the nearest element")
      .Level(3)
      .Pattern(kInjective)
      .TypeRelation(AdvIndex, "AdvIndex");
  registry.Register("one_hot")
      .Describe("on_value where the new axis equals the index, else off_value")
      .Argument("indices", "Tensor", "integers")
      .Argument("on_value", "Tensor", "rank 0")
      .Argument("off_value", "Tensor", "rank 0")
      .Attrs<OneHotAttrs>()
      .Level(10)
      .Pattern(OpPattern::kOutEWiseFusable)
      .TypeRelation(OneHot, "OneHot");
  DataOp(registry, "reverse_sequence",
         "the first seq_lengths[b] elements along an axis flipped, for each b", 3, kInjective)
      .Argument("seq_lengths", "1D Tensor", "one length per batch entry")
      .Attrs<ReverseSequenceAttrs>()
      .TypeRelation(ReverseSequence, "ReverseSequence");
  DataOp(registry, "sequence_mask",
         "mask_value from the time valid_length[b] on, for each entry b of the batch", 10,
         kInjective)
      .Argument("valid_length", "1D Tensor", "one length per batch entry")
      .Attrs<SequenceMaskAttrs>()
      .TypeRelation(SequenceMask, "SequenceMask");
  DataOp(registry, "unravel_index",
         "coordinates, along a new first axis, of row-major offsets; others wrap around", 3,
         kInjective)
      .Argument("shape", "1D Tensor", "extents that the offsets count through")
      .TypeRelation(UnravelIndex, "UnRavelIndexRel");
  DataOp(registry, "trilu", "the upper or lower triangle of the last two axes, zero elsewhere", 3,
         OpPattern::kElemWise)
      .Argument("k", "Tensor", "the diagonal that bounds it")
      .Attrs<TriluAttrs>()
      .TypeRelation(Trilu, "trilu");
}

}  // namespace tenon::ops
