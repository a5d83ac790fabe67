// Region proposals of Faster R-CNN (Ren et al., NIPS 2015, section 3.1): anchors at every place of
// the feature map are changed as predicted, ranked, and suppressed by a library function.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/ops/boxes/detection_attrs.h"
#include "tenon/strategies/register_tile.h"
#include "tenon/strategies/te/boxes/survivors.h"
#include "tenon/strategies/te/sort/order.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Boxes at every place of the feature map: (image, box, 4) and (image, box), anchors fastest.
struct Predicted {
  Tensor boxes, scores;

  Predicted(const TeCall& call, const ops::ProposalAttrs& attrs) {
    const Tensor& deltas = call.input(1);
    const Tensor& images = call.input(2);
    const Shape from = ShapeOf(call.input(0));
    const std::int64_t anchors = from[1] / 2, count = from[2] * from[3] * anchors;
    const auto number = [](double x) { return loop::FloatImm(Float32, x); };
    const auto stride = static_cast<double>(attrs.feature_stride);
    // Widths and heights of the anchors, which all have one centre.
    std::vector<double> widths, heights;
    for (const double ratio : attrs.ratios) {
      const double width = std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5);
      for (const double scale : attrs.scales) {
        widths.push_back(width * scale);
        heights.push_back(std::floor(width * ratio + 0.5) * scale);
      }
    }
    const auto of_anchor = [&](const Expr& anchor, const std::vector<double>& values) {
      Expr value = number(values.back());
      for (std::size_t k = values.size() - 1; k-- > 0;)
        value = te::Select(anchor == Expr(static_cast<std::int64_t>(k)), number(values[k]), value);
      return value;
    };
    const auto row_of = [&](const Expr& box) { return te::FloorDiv(box, Expr(from[3] * anchors)); };
    const auto column_of = [&](const Expr& box) {
      return te::FloorMod(te::FloorDiv(box, Expr(anchors)), Expr(from[3]));
    };
    const auto anchor_of = [&](const Expr& box) { return te::FloorMod(box, Expr(anchors)); };
    // The corners before boxes that are too small grow. Axis 0 is x, 1 is y.
    const Tensor corners = te::Compute(
        {from[0], count, 4},
        [&](const Var& image, const Var& box, const Var& corner) {
          const Expr axis = te::FloorMod(corner, Expr(2)), anchor = anchor_of(box);
          const Expr row = row_of(box), column = column_of(box);
          const Expr extent =
              te::Select(axis == Expr(0), of_anchor(anchor, widths), of_anchor(anchor, heights));
          const Expr centre =
              te::Cast(Float32, te::Select(axis == Expr(0), column, row)) * number(stride) +
              number((stride - 1) / 2);
          const auto delta = [&](const Expr& which) {
            return deltas(image, anchor * 4 + which, row, column);
          };
          const auto side = [&](const Expr& middle, const Expr& size) {
            const Expr half = (size - number(1)) * number(0.5);
            return te::Select(corner < Expr(2), middle - half, middle + half);
          };
          const Expr at = attrs.iou_loss ? side(centre, extent) + delta(corner)
                                         : side(delta(axis) * extent + centre,
                                                te::Exp(delta(axis + 2)) * extent);
          const Expr last = images(image, Expr(1) - axis) - number(1);
          return te::Max(te::Min(at, last), number(0));
        },
        "corners", te::Stored{});
    const auto least = [&](const Expr& image) {
      return images(image, Expr(2)) * number(static_cast<double>(attrs.rpn_min_size));
    };
    const auto is_small = [&](const Expr& image, const Expr& box) {
      const auto extent = [&](std::int64_t axis) {
        return corners(image, box, Expr(axis + 2)) - corners(image, box, Expr(axis)) + number(1);
      };
      return extent(0) < least(image) || extent(1) < least(image);
    };
    boxes = te::Compute(
        {from[0], count, 4},
        [&](const Var& image, const Var& box, const Var& corner) {
          const Expr at = corners(image, box, corner), growth = least(image) * number(0.5);
          return te::Select(is_small(image, box),
                            te::Select(corner < Expr(2), at - growth, at + growth), at);
        },
        "boxes", te::Stored{});
    scores = te::Compute(
        {from[0], count},
        [&](const Var& image, const Var& box) {
          const Expr row = row_of(box), column = column_of(box);
          const Expr score = call.input(0)(image, anchor_of(box) + anchors, row, column);
          // Whole strides of the image count. What is beyond the image, small or NaN comes last.
          const auto inside = [&](const Expr& at, std::int64_t axis) {
            return te::Cast(Float32, at + 1) <= images(image, Expr(axis)) / number(stride);
          };
          const Expr counts = inside(row, 0) && inside(column, 1) && !is_small(image, box) &&
                              score > number(-kInfinity);
          return te::Select(counts, score, number(-1));
        },
        "scores", te::Stored{});
  }
};

std::vector<Tensor> Proposal(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::ProposalAttrs>();
  const std::int64_t most = attrs.rpn_post_nms_top_n;
  if (NumElements(ShapeOf(call.input(0))) == 0)
    return {te::Compute(
        call.te_shape(),
        [&](const Var& i, const Var& element) {
          return te::Cast(Float32,
                          te::Select(element == Expr(0), te::FloorDiv(i, Expr(most)), Expr(0)));
        },
        "no_proposal")};
  const Predicted predicted(call, attrs);
  const std::int64_t batch = ExtentOf(predicted.scores, 0);
  const std::int64_t all = ExtentOf(predicted.scores, 1);
  const std::int64_t count =
      attrs.rpn_pre_nms_top_n > 0 ? std::min(all, attrs.rpn_pre_nms_top_n) : all;
  const Tensor order = StableOrder(
      batch, all, [&](const Expr& image, const Expr& box) { return predicted.scores(image, box); },
      true);
  const auto ranked_box = [&](const Expr& image, const Expr& rank, const Expr& corner) {
    return predicted.boxes(image, order(image, rank), corner);
  };
  // A box of one pixel has the extent 1: the far sides lie past the last pixel.
  const Tensor areas = te::Compute(
      {batch, count, 4},
      [&](const Var& image, const Var& rank, const Var& corner) {
        return ranked_box(image, rank, corner) +
               te::Cast(Float32, te::Select(corner < Expr(2), Expr(0), Expr(1)));
      },
      "areas", te::Stored{});
  const Tensor scores = te::Compute(
      {batch, 1, count},
      [&](const Var& image, const Var&, const Var& rank) {
        return predicted.scores(image, order(image, rank));
      },
      "ranked_scores", te::Stored{});
  const Survivors kept(areas, scores, most, attrs.threshold, -kInfinity);
  return {te::Compute(
      call.te_shape(),
      [&](const Var& i, const Var& element) {
        const Expr image = te::FloorDiv(i, Expr(most));
        const Expr place =
            te::FloorMod(te::FloorMod(i, Expr(most)), te::Max(kept.count(image), Expr(1)));
        const Expr rank = kept.rows(kept.RowAt(image, place), Expr(2));
        return te::Select(element == Expr(0), te::Cast(Float32, image),
                          ranked_box(image, rank, te::Max(element - 1, Expr(0))));
      },
      "proposal")};
}

}  // namespace

void AttachProposalComputes(ops::OpRegistry& registry) {
  registry.Definition("vision.proposal").SetColumn(TeCompute{Proposal});
}

}  // namespace tenon::strategies
