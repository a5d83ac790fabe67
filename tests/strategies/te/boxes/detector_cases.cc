// Operators of early detectors.
#include <algorithm>
#include <array>
#include <cmath>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

// Girshick, "Fast R-CNN", ICCV 2015, section 2.1.
Arrays RoiPooled(const Arrays& in, Shape pooled, double scale) {
  const Array &x = in[0], &rois = in[1];
  return {Make({rois.shape[0], x.shape[1], pooled[0], pooled[1]}, [&](const Index& at) {
    const auto corner = [&](std::int64_t i) {
      return static_cast<std::int64_t>(std::round(rois({at[0], i}) * scale));
    };
    const auto range = [&](std::int64_t first, std::int64_t last, std::size_t axis) {
      const double size = static_cast<double>(std::max<std::int64_t>(last - first + 1, 1)) /
                          static_cast<double>(pooled[axis]);
      const std::int64_t extent = x.shape[axis + 2];
      const auto place = static_cast<double>(at[axis + 2]);
      const auto begin = first + static_cast<std::int64_t>(std::floor(place * size + 1e-5));
      const auto end = first + static_cast<std::int64_t>(std::ceil((place + 1) * size - 1e-5));
      return std::pair(std::clamp<std::int64_t>(begin, 0, extent),
                       std::clamp<std::int64_t>(end, 0, extent));
    };
    const auto [top, bottom] = range(corner(2), corner(4), 0);
    const auto [left, right] = range(corner(1), corner(3), 1);
    if (top >= bottom || left >= right) return 0.0;
    double best = -kInf;
    for (std::int64_t i = top; i < bottom; ++i) {
      for (std::int64_t j = left; j < right; ++j)
        best = std::max(best, x({static_cast<std::int64_t>(rois({at[0], 0})), at[1], i, j}));
    }
    return best;
  })};
}

// Liu et al., "SSD", ECCV 2016, section 2.2, with widths in parts of the height.
Arrays Anchors(const Arrays& in, const std::vector<double>& sizes,
               const std::vector<double>& ratios, std::vector<double> steps,
               const std::vector<double>& offsets, bool clip) {
  const std::int64_t rows = in[0].shape[2], columns = in[0].shape[3];
  if (steps[0] <= 0) steps = {1.0 / static_cast<double>(rows), 1.0 / static_cast<double>(columns)};
  Array y{{1, 0, 4}, {}};
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      const double cy = (static_cast<double>(i) + offsets[0]) * steps[0];
      const double cx = (static_cast<double>(j) + offsets[1]) * steps[1];
      for (std::size_t k = 0; k < sizes.size() + ratios.size() - 1; ++k) {
        const double size = k < sizes.size() ? sizes[k] : sizes[0];
        const double ratio = k < sizes.size() ? 1 : ratios[k - sizes.size() + 1];
        const double w =
            size * static_cast<double>(rows) / static_cast<double>(columns) * std::sqrt(ratio) / 2;
        const double h = size / std::sqrt(ratio) / 2;
        for (const double corner : {cx - w, cy - h, cx + w, cy + h})
          y.values.push_back(clip ? std::clamp(corner, 0.0, 1.0) : corner);
        ++y.shape[1];
      }
    }
  }
  return {y};
}

// As Darknet's reorg layer walks through memory.
Arrays Reorganised(const Arrays& in, std::int64_t stride) {
  const Shape& s = in[0].shape;
  const std::int64_t wide_channels = s[1] / (stride * stride);
  Array y{{s[0], s[1] * stride * stride, s[2] / stride, s[3] / stride}, {}};
  ForEach(s, [&](const Index& at) {
    const std::int64_t offset = at[1] / wide_channels;
    const std::int64_t column = at[3] * stride + offset % stride;
    const std::int64_t row = at[2] * stride + offset / stride;
    const std::int64_t from =
        column +
        s[3] * stride * (row + s[2] * stride * (at[1] % wide_channels + wide_channels * at[0]));
    y.values.push_back(in[0].values.at(static_cast<std::size_t>(from)));
  });
  return {y};
}

struct Listing {
  bool clip = true, background = false;
  double threshold = 0.01;
};

// Liu et al., "SSD", ECCV 2016, section 2.2, backwards.
Reference Listed(const Listing& l) {
  return [=](const Arrays& in) {
    constexpr double kVariances[] = {0.1, 0.1, 0.2, 0.2};
    const Array &scores = in[0], &offsets = in[1], &anchors = in[2];
    const std::int64_t boxes = scores.shape[2];
    Array y{{scores.shape[0], boxes, 6}, {}};
    Array counts{{scores.shape[0]}, {}};
    for (std::int64_t n = 0; n < scores.shape[0]; ++n) {
      std::int64_t count = 0;
      for (std::int64_t b = 0; b < boxes; ++b) {
        double best = -1;
        std::int64_t number = 0;
        for (std::int64_t c = l.background ? 0 : 1; c < scores.shape[1]; ++c) {
          if (!(scores({n, c, b}) > best)) continue;
          best = scores({n, c, b});
          number = c;
        }
        if (best < static_cast<float>(l.threshold)) number = 0;
        if (number == 0 && !l.background) continue;
        ++count;
        y.values.push_back(static_cast<double>(l.background ? number : number - 1));
        y.values.push_back(best);
        std::array<double, 4> box{};
        for (std::int64_t d = 0; d < 2; ++d) {
          const double low = anchors({0, b, d}), high = anchors({0, b, d + 2});
          const double centre = (low + high) / 2 + offsets({n, 4 * b + d}) *
                                                       kVariances[static_cast<std::size_t>(d)] *
                                                       (high - low);
          const double size =
              std::exp(offsets({n, 4 * b + d + 2}) * kVariances[static_cast<std::size_t>(d + 2)]) *
              (high - low);
          box.at(static_cast<std::size_t>(d)) = centre - size / 2;
          box.at(static_cast<std::size_t>(d + 2)) = centre + size / 2;
        }
        for (const double corner : box)
          y.values.push_back(l.clip ? std::clamp(corner, 0.0, 1.0) : corner);
      }
      counts.values.push_back(static_cast<double>(count));
      y.values.resize(static_cast<std::size_t>((n + 1) * boxes * 6), -1);
    }
    return Arrays{y, counts};
  };
}

void AddListings(std::vector<OpCase>* cases) {
  const auto add = [&](const std::string& name, std::int64_t classes, std::int64_t boxes,
                       const Listing& l) {
    cases->push_back({StrCat("multibox_transform_loc", name),
                      {F("p", {2, classes, boxes}, 0, 1), F("l", {2, 4 * boxes}, -3, 3),
                       F("a", {1, boxes, 4}, 0, 1)},
                      StrCat("vision.multibox_transform_loc(%p, %l, %a, clip=",
                             l.clip ? "True" : "False", ", threshold=", l.threshold,
                             ", keep_background=", l.background ? "True" : "False", ")"),
                      Listed(l)});
  };
  add("", 4, 17, {});
  add("_above", 3, 15, {.threshold = 0.6});
  add("_beyond_the_image", 2, 16, {.clip = false, .threshold = 0.5});
  add("_with_background", 3, 13, {.background = true, .threshold = 0.7});
  add("_of_background_alone", 1, 5, {});
  add("_of_no_box", 3, 0, {});
  // NaN is no probability: class 2 of the first box, all of the second.
  cases->push_back({"multibox_transform_loc_beside_nan",
                    {With(F("p", {1, 3, 2}), {0.1, 0.2, 0.3, kNaN, kNaN, kNaN}),
                     With(F("l", {1, 8}), {1, 2, -1, 0.5, 0, 0, 0, 0}),
                     With(F("a", {1, 2, 4}), {0.1, 0.2, 0.5, 0.9, 0, 0, 1, 1})},
                    "vision.multibox_transform_loc(%p, %l, %a)",
                    Listed({})});
}

}  // namespace

void AddDetectors(std::vector<OpCase>* cases) {
  cases->push_back(
      {"roi_pool",
       {F("x", {2, 3, 9, 7}), With(F("r", {4, 5}), {0, 1,  0,  13, 11, 1, -4, 3,  6,  30,  //
                                                    1, 14, 16, 14, 16, 0, 50, 50, 60, 60})},
       "vision.roi_pool(%x, %r, pooled_size=[3, 2], spatial_scale=0.5)",
       [](const Arrays& in) {
         return RoiPooled(in, {3, 2}, 0.5);
       }});
  cases->push_back({"roi_pool_of_more_bins_than_elements",
                    {F("x", {1, 2, 5, 5}), With(F("r", {1, 5}), {0, 3, 1, 4, 1})},
                    "vision.roi_pool(%x, %r, pooled_size=[7, 7], spatial_scale=1)",
                    [](const Arrays& in) {
                      return RoiPooled(in, {7, 7}, 1);
                    }});
  cases->push_back({"roi_pool_of_no_region",
                    {F("x", {1, 2, 5, 5}), F("r", {0, 5})},
                    "vision.roi_pool(%x, %r, pooled_size=[7, 7], spatial_scale=1)",
                    [](const Arrays& in) {
                      return RoiPooled(in, {7, 7}, 1);
                    }});
  for (const bool clip : {false, true}) {
    cases->push_back(
        {StrCat("multibox_prior", clip ? "_clipped" : ""),
         {F("x", {2, 3, 5, 7})},
         StrCat("vision.multibox_prior(%x, sizes=[0.5, 0.25], ratios=[1, 2, 0.5], clip=",
                clip ? "True" : "False", ")"),
         [clip](const Arrays& in) {
           return Anchors(in, {0.5, 0.25}, {1, 2, 0.5}, {-1, -1}, {0.5, 0.5}, clip);
         }});
  }
  cases->push_back({"multibox_prior_in_steps",
                    {F("x", {1, 1, 3, 1})},
                    "vision.multibox_prior(%x, steps=[0.25, 0.125], offsets=[0.25, 0.75])",
                    [](const Arrays& in) {
                      return Anchors(in, {1}, {1}, {0.25, 0.125}, {0.25, 0.75}, false);
                    }});
  cases->push_back({"yolo_reorg",
                    {F("x", {2, 8, 4, 6})},
                    "vision.yolo_reorg(%x, stride=2)",
                    [](const Arrays& in) { return Reorganised(in, 2); }});
  cases->push_back({"yolo_reorg_by_three",
                    {I("x", {1, 9, 3, 15})},
                    "vision.yolo_reorg(%x, stride=3)",
                    [](const Arrays& in) { return Reorganised(in, 3); }});
  AddListings(cases);
}

}  // namespace tenon::operator_cases
