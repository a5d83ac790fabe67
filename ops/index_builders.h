// Builds expressions of operators that select, order, write or move elements, as ops/builders.h
// does.
//
//   Expr best = TopK(scores, {.k = 5});  // a tuple of values and indices
#ifndef TENON_OPS_INDEX_BUILDERS_H_
#define TENON_OPS_INDEX_BUILDERS_H_

#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/boxes/detector_attrs.h"
#include "tenon/ops/boxes/region_attrs.h"
#include "tenon/ops/boxes/vision_attrs.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/index/sort_attrs.h"
#include "tenon/ops/shape/batch_space_attrs.h"
#include "tenon/ops/shape/transform_attrs.h"

namespace tenon::ops {

using ir::Expr;

Expr Sort(const Expr& x, ArgsortAttrs attrs = {});
Expr Argsort(const Expr& x, ArgsortAttrs attrs = {});
Expr TopK(const Expr& x, TopKAttrs attrs);  // a tuple unless ret_type says otherwise
Expr CumSum(const Expr& x, ScanopAttrs attrs = {});
Expr CumProd(const Expr& x, ScanopAttrs attrs = {});

// The first `count`, a tensor of one element, of x along the axis.
Expr TakeFirst(const Expr& x, const Expr& count, RunTimeCutAttrs attrs = {});
Expr Gather(const Expr& x, const Expr& indices, GatherAttrs attrs = {});
Expr GatherND(const Expr& x, const Expr& indices, GatherNDAttrs attrs = {});
Expr ScatterElements(const Expr& x, const Expr& indices, const Expr& updates,
                     ScatterElementsAttrs attrs = {});
Expr ScatterND(const Expr& x, const Expr& indices, const Expr& updates, ScatterNDAttrs attrs = {});
Expr OneHot(const Expr& indices, const Expr& on_value, const Expr& off_value, OneHotAttrs attrs);

// The coordinates of the element at a row-major place of a tensor with these extents.
std::vector<Expr> CoordinatesOf(Expr place, const std::vector<Expr>& extents);

Expr BroadcastTo(const Expr& x, Ints shape);
// To a shape of which "x1_0" is the extent of axis 0 of others[1].
Expr BroadcastToExtents(const Expr& x, std::vector<Expr> others, std::string shape);
// The same elements under such a shape.
Expr ReshapeToExtents(const Expr& x, std::vector<Expr> others, std::string shape);
// The place of each element along an axis.
Expr IndexAlong(const Expr& x, IndexAlongAttrs attrs = {});
Expr Repeat(const Expr& x, std::int64_t repeats, std::int64_t axis = 0);
Expr Reverse(const Expr& x, std::int64_t axis = 0);
Expr Stack(std::vector<Expr> fields, std::int64_t axis = 0);
Expr Tile(const Expr& x, Ints reps);
Expr Arange(double start, double stop, double step = 1, DataType dtype = Float32);

Expr MatrixSetDiag(const Expr& x, const Expr& diagonal, MatrixSetDiagAttrs attrs = {});
Expr SearchSorted(const Expr& sorted_sequence, const Expr& values, SearchSortedAttrs attrs = {});
Expr SlidingWindow(const Expr& x, SlidingWindowAttrs attrs);
Expr StridedSet(const Expr& x, const Expr& v, const Expr& begin, const Expr& end,
                const Expr& strides);
Expr Unique(const Expr& x, UniqueAttrs attrs = {});  // a tuple

// The sum of products given by the equation, for example "ij,jk->ik".
Expr Einsum(std::vector<Expr> operands, std::string equation);

Expr DepthToSpace(const Expr& x, SubPixelAttrs attrs);
Expr SpaceToDepth(const Expr& x, SubPixelAttrs attrs);

// `rois` has rows of batch index, x1, y1, x2, y2.
Expr RoiAlign(const Expr& x, const Expr& rois, RoiAlignAttrs attrs);
Expr RoiPool(const Expr& x, const Expr& rois, ROIPoolAttrs attrs);
Expr MultiBoxPrior(const Expr& x, MultiBoxPriorAttrs attrs = {});
Expr YoloReorg(const Expr& x, std::int64_t stride);
// A tuple of counts, boxes and indices.
Expr GetValidCounts(const Expr& boxes, const Expr& score_threshold, GetValidCountsAttrs attrs = {});
// A tuple of indices and counts, or the boxes alone.
Expr NonMaxSuppression(const Expr& boxes, const Expr& valid_count, const Expr& indices,
                       const Expr& max_output_size, const Expr& iou_threshold,
                       NonMaximumSuppressionAttrs attrs = {});

}  // namespace tenon::ops

#endif  // TENON_OPS_INDEX_BUILDERS_H_
