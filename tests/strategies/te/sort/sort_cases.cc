// Operators that order elements, and those on boxes in images.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

std::vector<std::size_t> OrderOf(const std::vector<double>& line, bool ascends) {
  std::vector<std::size_t> order(line.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return ascends ? line[a] < line[b] : line[b] < line[a];
  });
  return order;
}

// What stands at each place of the ordered line: its elements or where they came from.
LineFunction Ordered(bool ascends, bool gives_indices) {
  return [=](const std::vector<double>& line) {
    std::vector<double> result;
    for (const std::size_t i : OrderOf(line, ascends))
      result.push_back(gives_indices ? static_cast<double>(i) : line[i]);
    return result;
  };
}

Array FirstOf(const Array& x, std::size_t axis, std::int64_t count) {
  Shape shape = x.shape;
  shape[axis] = count;
  return Make(shape, [&](const Index& at) { return x(at); });
}

// The four neighbours of a point with their weights; no weight outside the image.
std::vector<double> Weighted(const Array& image, std::int64_t n, std::int64_t c, double y,
                             double x) {
  const auto height = static_cast<double>(image.shape[2]);
  const auto width = static_cast<double>(image.shape[3]);
  if (y < -1 || y > height || x < -1 || x > width) return {0, 0, 0, 0};
  y = std::clamp(y, 0.0, height - 1);
  x = std::clamp(x, 0.0, width - 1);
  std::vector<double> result;
  for (const double row : {std::floor(y), std::floor(y) + 1}) {
    for (const double column : {std::floor(x), std::floor(x) + 1}) {
      const Index at = {n, c, static_cast<std::int64_t>(std::min(row, height - 1)),
                        static_cast<std::int64_t>(std::min(column, width - 1))};
      result.push_back((1 - std::abs(y - row)) * (1 - std::abs(x - column)) * image(at));
    }
  }
  return result;
}

// He et al., "Mask R-CNN", ICCV 2017, section 3; the greatest as ONNX Runtime takes it.
Reference RoiAligned(Shape pooled, double scale, std::int64_t ratio, bool takes_max, bool aligned) {
  return [=](const Arrays& in) {
    const Array& rois = in[1];
    const double offset = aligned ? 0.5 : 0;
    return Arrays{Make({rois.shape[0], in[0].shape[1], pooled[0], pooled[1]}, [&](const Index& at) {
      const auto corner = [&](std::int64_t i) { return rois({at[0], i}) * scale - offset; };
      double extents[] = {corner(4) - corner(2), corner(3) - corner(1)};
      for (double& extent : extents) extent = aligned ? extent : std::max(extent, 1.0);
      const double bin_height = extents[0] / static_cast<double>(pooled[0]);
      const double bin_width = extents[1] / static_cast<double>(pooled[1]);
      const auto samples = [&](double bin) {
        return ratio > 0 ? ratio : static_cast<std::int64_t>(std::ceil(bin));
      };
      const std::int64_t rows = samples(bin_height), columns = samples(bin_width);
      double sum = 0;
      std::vector<double> neighbours;
      for (std::int64_t i = 0; i < rows; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) {
          const auto place = [](std::int64_t bin, std::int64_t sample, std::int64_t count) {
            return static_cast<double>(bin) +
                   (static_cast<double>(sample) + 0.5) / static_cast<double>(count);
          };
          for (const double v : Weighted(in[0], static_cast<std::int64_t>(rois({at[0], 0})), at[1],
                                         corner(2) + place(at[2], i, rows) * bin_height,
                                         corner(1) + place(at[3], j, columns) * bin_width)) {
            sum += v;
            neighbours.push_back(v);
          }
        }
      }
      if (takes_max) return *std::max_element(neighbours.begin(), neighbours.end());
      return sum / static_cast<double>(rows * columns);
    })};
  };
}

double OverlapOf(const Array& boxes, std::int64_t n, std::int64_t a, std::int64_t b) {
  const auto side = [&](std::int64_t box, std::int64_t axis, bool is_end) {
    const double first = boxes({n, box, axis}), second = boxes({n, box, axis + 2});
    return is_end ? std::max(first, second) : std::min(first, second);
  };
  double both = 1, area_a = 1, area_b = 1;
  for (const std::int64_t axis : {0, 1}) {
    both *= std::max(0.0, std::min(side(a, axis, true), side(b, axis, true)) -
                              std::max(side(a, axis, false), side(b, axis, false)));
    area_a *= side(a, axis, true) - side(a, axis, false);
    area_b *= side(b, axis, true) - side(b, axis, false);
  }
  return both > 0 ? both / (area_a + area_b - both) : 0;
}

// Boxes of each class by falling score, without those that overlap one that is kept.
Arrays Suppressed(const Arrays& in) {
  const Array &boxes = in[0], &scores = in[1];
  const Shape shape = {scores.shape[0] * scores.shape[1] * scores.shape[2], 3};
  Array rows = Make(shape, [](const Index&) { return 0.0; });
  std::int64_t count = 0;
  for (std::int64_t n = 0; n < scores.shape[0]; ++n) {
    for (std::int64_t c = 0; c < scores.shape[1]; ++c) {
      std::vector<double> line;
      for (std::int64_t i = 0; i < scores.shape[2]; ++i) line.push_back(scores({n, c, i}));
      std::vector<std::int64_t> kept;
      for (const std::size_t place : OrderOf(line, false)) {
        const auto i = static_cast<std::int64_t>(place);
        const bool overlaps = std::any_of(kept.begin(), kept.end(), [&](std::int64_t k) {
          return OverlapOf(boxes, n, k, i) > in[3].values[0];
        });
        if (static_cast<double>(kept.size()) >= in[2].values[0] || overlaps ||
            line[place] <= in[4].values[0])
          continue;
        kept.push_back(i);
        const double row[] = {static_cast<double>(n), static_cast<double>(c),
                              static_cast<double>(i)};
        std::copy(row, row + 3, rows.values.begin() + 3 * count++);
      }
    }
  }
  return {rows, Array{{1}, {static_cast<double>(count)}}};
}

// Boxes of six elements: class, score and two corners.
Arrays Counted(const Arrays& in, double threshold) {
  const Array& x = in[0];
  Array counts = Make({x.shape[0]}, [](const Index&) { return 0.0; });
  Array boxes = Make(x.shape, [](const Index&) { return -1.0; });
  Array places = Make({x.shape[0], x.shape[1]}, [](const Index&) { return -1.0; });
  for (std::int64_t n = 0; n < x.shape[0]; ++n) {
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < x.shape[1]; ++i) {
      if (x({n, i, 1}) <= threshold || x({n, i, 0}) < 0) continue;
      for (std::int64_t e = 0; e < x.shape[2]; ++e)
        boxes.values[boxes.Offset({n, next, e})] = x({n, i, e});
      places.values[places.Offset({n, next++})] = static_cast<double>(i);
    }
    counts.values[static_cast<std::size_t>(n)] = static_cast<double>(next);
  }
  return {counts, boxes, places};
}

// One list of boxes an image, greedily.
struct GreedyForm {
  std::int64_t top_k = -1;
  bool force = false, indices = true, to_bottom = false;
};
Reference Greedy(const GreedyForm& form) {
  return [=](const Arrays& in) {
    const Array& x = in[0];
    Array corners = Make({x.shape[0], x.shape[1], 4}, [&](const Index& i) {
      return x({i[0], i[1], i[2] + 2});
    });
    Array boxes = Make(x.shape, [](const Index&) { return -1.0; });
    Array places = Make({x.shape[0], x.shape[1]}, [](const Index&) { return -1.0; });
    Array counts = Make({x.shape[0], 1}, [](const Index&) { return 0.0; });
    for (std::int64_t n = 0; n < x.shape[0]; ++n) {
      std::vector<double> scores;
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(in[1]({n})); ++i)
        scores.push_back(x({n, i, 1}));
      std::vector<std::size_t> order = OrderOf(scores, false);
      if (form.top_k > 0 && order.size() > static_cast<std::size_t>(form.top_k))
        order.resize(static_cast<std::size_t>(form.top_k));
      std::vector<std::int64_t> kept;
      for (std::size_t rank = 0; rank < order.size(); ++rank) {
        const auto i = static_cast<std::int64_t>(order[rank]);
        const bool drops = std::any_of(kept.begin(), kept.end(), [&](std::int64_t k) {
          return (form.force || x({n, k, 0}) == x({n, i, 0})) &&
                 OverlapOf(corners, n, k, i) >= in[4].values[0];
        });
        const double most = in[3].values[0];
        if (drops || (most > 0 && static_cast<double>(kept.size()) >= most)) continue;
        const std::int64_t to = form.to_bottom ? static_cast<std::int64_t>(kept.size())
                                               : static_cast<std::int64_t>(rank);
        for (std::int64_t e = 0; e < x.shape[2]; ++e)
          boxes.values[boxes.Offset({n, to, e})] = x({n, i, e});
        places.values[places.Offset({n, static_cast<std::int64_t>(kept.size())})] = in[2]({n, i});
        kept.push_back(i);
      }
      counts.values[static_cast<std::size_t>(n)] = static_cast<double>(kept.size());
    }
    if (!form.indices) return Arrays{boxes};
    return Arrays{places, counts};
  };
}

// Corners at random places of a small square, classes -1 to 2.
Input BoxList(std::int64_t batch, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < batch * count; ++i) {
    const auto part = [&](std::int64_t k, std::int64_t n) {
      return static_cast<double>((i * k + k * k) % n);
    };
    const double left = part(7, 10) / 10, top = part(3, 8) / 10;
    values.insert(values.end(), {part(5, 4) - 1, part(11, 37) / 37, left, top,
                                 left + 0.25 + part(13, 5) / 20, top + 0.3});
  }
  return With(F("x", {batch, count, 6}), values);
}

}  // namespace

void AddSorts(std::vector<OpCase>* cases) {
  for (const bool ascends : {true, false}) {
    const char* order = ascends ? "is_ascend=True" : "is_ascend=False";
    const char* name = ascends ? "_up" : "_down";
    for (const std::size_t axis : {0U, 1U, 2U}) {
      cases->push_back({StrCat("sort_axis_", axis, name),
                        {F("x", {3, 17, 5})},
                        StrCat("sort(%x, axis=", axis, ", ", order, ")"),
                        [=](const Arrays& in) {
                          return Arrays{AlongLines(in[0], axis, Ordered(ascends, false))};
                        }});
      // Many are equal and stay in order.
      cases->push_back({StrCat("argsort_axis_", axis, name),
                        {I("x", {3, 17, 5}, -3, 3)},
                        StrCat("argsort(%x, axis=", axis, ", ", order, ", dtype=\"int64\")"),
                        [=](const Arrays& in) {
                          return Arrays{AlongLines(in[0], axis, Ordered(ascends, true))};
                        }});
    }
    cases->push_back({StrCat("topk", name),
                      {F("x", {3, 17, 5})},
                      StrCat("topk(%x, k=4, axis=1, ", order, ")"),
                      [=](const Arrays& in) {
                        Arrays both;
                        for (const bool indices : {false, true})
                          both.push_back(
                              FirstOf(AlongLines(in[0], 1, Ordered(ascends, indices)), 1, 4));
                        return both;
                      }});
  }
}

void AddBoxes(std::vector<OpCase>* cases) {
  const Input rois =
      With(F("r", {3, 5}), {0, 1.25, 0.5, 7.5, 5.75, 1, -2, 3, 6, 12, 1, 4.5, 4.25, 4.75, 4.5});
  for (const char* mode : {"avg", "max"}) {
    for (const bool aligned : {false, true}) {
      // The last one takes more samples than are placed ahead for a region.
      for (const std::int64_t ratio : {0, 2, 131}) {
        cases->push_back(
            {StrCat("roi_align_", mode, aligned ? "_aligned" : "", "_ratio_", ratio),
             {F("x", {2, 3, 9, 7}), rois},
             StrCat(
                 "vision.roi_align(%x, %r, pooled_size=[3, 2], spatial_scale=0.75, sample_ratio=",
                 ratio, ", mode=\"", mode, "\", aligned=", aligned ? "True" : "False", ")"),
             RoiAligned({3, 2}, 0.75, ratio, mode == std::string("max"), aligned)});
      }
    }
  }
  cases->push_back({"all_class_non_max_suppression",
                    {F("b", {2, 13, 4}, 0, 1), F("s", {2, 3, 13}, 0, 1), With(L("m", {1}), {4}),
                     With(F("o", {1}), {0.3}), With(F("t", {1}), {0.2})},
                    "vision.all_class_non_max_suppression(%b, %s, %m, %o, %t)",
                    Suppressed});
  // Boxes are compared in blocks of 64. An overlap below 0 leaves one box of each class.
  for (const double overlap : {0.02, 0.9, -1.0}) {
    cases->push_back(
        {StrCat("all_class_non_max_suppression_of_many_", overlap < 0     ? "below_0"
                                                          : overlap < 0.5 ? "low"
                                                                          : "high"),
         {F("b", {1, 211, 4}, 0, 8), F("s", {1, 2, 211}, 0, 1), With(L("m", {1}), {200}),
          With(F("o", {1}), {overlap}), With(F("t", {1}), {0.01})},
         "vision.all_class_non_max_suppression(%b, %s, %m, %o, %t)",
         Suppressed});
  }
}

void AddBoxLists(std::vector<OpCase>* cases) {
  for (const std::int64_t count : {1, 17}) {
    cases->push_back({StrCat("get_valid_counts_", count),
                      {BoxList(2, count), With(F("t", {}), {0.4})},
                      "vision.get_valid_counts(%x, %t)",
                      [](const Arrays& in) { return Counted(in, static_cast<float>(0.4)); }});
  }
  const auto suppress = [&](const char* name, const char* attrs, double most,
                            const GreedyForm& form) {
    cases->push_back({StrCat("non_max_suppression_", name),
                      {BoxList(2, 19), With(I("c", {2}), {19, 7}), I("i", {2, 19}, 0, 99),
                       With(I("m", {}), {most}), With(F("o", {}), {0.3})},
                      StrCat("vision.non_max_suppression(%x, %c, %i, %m, %o", attrs, ")"),
                      Greedy(form)});
  };
  suppress("indices", "", -1, {});
  suppress("of_all_classes", ", force_suppress=True", -1, {.force = true});
  suppress("at_most", ", top_k=11", 3, {.top_k = 11});
  suppress("boxes", ", return_indices=False", 4, {.indices = false});
  suppress("boxes_first", ", return_indices=False, invalid_to_bottom=True", -1,
           {.indices = false, .to_bottom = true});
}

}  // namespace tenon::operator_cases
