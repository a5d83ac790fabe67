// Lists of the boxes that a detector found. Every element finds where it comes from by orders.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tenon/ops/boxes/detection_attrs.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te/boxes/survivors.h"
#include "tenon/strategies/te/sort/order.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// The class of each box, -1 where it counts as none, and its probability. A probability is greater
// than -1. What is not, including NaN, comes last.
struct BestClass {
  Tensor number, score;

  BestClass(const Tensor& scores, const ops::MultiBoxTransformLocAttrs& attrs) {
    const std::int64_t first = attrs.keep_background ? 0 : 1;
    const DataType dtype = scores.dtype();
    const Expr least = te::Cast(dtype, -1);
    const std::vector<Expr> shape = {ExtentOf(scores, 0), ExtentOf(scores, 2)};
    const IterVar k = te::ReduceAxis(first, ExtentOf(scores, 1) - first, "k");
    const std::vector<Tensor> best = te::ReduceTuple(
        shape,
        [&](const std::vector<Var>& i) {
          const Expr score = scores(i[0], k.var, i[1]);
          return te::ArgMax(k.var, te::Select(score > least, score, least), {k});
        },
        "best_class");
    score = best[1];
    number = te::Compute(
        shape,
        [&](const Var& image, const Var& box) {
          const Expr at = te::Cast(Int64, best[0](image, box)), value = score(image, box);
          const Expr counts = value > least && value >= te::Cast(dtype, attrs.threshold);
          return te::Select(counts, at - first, Expr(attrs.keep_background ? 0 : -1));
        },
        "class", te::Stored{});
  }
};

std::vector<Tensor> MultiBoxTransformLoc(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::MultiBoxTransformLocAttrs>();
  const Tensor& scores = call.input(0);
  const Tensor& offsets = call.input(1);
  const Tensor& anchors = call.input(2);
  const DataType dtype = call.dtype(), wide = SumType(dtype);
  const std::int64_t batch = ExtentOf(scores, 0), count = ExtentOf(scores, 2);
  const std::int64_t classes = ExtentOf(scores, 1);
  if (batch * count == 0 || classes < (attrs.keep_background ? 1 : 2))
    return {Filled(call.te_shape(), te::Cast(dtype, -1)), Filled({batch}, te::Cast(Int32, 0))};
  const BestClass best(scores, attrs);
  const Compacted listed(batch, count, [&](const Expr& image, const Expr& box) {
    return best.number(image, box) >= Expr(0);
  });
  const auto variance = [&](const Expr& axis, std::size_t first) {
    return te::Select(axis == Expr(0), te::Cast(wide, attrs.variances[first]),
                      te::Cast(wide, attrs.variances[first + 1]));
  };
  const Tensor boxes = te::Compute(
      call.te_shape(),
      [&](const Var& image, const Var& place, const Var& element) {
        const Expr box = listed.order(image, place);
        const Expr axis = te::FloorMod(element, Expr(2));
        const auto side = [&](const Expr& at) { return te::Cast(wide, anchors(Expr(0), box, at)); };
        const auto offset = [&](const Expr& at) {
          return te::Cast(wide, offsets(image, box * 4 + at));
        };
        const Expr low = side(axis), high = side(axis + 2), half = te::Cast(wide, 0.5);
        const Expr centre = offset(axis) * variance(axis, 0) * (high - low) + (low + high) * half;
        const Expr reach = te::Exp(offset(axis + 2) * variance(axis, 2)) * (high - low) * half;
        Expr corner = te::Select(element < Expr(4), centre - reach, centre + reach);
        if (attrs.clip) corner = te::Max(te::Min(corner, te::Cast(wide, 1)), te::Cast(wide, 0));
        corner = te::Cast(dtype, corner);
        const Expr head = te::Select(element == Expr(0), te::Cast(dtype, best.number(image, box)),
                                     best.score(image, box));
        return te::Select(place < listed.kept(image), te::Select(element < Expr(2), head, corner),
                          te::Cast(dtype, -1));
      },
      "multibox_transform_loc");
  return {boxes, te::Compute(
                     {batch}, [&](const Var& image) { return te::Cast(Int32, listed.kept(image)); },
                     "listed")};
}

// What is above the result is at least the threshold. Kernels take denormals for zero.
double NumberBelow(float threshold) {
  using Limits = std::numeric_limits<float>;
  if (std::abs(threshold) < Limits::min()) return -Limits::min();
  return std::nextafter(threshold, -Limits::infinity());
}

std::vector<Tensor> RegularNonMaximumSuppression(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::RegularNonMaximumSuppressionAttrs>();
  const Tensor& boxes = call.input(0);
  const std::int64_t batch = ExtentOf(boxes, 0), count = ExtentOf(boxes, 1);
  const std::int64_t classes = attrs.num_classes, most = attrs.max_detections;
  if (batch * count == 0)
    return {Filled({batch, most, 4}, te::Cast(Float32, 0)),
            Filled({batch, most}, te::Cast(Float32, 0)),
            Filled({batch, most}, te::Cast(Float32, 0)), Filled({batch}, te::Cast(Int32, 0))};
  const std::int64_t background = ExtentOf(call.input(1), 2) - classes;
  const Tensor scores = te::Compute(
      {batch, classes, count},
      [&](const Var& image, const Var& c, const Var& box) {
        return call.input(1)(image, box, c + background);
      },
      "scores_of_class", te::Stored{});
  const Survivors kept(boxes, scores, attrs.max_detections_per_class, attrs.iou_threshold,
                       NumberBelow(static_cast<float>(attrs.score_threshold)));
  const auto score_of = [&](const Expr& row) {
    return scores(kept.rows(row, Expr(0)), kept.rows(row, Expr(1)), kept.rows(row, Expr(2)));
  };
  const std::int64_t listed = classes * std::min(count, attrs.max_detections_per_class);
  const Tensor order = StableOrder(
      batch, listed,
      [&](const Expr& image, const Expr& at) {
        return te::Select(at < kept.count(image), score_of(kept.RowAt(image, at)),
                          loop::FloatImm(Float32, -std::numeric_limits<double>::infinity()));
      },
      true);
  // The row of each result, or -1.
  const Tensor chosen = te::Compute(
      {batch, most},
      [&](const Var& image, const Var& place) {
        const Expr at = order(image, te::Min(place, Expr(listed - 1)));
        return te::Select(place < kept.count(image), kept.RowAt(image, at), Expr(-1));
      },
      "chosen", te::Stored{});
  const auto result =
      [&](const std::vector<Expr>& shape, const char* name,
          const std::function<Expr(const Expr& row, const std::vector<Var>& i)>& of) {
        return te::Compute(
            shape,
            [&](const std::vector<Var>& i) {
              const Expr row = chosen(i[0], i[1]);
              return te::Select(row >= Expr(0), te::Cast(Float32, of(te::Max(row, Expr(0)), i)),
                                te::Cast(Float32, 0));
            },
            name);
      };
  return {
      result({batch, most, 4}, "detected_boxes",
             [&](const Expr& row, const std::vector<Var>& i) {
               return boxes(i[0], kept.rows(row, Expr(2)), i[2]);
             }),
      result({batch, most}, "detected_classes",
             [&](const Expr& row, const std::vector<Var>&) { return kept.rows(row, Expr(1)); }),
      result({batch, most}, "detected_scores",
             [&](const Expr& row, const std::vector<Var>&) { return score_of(row); }),
      te::Compute(
          {batch},
          [&](const Var& image) { return te::Cast(Int32, te::Min(kept.count(image), Expr(most))); },
          "detected")};
}

}  // namespace

void AttachDetectionComputes(ops::OpRegistry& registry) {
  registry.Definition("vision.multibox_transform_loc").SetColumn(TeCompute{MultiBoxTransformLoc});
  registry.Definition("vision.regular_non_max_suppression")
      .SetColumn(TeCompute{RegularNonMaximumSuppression});
}

}  // namespace tenon::strategies
