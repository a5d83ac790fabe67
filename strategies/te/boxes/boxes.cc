// Lists of boxes: which ones count, and non-maximum suppression, which keeps those that do not
// overlap a better one. Boxes are looked at one after the other, and each drops later ones. The
// steps are a recurrence over the flags of all boxes.
#include <limits>

#include "tenon/ops/boxes/vision_attrs.h"
#include "tenon/strategies/schedule/register_tile.h"
#include "tenon/strategies/te/sort/order.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

std::vector<Tensor> GetValidCounts(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::GetValidCountsAttrs>();
  const Tensor& x = call.input(0);
  const Shape shape = ShapeOf(x);
  if (shape[0] * shape[1] == 0)
    return {Filled({shape[0]}, te::Cast(Int32, 0)), Filled(ToExprs(shape), te::Cast(x.dtype(), -1)),
            Filled({shape[0], shape[1]}, te::Cast(Int32, -1))};
  const auto counts = [&](const Expr& image, const Expr& box) {
    const Expr threshold = attrs.score_threshold ? te::Cast(x.dtype(), *attrs.score_threshold)
                                                 : te::Cast(x.dtype(), call.input(1)());
    Expr does = x(image, box, Expr(attrs.score_index)) > threshold;
    if (attrs.id_index >= 0)
      does = does && x(image, box, Expr(attrs.id_index)) >= te::Cast(x.dtype(), 0);
    return does;
  };
  const Compacted front(shape[0], shape[1], counts);
  return {te::Compute(
              {shape[0]}, [&](const Var& image) { return te::Cast(Int32, front.kept(image)); },
              "valid_count"),
          te::Compute(
              ToExprs(shape),
              [&](const std::vector<Var>& i) {
                return te::Select(i[1] < front.kept(i[0]), x(i[0], front.order(i[0], i[1]), i[2]),
                                  te::Cast(x.dtype(), -1));
              },
              "valid_boxes"),
          te::Compute(
              {shape[0], shape[1]},
              [&](const Var& image, const Var& place) {
                return te::Cast(Int32, te::Select(place < front.kept(image),
                                                  front.order(image, place), Expr(-1)));
              },
              "valid_indices")};
}

// The boxes in the order of falling scores.
class RankedBoxes {
 public:
  RankedBoxes(const TeCall& call, const ops::NonMaximumSuppressionAttrs& attrs)
      : attrs_(attrs), x_(call.input(0)), batch_(ExtentOf(x_, 0)), count_(ExtentOf(x_, 1)) {
    const Expr lowest = loop::FloatImm(x_.dtype(), -std::numeric_limits<double>::infinity());
    limit_ = te::Compute(
        {batch_},
        [&](const Var& image) {
          const Expr valid = te::Min(te::Cast(Int64, call.input(1)(image)), Expr(count_));
          return attrs.top_k > 0 ? te::Min(valid, Expr(attrs.top_k)) : valid;
        },
        "limit", te::Stored{});
    order = StableOrder(
        batch_, count_,
        [&](const Expr& image, const Expr& box) {
          const Expr valid = te::Cast(Int64, call.input(1)(image));
          return te::Select(box < valid, x_(image, box, Expr(attrs.score_index)), lowest);
        },
        true);
    ranked = te::Compute(
        ToExprs(ShapeOf(x_)),
        [&](const std::vector<Var>& i) { return x_(i[0], order(i[0], i[1]), i[2]); }, "ranked",
        te::Stored{});
    const Tensor stays = Survivors(te::Cast(x_.dtype(), call.input(4)()));
    survivors_ = te::Compute(
        {batch_, count_},
        [&](const Var& image, const Var& rank) {
          return te::Cast(Int64, stays(Expr(count_), image, rank));
        },
        "survivors", te::Stored{});
    const Tensor state = te::Placeholder({count_, batch_}, Int64, "survivors_state");
    const Tensor next = te::Compute(
        {count_, batch_},
        [&](const Var& rank, const Var& image) {
          return state(rank - 1, image) + survivors_(image, rank);
        },
        "survivors_next");
    const Tensor first = te::Compute(
        {1, batch_}, [&](const Var&, const Var& image) { return survivors_(image, Expr(0)); },
        "survivors_first");
    const Tensor running = te::Scan({first}, {next}, {state}, "survivors_so_far")[0];
    const Expr most = te::Cast(Int64, call.input(3)());
    kept_ = te::Compute(
        {batch_, count_},
        [&](const Var& image, const Var& rank) {
          return te::Select(survivors_(image, rank) == Expr(1) &&
                                (most <= Expr(0) || running(rank, image) <= most),
                            Expr(1), Expr(0));
        },
        "kept", te::Stored{});
  }

  Expr IsKept(const Expr& image, const Expr& rank) const { return kept_(image, rank) == Expr(1); }

  Tensor order;   // (image, rank) -> box
  Tensor ranked;  // (image, rank, element)

 private:
  // Whether two boxes overlap by the threshold, and are of one class where that matters. float16
  // does not hold the areas of boxes that are counted in pixels.
  Expr Overlap(const Expr& image, const Expr& a, const Expr& b, const Expr& threshold) const {
    const DataType wide = SumType(x_.dtype());
    const auto element = [&](const Expr& box, std::int64_t e) {
      return te::Cast(wide, ranked(image, box, Expr(e)));
    };
    const auto low = [&](const Expr& box, std::int64_t d) {
      const std::int64_t at = attrs_.coord_start + d;
      return te::Min(element(box, at), element(box, at + 2));
    };
    const auto high = [&](const Expr& box, std::int64_t d) {
      const std::int64_t at = attrs_.coord_start + d;
      return te::Max(element(box, at), element(box, at + 2));
    };
    const Expr zero = te::Cast(wide, 0);
    const auto common = [&](std::int64_t d) {
      return te::Max(te::Min(high(a, d), high(b, d)) - te::Max(low(a, d), low(b, d)), zero);
    };
    const auto area = [&](const Expr& box) {
      return (high(box, 0) - low(box, 0)) * (high(box, 1) - low(box, 1));
    };
    const Expr both = common(0) * common(1);
    const Expr either = area(a) + area(b) - both;
    Expr overlaps =
        te::Select(either > zero, both / te::Select(either > zero, either, te::Cast(wide, 1)),
                   zero) >= te::Cast(wide, threshold);
    if (!attrs_.force_suppress && attrs_.id_index >= 0)
      overlaps = overlaps && element(a, attrs_.id_index) == element(b, attrs_.id_index);
    return overlaps;
  }

  // (step, image, rank) -> 1 when none of the first `step` boxes drops the one of that rank.
  Tensor Survivors(const Expr& threshold) const {
    const std::vector<Expr> steps = {count_ + 1, batch_, count_};
    const Tensor state = te::Placeholder(steps, Int8, "stays_state");
    const Tensor first = te::Compute(
        {1, batch_, count_},
        [&](const Var&, const Var& image, const Var& rank) {
          return te::Cast(Int8, te::Select(rank < limit_(image), Expr(1), Expr(0)));
        },
        "stays_first");
    const Tensor next = te::Compute(
        steps,
        [&](const Var& step, const Var& image, const Var& rank) {
          const Expr one = te::Cast(Int8, 1);
          const Expr better = te::Max(step - 1, Expr(0));
          const Expr is_dropped = rank > better && state(step - 1, image, better) == one &&
                                  Overlap(image, better, rank, threshold);
          return te::Select(is_dropped, te::Cast(Int8, 0), state(step - 1, image, rank));
        },
        "stays_next");
    return te::Scan({first}, {next}, {state}, "stays")[0];
  }

  const ops::NonMaximumSuppressionAttrs& attrs_;
  const Tensor x_;
  const std::int64_t batch_, count_;
  Tensor limit_, survivors_, kept_;
};

std::vector<Tensor> NonMaximumSuppression(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::NonMaximumSuppressionAttrs>();
  const Tensor& x = call.input(0);
  const Shape shape = ShapeOf(x);
  if (shape[0] * shape[1] == 0) {
    if (!attrs.return_indices) return {Filled(ToExprs(shape), te::Cast(x.dtype(), -1))};
    return {Filled({shape[0], shape[1]}, te::Cast(Int32, -1)),
            Filled({shape[0], 1}, te::Cast(Int32, 0))};
  }
  const RankedBoxes boxes(call, attrs);
  const auto is_kept = [&](const Expr& image, const Expr& rank) {
    return boxes.IsKept(image, rank);
  };
  if (!attrs.return_indices && !attrs.invalid_to_bottom)
    return {te::Compute(
        ToExprs(shape),
        [&](const std::vector<Var>& i) {
          return te::Select(is_kept(i[0], i[1]), boxes.ranked(i[0], i[1], i[2]),
                            te::Cast(x.dtype(), -1));
        },
        "non_max_suppression")};
  const Compacted front(shape[0], shape[1], is_kept);
  if (!attrs.return_indices)
    return {te::Compute(
        ToExprs(shape),
        [&](const std::vector<Var>& i) {
          return te::Select(i[1] < front.kept(i[0]),
                            boxes.ranked(i[0], front.order(i[0], i[1]), i[2]),
                            te::Cast(x.dtype(), -1));
        },
        "non_max_suppression")};
  return {te::Compute(
              {shape[0], shape[1]},
              [&](const Var& image, const Var& place) {
                const Expr box = boxes.order(image, front.order(image, place));
                return te::Select(place < front.kept(image),
                                  te::Cast(Int32, call.input(2)(image, box)), te::Cast(Int32, -1));
              },
              "kept_indices"),
          te::Compute(
              {shape[0], 1},
              [&](const Var& image, const Var&) { return te::Cast(Int32, front.kept(image)); },
              "kept_count")};
}

}  // namespace

void AttachBoxComputes(ops::OpRegistry& registry) {
  registry.Definition("vision.get_valid_counts").SetColumn(TeCompute{GetValidCounts});
  registry.Definition("vision.non_max_suppression").SetColumn(TeCompute{NonMaximumSuppression});
}

}  // namespace tenon::strategies
