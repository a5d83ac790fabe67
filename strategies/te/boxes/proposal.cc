// Region proposals of Faster R-CNN (Ren et al., NIPS 2015, section 3.1): anchors at every place of
// the feature map are changed as predicted, ranked, and suppressed by a library function.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tenon/ops/boxes/detection_attrs.h"
#include "tenon/strategies/schedule/register_tile.h"
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

Expr Number(double x) { return loop::FloatImm(Float32, x); }

// The anchors of a place, which all have one centre.
struct Anchors {
  std::vector<double> widths, heights;

  explicit Anchors(const ops::ProposalAttrs& attrs) {
    const auto stride = static_cast<double>(attrs.feature_stride);
    for (const double ratio : attrs.ratios) {
      const double width = std::floor(std::sqrt(std::floor(stride * stride / ratio)) + 0.5);
      for (const double scale : attrs.scales) {
        widths.push_back(width * scale);
        heights.push_back(std::floor(width * ratio + 0.5) * scale);
      }
    }
  }
  // The width (axis 0) or height of one.
  Expr Extent(const Expr& axis, const Expr& anchor) const {
    return te::Select(axis == Expr(0), Pick(anchor, widths), Pick(anchor, heights));
  }

 private:
  static Expr Pick(const Expr& anchor, const std::vector<double>& values) {
    Expr value = Number(values.back());
    for (std::size_t k = values.size() - 1; k-- > 0;)
      value = te::Select(anchor == Expr(static_cast<std::int64_t>(k)), Number(values[k]), value);
    return value;
  }
};

// Boxes at every place of the feature map: (image, box, 4) and (image, box), anchors fastest.
class Predicted {
 public:
  Predicted(const TeCall& call, const ops::ProposalAttrs& attrs)
      : call_(call),
        attrs_(attrs),
        from_(ShapeOf(call.input(0))),
        anchors_(from_[1] / 2),
        count_(from_[2] * from_[3] * anchors_),
        corners_(Corners()) {}

  Tensor Boxes() const {
    return te::Compute(
        {from_[0], count_, 4},
        [&](const Var& image, const Var& box, const Var& corner) {
          const Expr at = corners_(image, box, corner), growth = Least(image) * Number(0.5);
          return te::Select(IsSmall(image, box),
                            te::Select(corner < Expr(2), at - growth, at + growth), at);
        },
        "boxes", te::Stored{});
  }

  Tensor Scores() const {
    return te::Compute(
        {from_[0], count_},
        [&](const Var& image, const Var& box) {
          const Expr row = RowOf(box), column = ColumnOf(box);
          const Expr score = call_.input(0)(image, AnchorOf(box) + anchors_, row, column);
          // Whole strides of the image count. What is beyond the image, small or NaN comes last.
          const auto inside = [&](const Expr& at, std::int64_t axis) {
            return te::Cast(Float32, at + 1) <= Images()(image, Expr(axis)) / Number(Stride());
          };
          const Expr counts = inside(row, 0) && inside(column, 1) && !IsSmall(image, box) &&
                              score > Number(-kInfinity);
          return te::Select(counts, score, Number(-1));
        },
        "scores", te::Stored{});
  }

 private:
  double Stride() const { return static_cast<double>(attrs_.feature_stride); }
  const Tensor& Images() const { return call_.input(2); }
  Expr RowOf(const Expr& box) const { return te::FloorDiv(box, Expr(from_[3] * anchors_)); }
  Expr ColumnOf(const Expr& box) const {
    return te::FloorMod(te::FloorDiv(box, Expr(anchors_)), Expr(from_[3]));
  }
  Expr AnchorOf(const Expr& box) const { return te::FloorMod(box, Expr(anchors_)); }
  // The extent that boxes have at least.
  Expr Least(const Expr& image) const {
    return Images()(image, Expr(2)) * Number(static_cast<double>(attrs_.rpn_min_size));
  }
  Expr IsSmall(const Expr& image, const Expr& box) const {
    const auto extent = [&](std::int64_t axis) {
      return corners_(image, box, Expr(axis + 2)) - corners_(image, box, Expr(axis)) + Number(1);
    };
    return extent(0) < Least(image) || extent(1) < Least(image);
  }

  // The corners before boxes that are too small grow. Axis 0 is x, 1 is y.
  Tensor Corners() const {
    const Anchors anchors(attrs_);
    return te::Compute(
        {from_[0], count_, 4},
        [&](const Var& image, const Var& box, const Var& corner) {
          const Expr axis = te::FloorMod(corner, Expr(2)), anchor = AnchorOf(box);
          const Expr row = RowOf(box), column = ColumnOf(box);
          const Expr extent = anchors.Extent(axis, anchor);
          const Expr centre =
              te::Cast(Float32, te::Select(axis == Expr(0), column, row)) * Number(Stride()) +
              Number((Stride() - 1) / 2);
          const auto delta = [&](const Expr& which) {
            return call_.input(1)(image, anchor * 4 + which, row, column);
          };
          const auto side = [&](const Expr& middle, const Expr& size) {
            const Expr half = (size - Number(1)) * Number(0.5);
            return te::Select(corner < Expr(2), middle - half, middle + half);
          };
          const Expr at = attrs_.iou_loss ? side(centre, extent) + delta(corner)
                                          : side(delta(axis) * extent + centre,
                                                 te::Exp(delta(axis + 2)) * extent);
          const Expr last = Images()(image, Expr(1) - axis) - Number(1);
          return te::Max(te::Min(at, last), Number(0));
        },
        "corners", te::Stored{});
  }

  const TeCall& call_;
  const ops::ProposalAttrs& attrs_;
  const Shape from_;
  const std::int64_t anchors_, count_;
  const Tensor corners_;
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
  const Tensor boxes = predicted.Boxes(), predicted_scores = predicted.Scores();
  const std::int64_t batch = ExtentOf(predicted_scores, 0);
  const std::int64_t all = ExtentOf(predicted_scores, 1);
  const std::int64_t count =
      attrs.rpn_pre_nms_top_n > 0 ? std::min(all, attrs.rpn_pre_nms_top_n) : all;
  const Tensor order = StableOrder(
      batch, all, [&](const Expr& image, const Expr& box) { return predicted_scores(image, box); },
      true);
  const auto ranked_box = [&](const Expr& image, const Expr& rank, const Expr& corner) {
    return boxes(image, order(image, rank), corner);
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
        return predicted_scores(image, order(image, rank));
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
