// Operators whose results have elements several times: broadcast_to, tile, repeat, meshgrid and
// similar ones.
#include <algorithm>
#include <utility>

#include "tenon/ops/builtin.h"
#include "tenon/ops/data_op.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/extents/given_extents.h"
#include "tenon/ops/pass_rules.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/support/strings.h"

namespace tenon::ops {
namespace {

using ir::Dim;
using ir::TensorType;

void BroadcastTo(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<InitOpAttrs>();
  if (!attrs.shape) call.Refuse("shape must be given");
  const std::vector<Dim> target(attrs.shape->begin(), attrs.shape->end());
  if (BroadcastShapes(call, x->shape, target) != target)
    call.Refuse("the input does not broadcast to the shape");
  call.LearnResult(TensorType(target, x->dtype));
}

// Whether the input broadcasts to a shape of expressions. Of extents that may differ the call
// assumes that they do not. It has one direction: where the input has several elements, the shape
// has as many.
bool BroadcastsTo(TypeCall& call, const std::vector<Dim>& from, const std::vector<Dim>& target) {
  const std::vector<Dim> both = BroadcastShapes(call, from, target);
  const auto fits = [&](std::size_t i) {
    const std::size_t added = target.size() - from.size();
    const Dim own = i < added ? Dim(1) : from[i - added];
    const bool is_assumed =
        !(target[i].is_static() && own.is_static()) && !(target[i] == Dim(1)) && !(own == Dim(1));
    return both[i] == target[i] || (is_assumed && !call.Exceeds(own, Max(target[i], 1)));
  };
  bool all_fit = both.size() == target.size();
  for (std::size_t i = 0; all_fit && i < target.size(); ++i) all_fit = fits(i);
  return all_fit;
}

void BroadcastToExtents(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto fields = call.tensors(1);
  if (x == nullptr || !fields) return;
  const std::vector<Dim> target = GivenExtents(call, call.attrs<ExtentsAttrs>().shape, *fields);
  if (!BroadcastsTo(call, x->shape, target))
    call.Refuse("the input does not broadcast to the shape");
  call.LearnResult(TensorType(target, x->dtype));
}

void IndexAlong(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<IndexAlongAttrs>();
  NormalizeAxis(call, attrs.axis, x->shape.size());
  if (!attrs.dtype.is_integral() && !attrs.dtype.is_float())
    call.Refuse(StrCat("dtype is ", attrs.dtype.ToString(), "; places are numbers"));
  call.LearnResult(TensorType(x->shape, attrs.dtype));
}

void BroadcastToLike(TypeCall& call) {
  const auto* x = call.tensor(0);
  const auto* like = call.tensor(1);
  if (x == nullptr || like == nullptr) return;
  if (!BroadcastsTo(call, x->shape, like->shape))
    call.Refuse("the input does not broadcast to the shape of the second");
  call.LearnResult(TensorType(like->shape, x->dtype));
}

void Tile(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const Ints& reps = call.attrs<TileAttrs>().reps;
  const std::size_t rank = std::max(reps.size(), x->shape.size());
  std::vector<Dim> shape(rank, Dim(1));
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim extent = i < x->shape.size() ? x->shape[x->shape.size() - 1 - i] : Dim(1);
    const std::int64_t rep = i < reps.size() ? reps[reps.size() - 1 - i] : 1;
    shape[rank - 1 - i] = Product({extent, rep});
  }
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void Repeat(TypeCall& call) {
  const auto* x = call.tensor(0);
  if (x == nullptr) return;
  const auto& attrs = call.attrs<RepeatAttrs>();
  std::vector<Dim> shape = x->shape;
  Dim& extent =
      shape[static_cast<std::size_t>(NormalizeAxis(call, attrs.axis.value_or(0), shape.size()))];
  extent = Product({extent, attrs.repeats});
  call.LearnResult(TensorType(std::move(shape), x->dtype));
}

void Meshgrid(TypeCall& call) {
  const auto fields = call.tensors(0);
  if (!fields) return;
  if (fields->empty()) call.Refuse("the tuple must have a field");
  std::vector<Dim> shape;
  for (const auto* field : *fields) {
    if (field->shape.size() > 1 || field->dtype != fields->front()->dtype)
      call.Refuse("the fields must be vectors or scalars of one element type");
    shape.push_back(field->shape.empty() ? Dim(1) : field->shape[0]);
  }
  if (call.attrs<MeshgridAttrs>().indexing == "xy" && shape.size() >= 2)
    std::swap(shape[0], shape[1]);
  call.LearnResult(ir::TupleType(
      std::vector<ir::Type>(fields->size(), TensorType(shape, fields->front()->dtype))));
}

}  // namespace

void RegisterBroadcastOps(OpRegistry& registry) {
  constexpr OpPattern kInjective = OpPattern::kInjective;
  constexpr OpPattern kBroadcast = OpPattern::kBroadcast;
  DataOp(registry, "broadcast_to", "broadcast to a shape", 4, kBroadcast)
      .Attrs<InitOpAttrs>()
      .TypeRelation(BroadcastTo, "BroadCastTo")
      .Column(PrecisionRule::kFollow);
  DataOp(registry, "broadcast_to_like", "broadcast to the shape of the second input", 10,
         kBroadcast)
      .Argument("broadcast_type", "Tensor", "gives the shape")
      .TypeRelation(BroadcastToLike, "BroadCastToLike");
  DataOp(registry, "broadcast_to_extents",
         "broadcast to extents that are expressions of those of other tensors", 10, kBroadcast)
      .Argument("extents", "Tuple", "tensors whose extents the shape names")
      .Attrs<ExtentsAttrs>()
      .TypeRelation(BroadcastToExtents, "BroadcastToExtents");
  DataOp(registry, "index_along", "the place of each element along an axis: 0, 1, 2, ...", 10,
         kInjective)
      .Attrs<IndexAlongAttrs>()
      .TypeRelation(IndexAlong, "IndexAlong");
  DataOp(registry, "tile", "repeat the whole tensor along axes", 3, kBroadcast)
      .Attrs<TileAttrs>()
      .TypeRelation(Tile, "Tile")
      .Column(PrecisionRule::kFollow);
  DataOp(registry, "repeat", "repeat each element along an axis", 3, kBroadcast)
      .Attrs<RepeatAttrs>()
      .TypeRelation(Repeat, "Repeat");
  DataOp(registry, "meshgrid", "coordinates of a grid, one tensor per axis", 3, kInjective)
      .Attrs<MeshgridAttrs>()
      .TypeRelation(Meshgrid, "Meshgrid");
}

}  // namespace tenon::ops
