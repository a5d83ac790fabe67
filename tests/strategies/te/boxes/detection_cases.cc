// Lists of the boxes that a detector found.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

using Box = std::array<double, 4>;  // two corners

double OverlapOf(const Box& a, const Box& b) {
  double both = 1, area_a = 1, area_b = 1;
  for (std::size_t axis = 0; axis < 2; ++axis) {
    both *= std::max(0.0, std::min(a[axis + 2], b[axis + 2]) - std::max(a[axis], b[axis]));
    area_a *= a[axis + 2] - a[axis];
    area_b *= b[axis + 2] - b[axis];
  }
  return both > 0 ? both / (area_a + area_b - both) : 0;
}

// Places by falling score; equal ones stay in order.
std::vector<std::size_t> Ranked(const std::vector<double>& scores) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return order;
}

// Of the boxes in an order those that overlap no earlier one that stays.
std::vector<std::size_t> Staying(const std::vector<Box>& boxes,
                                 const std::vector<std::size_t>& order, double threshold,
                                 std::size_t most) {
  std::vector<std::size_t> kept;
  for (const std::size_t i : order) {
    const bool overlaps = std::any_of(kept.begin(), kept.end(), [&](std::size_t k) {
      return OverlapOf(boxes[k], boxes[i]) > threshold;
    });
    if (!overlaps && kept.size() < most) kept.push_back(i);
  }
  return kept;
}

struct Limits {
  std::size_t of_class = 3, of_all = 5;
  std::int64_t classes = 2;
  double overlap = 0.3, score = 0.25;
};

Reference Detected(const Limits& limits) {
  return [=](const Arrays& in) {
    const Array &boxes = in[0], &scores = in[1];
    const std::int64_t batch = boxes.shape[0], most = static_cast<std::int64_t>(limits.of_all);
    const std::int64_t background = scores.shape[2] - limits.classes;
    Array found = Make({batch, most, 4}, [](const Index&) { return 0.0; });
    Array classes = Make({batch, most}, [](const Index&) { return 0.0; });
    Array values = classes, counts{{batch}, {}};
    for (std::int64_t n = 0; n < batch; ++n) {
      std::vector<Box> all;
      for (std::int64_t i = 0; i < boxes.shape[1]; ++i)
        all.push_back({boxes({n, i, 0}), boxes({n, i, 1}), boxes({n, i, 2}), boxes({n, i, 3})});
      std::vector<std::pair<std::int64_t, std::size_t>> kept;  // class and box
      std::vector<double> kept_scores;
      for (std::int64_t c = 0; c < limits.classes; ++c) {
        std::vector<double> line;
        std::vector<std::size_t> candidates;
        for (std::size_t i = 0; i < all.size(); ++i)
          line.push_back(scores({n, static_cast<std::int64_t>(i), c + background}));
        for (const std::size_t i : Ranked(line)) {
          if (line[i] >= static_cast<float>(limits.score)) candidates.push_back(i);
        }
        for (const std::size_t i : Staying(all, candidates, limits.overlap, limits.of_class)) {
          kept.emplace_back(c, i);
          kept_scores.push_back(line[i]);
        }
      }
      std::int64_t count = 0;
      for (const std::size_t k : Ranked(kept_scores)) {
        if (count == most) break;
        for (std::size_t e = 0; e < 4; ++e)
          found.values.at(found.Offset({n, count, static_cast<std::int64_t>(e)})) =
              all[kept[k].second].at(e);
        classes.values.at(classes.Offset({n, count})) = static_cast<double>(kept[k].first);
        values.values.at(values.Offset({n, count++})) = kept_scores[k];
      }
      counts.values.push_back(static_cast<double>(count));
    }
    return Arrays{found, classes, values, counts};
  };
}

struct Proposing {
  std::vector<double> scales = {1, 2};
  std::vector<double> ratios = {0.5, 1};
  std::int64_t stride = 8;
  double overlap = 0.6;
  std::size_t before = 20, after = 7;
  double least = 3;
  bool corners = false;
};

// Width, then height of an anchor of area stride * stride, rounded, then scaled.
std::pair<double, double> AnchorOf(const Proposing& p, std::int64_t k) {
  const auto scales = static_cast<std::int64_t>(p.scales.size());
  const double ratio = p.ratios.at(static_cast<std::size_t>(k / scales));
  const double scale = p.scales.at(static_cast<std::size_t>(k % scales));
  const double width =
      std::round(std::sqrt(std::floor(static_cast<double>(p.stride * p.stride) / ratio)));
  return {width * scale, std::round(width * ratio) * scale};
}

// Ren et al., "Faster R-CNN", NIPS 2015, section 3.1.2.
Reference Proposed(const Proposing& p) {
  return [=](const Arrays& in) {
    const Array &scores = in[0], &deltas = in[1], &images = in[2];
    const std::int64_t anchors = scores.shape[1] / 2;
    const auto stride = static_cast<double>(p.stride);
    Array y{{scores.shape[0] * static_cast<std::int64_t>(p.after), 5}, {}};
    for (std::int64_t n = 0; n < scores.shape[0]; ++n) {
      std::vector<Box> boxes, areas;
      std::vector<double> ranks;
      ForEach({scores.shape[2], scores.shape[3], anchors}, [&](const Index& at) {
        const auto delta = [&](std::int64_t e) { return deltas({n, at[2] * 4 + e, at[0], at[1]}); };
        const auto [width, height] = AnchorOf(p, at[2]);
        const double size[] = {width, height};
        Box box{};
        bool counts = true;
        for (std::int64_t d = 0; d < 2; ++d) {
          const std::int64_t place = at[d == 0 ? 1 : 0];
          const double extent = images({n, 1 - d});
          double centre = (stride - 1) / 2 + static_cast<double>(place) * stride;
          double reach = size[d];
          if (!p.corners) {
            centre += delta(d) * reach;
            reach *= std::exp(delta(d + 2));
          }
          for (const std::int64_t side : {0, 1}) {
            double corner = centre + (side == 0 ? -1 : 1) * (reach - 1) / 2;
            if (p.corners) corner += delta(d + 2 * side);
            box.at(static_cast<std::size_t>(d + 2 * side)) = std::clamp(corner, 0.0, extent - 1);
          }
          counts = counts && place < static_cast<std::int64_t>(extent / stride);
        }
        const double least = p.least * images({n, 2});
        if (box[2] - box[0] + 1 < least || box[3] - box[1] + 1 < least) {
          counts = false;
          for (std::size_t e = 0; e < 4; ++e) box.at(e) += (e < 2 ? -least : least) / 2;
        }
        const double score = scores({n, anchors + at[2], at[0], at[1]});
        boxes.push_back(box);
        areas.push_back({box[0], box[1], box[2] + 1, box[3] + 1});
        ranks.push_back(counts && !std::isnan(score) ? score : -1);
      });
      std::vector<std::size_t> order = Ranked(ranks);
      order.resize(std::min(order.size(), p.before));
      const std::vector<std::size_t> kept = Staying(areas, order, p.overlap, order.size());
      for (std::size_t k = 0; k < p.after; ++k) {
        y.values.push_back(static_cast<double>(n));
        for (std::size_t e = 0; e < 4; ++e)
          y.values.push_back(kept.empty() ? 0 : boxes[kept[k % kept.size()]].at(e));
      }
    }
    return Arrays{y};
  };
}

// Boxes of up to half the image, by row and column of its corners.
Input Boxes(const Shape& shape) {
  Input boxes = F("b", shape);
  const Array made = Make(shape, [](const Index& at) {
    const auto i = static_cast<double>(at[1] + 3 * at[0]);
    const double low = std::fmod(i * (at[2] % 2 == 0 ? 0.37 : 0.53), 0.6);
    return at[2] < 2 ? low : low + 0.2 + std::fmod(i * 0.11, 0.2);
  });
  return With(std::move(boxes), made.values);
}

void AddRegularSuppressions(std::vector<OpCase>* cases) {
  const auto add = [&](const std::string& name, const Shape& shape, std::int64_t background,
                       const Limits& l) {
    cases->push_back({StrCat("regular_non_max_suppression", name),
                      {Boxes({shape[0], shape[1], 4}),
                       F("s", {shape[0], shape[1], l.classes + background}, 0, 1)},
                      StrCat("vision.regular_non_max_suppression(%b, %s, max_detections_per_class=",
                             l.of_class, ", max_detections=", l.of_all, ", num_classes=", l.classes,
                             ", iou_threshold=", l.overlap, ", score_threshold=", l.score, ")"),
                      Detected(l)});
  };
  add("", {1, 17}, 1, {});
  add("_of_a_batch", {3, 16}, 0, {.of_class = 100, .of_all = 11, .classes = 3});
  add("_of_one_box", {2, 1}, 1, {.classes = 1});
  add("_of_few", {1, 13}, 1, {.of_all = 40, .overlap = 0.05, .score = 0.8});
  add("_of_none", {2, 7}, 1, {.score = 2});
  add("_of_no_box", {2, 0}, 1, {});
  // 0.25 counts from the threshold on, NaN does not; of equal scores the first class and box.
  cases->push_back(
      {"regular_non_max_suppression_of_equal_scores",
       {Boxes({1, 4, 4}), With(F("s", {1, 4, 2}), {0.5, 0.5, 0.25, kNaN, 0.5, 0.24, 0.5, 0.5})},
       "vision.regular_non_max_suppression(%b, %s, max_detections_per_class=4, "
       "max_detections=6, num_classes=2, iou_threshold=0.9, score_threshold=0.25)",
       Detected({.of_class = 4, .of_all = 6, .overlap = 0.9})});
  // No number is just below 0 where denormals are zero.
  cases->push_back(
      {"regular_non_max_suppression_of_scores_of_zero",
       {Boxes({1, 4, 4}), With(F("s", {1, 4, 1}), {0, -0.5, 0.25, 0})},
       "vision.regular_non_max_suppression(%b, %s, max_detections_per_class=4, "
       "max_detections=6, num_classes=1, iou_threshold=0.9, score_threshold=0)",
       Detected({.of_class = 4, .of_all = 6, .classes = 1, .overlap = 0.9, .score = 0})});
}

void AddProposals(std::vector<OpCase>* cases) {
  const auto add = [&](const std::string& name, const Shape& map, const Proposing& p,
                       std::vector<double> images) {
    const auto anchors = static_cast<std::int64_t>(p.scales.size() * p.ratios.size());
    cases->push_back(
        {StrCat("proposal", name),
         {F("s", {map[0], 2 * anchors, map[1], map[2]}, 0, 1),
          F("d", {map[0], 4 * anchors, map[1], map[2]}, -0.5, 0.5),
          With(F("i", {map[0], 3}), std::move(images))},
         StrCat("vision.proposal(%s, %d, %i, scales=[", StrJoin(p.scales, ", "), "], ratios=[",
                StrJoin(p.ratios, ", "), "], feature_stride=", p.stride, ", threshold=", p.overlap,
                ", rpn_pre_nms_top_n=", p.before, ", rpn_post_nms_top_n=", p.after,
                ", rpn_min_size=", static_cast<std::int64_t>(p.least),
                ", iou_loss=", p.corners ? "True" : "False", ")"),
         Proposed(p)});
  };
  add("", {1, 3, 5}, {}, {24, 40, 1});
  add("_of_a_batch", {2, 4, 3}, {.scales = {0.5, 1, 3}, .ratios = {0.7}, .after = 3},
      {32, 24, 1, 17, 20, 1.5});
  add("_again", {1, 2, 2}, {.overlap = 0.1, .after = 17}, {16, 16, 1});
  add("_of_large_boxes", {1, 3, 3}, {.least = 12}, {24, 24, 1});
  add("_by_corners", {1, 3, 4}, {.before = 1000, .corners = true}, {24, 32, 1});
  add("_of_no_place", {2, 0, 4}, {.after = 2}, {24, 32, 1, 24, 32, 1});
}

}  // namespace

void AddDetections(std::vector<OpCase>* cases) {
  AddRegularSuppressions(cases);
  AddProposals(cases);
}

}  // namespace tenon::operator_cases
