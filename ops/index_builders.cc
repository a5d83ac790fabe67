#include "tenon/ops/index_builders.h"

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/matmul/einsum_rules.h"

namespace tenon::ops {
namespace {

using attrs::Attrs;
using ir::Call;

}  // namespace

Expr Sort(const Expr& x, ArgsortAttrs a) { return CallOp("sort", {x}, Attrs::Make(a)); }
Expr Argsort(const Expr& x, ArgsortAttrs a) { return CallOp("argsort", {x}, Attrs::Make(a)); }
Expr TopK(const Expr& x, TopKAttrs a) { return CallOp("topk", {x}, Attrs::Make(std::move(a))); }
Expr CumSum(const Expr& x, ScanopAttrs a) {
  return Call::Make(Known().cumsum, {x}, Attrs::Make(a));
}
Expr CumProd(const Expr& x, ScanopAttrs a) { return CallOp("cumprod", {x}, Attrs::Make(a)); }
Expr TakeFirst(const Expr& x, const Expr& count, RunTimeCutAttrs attrs) {
  return CallOp("take_first", {x, count}, Attrs::Make(std::move(attrs)));
}
Expr Gather(const Expr& x, const Expr& indices, GatherAttrs a) {
  return Call::Make(Known().gather, {x, indices}, Attrs::Make(a));
}
Expr GatherND(const Expr& x, const Expr& indices, GatherNDAttrs a) {
  return Call::Make(Known().gather_nd, {x, indices}, Attrs::Make(a));
}
Expr ScatterElements(const Expr& x, const Expr& indices, const Expr& updates,
                     ScatterElementsAttrs a) {
  return Call::Make(Known().scatter_elements, {x, indices, updates}, Attrs::Make(std::move(a)));
}
Expr ScatterND(const Expr& x, const Expr& indices, const Expr& updates, ScatterNDAttrs a) {
  return Call::Make(Known().scatter_nd, {x, indices, updates}, Attrs::Make(std::move(a)));
}
Expr OneHot(const Expr& indices, const Expr& on_value, const Expr& off_value, OneHotAttrs a) {
  return Call::Make(Known().one_hot, {indices, on_value, off_value}, Attrs::Make(a));
}
std::vector<Expr> CoordinatesOf(Expr place, const std::vector<Expr>& extents) {
  std::vector<Expr> coordinates(extents.size());
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    coordinates[axis] = axis == 0 ? place : Call::Make(Known().floor_mod, {place, extents[axis]});
    if (axis > 0) place = Call::Make(Known().floor_divide, {place, extents[axis]});
  }
  return coordinates;
}
Expr BroadcastTo(const Expr& x, Ints shape) {
  return Call::Make(Known().broadcast_to, {x}, Attrs::Make(InitOpAttrs{.shape = std::move(shape)}));
}
Expr BroadcastToExtents(const Expr& x, std::vector<Expr> others, std::string shape) {
  return CallOp("broadcast_to_extents", {x, ir::Tuple::Make(std::move(others))},
                Attrs::Make(ExtentsAttrs{.shape = std::move(shape)}));
}
Expr ReshapeToExtents(const Expr& x, std::vector<Expr> others, std::string shape) {
  return CallOp("reshape_to_extents", {x, ir::Tuple::Make(std::move(others))},
                Attrs::Make(ExtentsAttrs{.shape = std::move(shape)}));
}
Expr IndexAlong(const Expr& x, IndexAlongAttrs a) {
  return CallOp("index_along", {x}, Attrs::Make(a));
}
Expr Repeat(const Expr& x, std::int64_t repeats, std::int64_t axis) {
  return CallOp("repeat", {x}, Attrs::Make(RepeatAttrs{.repeats = repeats, .axis = axis}));
}
Expr Reverse(const Expr& x, std::int64_t axis) {
  return Call::Make(Known().reverse, {x}, Attrs::Make(ReverseAttrs{axis}));
}
Expr Stack(std::vector<Expr> fields, std::int64_t axis) {
  return Call::Make(Known().stack, {ir::Tuple::Make(std::move(fields))},
                    Attrs::Make(StackAttrs{axis}));
}
Expr Tile(const Expr& x, Ints reps) {
  return Call::Make(Known().tile, {x}, Attrs::Make(TileAttrs{std::move(reps)}));
}
Expr Arange(double start, double stop, double step, DataType dtype) {
  return CallOp(
      "arange", {},
      Attrs::Make(ArangeAttrs{.start = start, .stop = stop, .step = step, .dtype = dtype}));
}
Expr Einsum(std::vector<Expr> operands, std::string equation) {
  return CallOp("einsum", {ir::Tuple::Make(std::move(operands))},
                Attrs::Make(EinsumAttrs{std::move(equation)}));
}
Expr DepthToSpace(const Expr& x, SubPixelAttrs a) {
  return CallOp("nn.depth_to_space", {x}, Attrs::Make(std::move(a)));
}
Expr SpaceToDepth(const Expr& x, SubPixelAttrs a) {
  return CallOp("nn.space_to_depth", {x}, Attrs::Make(std::move(a)));
}
Expr RoiAlign(const Expr& x, const Expr& rois, RoiAlignAttrs a) {
  return CallOp("vision.roi_align", {x, rois}, Attrs::Make(std::move(a)));
}
Expr RoiPool(const Expr& x, const Expr& rois, ROIPoolAttrs a) {
  return CallOp("vision.roi_pool", {x, rois}, Attrs::Make(std::move(a)));
}
Expr MultiBoxPrior(const Expr& x, MultiBoxPriorAttrs a) {
  return CallOp("vision.multibox_prior", {x}, Attrs::Make(std::move(a)));
}
Expr YoloReorg(const Expr& x, std::int64_t stride) {
  return CallOp("vision.yolo_reorg", {x}, Attrs::Make(YoloReorgAttrs{stride}));
}
Expr GetValidCounts(const Expr& boxes, const Expr& score_threshold, GetValidCountsAttrs a) {
  return CallOp("vision.get_valid_counts", {boxes, score_threshold}, Attrs::Make(a));
}
Expr NonMaxSuppression(const Expr& boxes, const Expr& valid_count, const Expr& indices,
                       const Expr& max_output_size, const Expr& iou_threshold,
                       NonMaximumSuppressionAttrs a) {
  return CallOp("vision.non_max_suppression",
                {boxes, valid_count, indices, max_output_size, iou_threshold}, Attrs::Make(a));
}
Expr MatrixSetDiag(const Expr& x, const Expr& diagonal, MatrixSetDiagAttrs a) {
  return CallOp("matrix_set_diag", {x, diagonal}, Attrs::Make(a));
}
Expr SearchSorted(const Expr& sorted_sequence, const Expr& values, SearchSortedAttrs a) {
  return CallOp("searchsorted", {sorted_sequence, values}, Attrs::Make(a));
}
Expr SlidingWindow(const Expr& x, SlidingWindowAttrs a) {
  return CallOp("sliding_window", {x}, Attrs::Make(std::move(a)));
}
Expr StridedSet(const Expr& x, const Expr& v, const Expr& begin, const Expr& end,
                const Expr& strides) {
  return CallOp("strided_set", {x, v, begin, end, strides});
}
Expr Unique(const Expr& x, UniqueAttrs a) { return CallOp("unique", {x}, Attrs::Make(a)); }

}  // namespace tenon::ops
