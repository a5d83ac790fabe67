// Resampling of images, straight from the definitions: a coordinate for each element of the result
// and a sum over the taps around it.
#include <algorithm>
#include <cmath>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

struct ResizeCase {
  std::string name;
  Shape image, size;  // spatial
  std::string method, mode, rounding = "round";
  std::vector<double> scales = {}, roi = {};
  double alpha = -0.5, value = 0;
  bool exclude = false;
};

double Coordinate(const ResizeCase& c, std::size_t d, double i) {
  const auto in = static_cast<double>(c.image[d]);
  const auto out = static_cast<double>(c.size[d]);
  const double scale = c.scales.empty() ? out / in : c.scales[d];
  if (c.mode == "asymmetric") return i / scale;
  if (c.mode == "align_corners") return out == 1 ? 0 : i * (in - 1) / (out - 1);
  if (c.mode == "tf_half_pixel_for_nn") return (i + 0.5) / scale;
  if (c.mode == "pytorch_half_pixel") return out > 1 ? (i + 0.5) / scale - 0.5 : 0;
  if (c.mode == "tf_crop_and_resize") {
    const double start = c.roi[d], end = c.roi[d + c.image.size()];
    return out > 1 ? start * (in - 1) + i * (end - start) * (in - 1) / (out - 1)
                   : 0.5 * (start + end) * (in - 1);
  }
  return (i + 0.5) / scale - 0.5;
}

double Cubic(double t, double a) {
  t = std::fabs(t);
  if (t <= 1) return (a + 2) * t * t * t - (a + 3) * t * t + 1;
  if (t < 2) return a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a;
  return 0;
}

// Elements of the data and their weights, for one axis.
std::vector<std::pair<std::int64_t, double>> TapsAt(const ResizeCase& c, std::size_t d,
                                                    std::int64_t i) {
  const double x = Coordinate(c, d, static_cast<double>(i));
  const double floor = std::floor(x);
  std::vector<std::pair<double, double>> taps;
  if (c.method == "nearest_neighbor") {
    std::string rounding = c.rounding;
    if (rounding.empty()) rounding = c.mode == "align_corners" ? "round" : "floor";
    double nearest = std::floor(x + 0.5);
    if (rounding == "round_prefer_floor") nearest = std::ceil(x - 0.5);
    if (rounding == "floor") nearest = std::floor(x + 1e-5);
    if (rounding == "ceil") nearest = std::ceil(x - 1e-5);
    taps = {{nearest, 1}};
  } else if (c.method == "linear") {
    taps = {{floor, 1 - (x - floor)}, {floor + 1, x - floor}};
  } else {
    double sum = 0;
    for (int k = -1; k <= 2; ++k) {
      const double at = floor + k;
      const bool outside = at < 0 || at >= static_cast<double>(c.image[d]);
      taps.emplace_back(at, c.exclude && outside ? 0 : Cubic(x - at, c.alpha));
      sum += taps.back().second;
    }
    if (c.exclude) {
      for (auto& tap : taps) tap.second /= sum;
    }
  }
  std::vector<std::pair<std::int64_t, double>> clamped;
  for (const auto& [at, weight] : taps)
    clamped.emplace_back(
        static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(c.image[d] - 1))),
        weight);
  return clamped;
}

double At(const ResizeCase& c, const Array& x, const Index& at, std::size_t d, Index* from) {
  if (d == c.image.size()) return x(*from);
  double sum = 0;
  for (const auto& [source, weight] : TapsAt(c, d, at[d + 2])) {
    (*from)[d + 2] = source;
    sum += weight * At(c, x, at, d + 1, from);
  }
  return sum;
}

Array Resized(const ResizeCase& c, const Array& x) {
  Shape shape = {x.shape[0], x.shape[1]};
  shape.insert(shape.end(), c.size.begin(), c.size.end());
  return Make(shape, [&](const Index& at) {
    for (std::size_t d = 0; d < c.image.size(); ++d) {
      const double i = Coordinate(c, d, static_cast<double>(at[d + 2]));
      if (c.mode == "tf_crop_and_resize" && (i < 0 || i > static_cast<double>(c.image[d] - 1)))
        return c.value;
    }
    Index from = at;
    return At(c, x, at, 0, &from);
  });
}

void AddCase(const ResizeCase& c, std::vector<OpCase>* cases) {
  const std::size_t dims = c.image.size();
  Shape shape = {2, 3};
  shape.insert(shape.end(), c.image.begin(), c.image.end());
  std::string attributes =
      StrCat("size=[", StrJoin(c.size, ", "), "], method=\"", c.method,
             "\", coordinate_transformation_mode=\"", c.mode, "\", rounding_method=\"", c.rounding,
             "\", cubic_alpha=", FormatShortest(c.alpha), "f, cubic_exclude=", c.exclude ? 1 : 0,
             ", extrapolation_value=", FormatShortest(c.value), "f");
  const auto list = [](const std::vector<double>& values) {
    return StrJoin(values, ", ",
                   [](std::string* out, double v) { StrAppend(out, FormatShortest(v), "f"); });
  };
  if (!c.scales.empty()) StrAppend(&attributes, ", scales=[", list(c.scales), "]");
  if (!c.roi.empty()) StrAppend(&attributes, ", roi=[", list(c.roi), "]");
  cases->push_back({StrCat("resize", dims, "d_", c.name),
                    {F("x", shape)},
                    StrCat("image.resize", dims, "d(%x, ", attributes, ")"),
                    [c](const Arrays& in) { return Arrays{Resized(c, in[0])}; }});
}

// The element at whole coordinates; outside the data as the padding mode says.
double Element(const Array& x, const Index& at, double y, double column, const std::string& padding,
               bool corners) {
  const auto within = [&](double i, std::int64_t n) {
    const auto extent = static_cast<double>(n);
    if (padding == "border") return std::clamp(i, 0.0, extent - 1);
    if (padding == "reflection") {
      const double low = corners ? 0 : -0.5, high = corners ? extent - 1 : extent - 0.5;
      while (i < low || i > high) i = i < low ? 2 * low - i : 2 * high - i;
      return std::clamp(i, 0.0, extent - 1);
    }
    return i;
  };
  const double row = within(y, x.shape[2]), col = within(column, x.shape[3]);
  if (row < 0 || col < 0 || row > static_cast<double>(x.shape[2] - 1) ||
      col > static_cast<double>(x.shape[3] - 1))
    return 0;
  return x({at[0], at[1], static_cast<std::int64_t>(row), static_cast<std::int64_t>(col)});
}

// Bilinear and cubic sampling; padding is looked up element by element, which is the same for
// bilinear sampling as moving the point itself.
Array Sampled(const Array& x, const Array& grid, const std::string& method,
              const std::string& padding, bool corners) {
  return Make({x.shape[0], x.shape[1], grid.shape[2], grid.shape[3]}, [&](const Index& at) {
    const auto place = [&](std::int64_t which, std::int64_t n) {
      const double g = grid({at[0], which, at[2], at[3]});
      const auto extent = static_cast<double>(n);
      return corners ? (g + 1) / 2 * (extent - 1) : ((g + 1) * extent - 1) / 2;
    };
    const double column = place(0, x.shape[3]), row = place(1, x.shape[2]);
    const auto weight = [&](double t) {
      return method == "bicubic" ? Cubic(t, -0.75) : std::max(0.0, 1 - std::fabs(t));
    };
    double sum = 0;
    for (int i = -1; i <= 2; ++i)
      for (int j = -1; j <= 2; ++j) {
        const double y = std::floor(row) + i, z = std::floor(column) + j;
        sum += weight(row - y) * weight(column - z) * Element(x, at, y, z, padding, corners);
      }
    return sum;
  });
}

}  // namespace

void AddGridSamples(std::vector<OpCase>* cases) {
  for (const std::string method : {"bilinear", "bicubic"})
    for (const std::string padding : {"zeros", "border", "reflection"})
      for (const bool corners : {false, true})
        cases->push_back(
            {StrCat("grid_sample_", method, "_", padding, corners ? "_aligned" : ""),
             {F("x", {2, 3, 5, 7}), F("g", {2, 2, 4, 17}, -1.8, 1.8)},
             StrCat("image.grid_sample(%x, %g, method=\"", method, "\", padding_mode=\"", padding,
                    "\", align_corners=", corners ? "True" : "False", ")"),
             [=](const Arrays& in) {
               return Arrays{Sampled(in[0], in[1], method, padding, corners)};
             }});
}

void AddResizes(std::vector<OpCase>* cases) {
  struct Sizes {
    const char* name;
    Shape from, to;
  };
  for (const char* mode : {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
                           "tf_half_pixel_for_nn"}) {
    for (const Sizes& s :
         {Sizes{"twice", {5, 7}, {10, 14}}, Sizes{"larger", {3, 8}, {7, 17}},
          Sizes{"smaller", {13, 16}, {5, 3}}, Sizes{"to_one", {4, 5}, {1, 1}},
          Sizes{"twice_in_vectors", {3, 20}, {6, 40}}, Sizes{"three_times", {3, 17}, {9, 51}},
          Sizes{"halves", {4, 66}, {2, 33}}, Sizes{"of_many_vectors", {2, 200}, {3, 400}}}) {
      for (const char* method : {"nearest_neighbor", "linear", "cubic"})
        AddCase({StrCat(method, "_", mode, "_", s.name), s.from, s.to, method, mode}, cases);
    }
    for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", ""})
      AddCase({StrCat("rounding_", *rounding == '\0' ? "default" : rounding, "_", mode),
               {5, 9},
               {13, 4},
               "nearest_neighbor",
               mode,
               rounding},
              cases);
  }
  for (const char* method : {"nearest_neighbor", "linear", "cubic"})
    AddCase({.name = StrCat("crop_", method),
             .image = {6, 9},
             .size = {5, 4},
             .method = method,
             .mode = "tf_crop_and_resize",
             .roi = {0.4, -0.25, 1.2, 0.75},
             .value = 3.5},
            cases);
  AddCase({.name = "excluded_taps",
           .image = {4, 6},
           .size = {9, 5},
           .method = "cubic",
           .mode = "half_pixel",
           .alpha = -0.75,
           .exclude = true},
          cases);
  AddCase({.name = "given_scales",
           .image = {4, 7},
           .size = {2, 4},
           .method = "linear",
           .mode = "half_pixel",
           .scales = {0.625, 0.625}},
          cases);
  for (const char* method : {"nearest_neighbor", "linear", "cubic"}) {
    AddCase({StrCat(method, "_of_a_line"), {17}, {31}, method, "half_pixel"}, cases);
    AddCase({StrCat(method, "_of_a_volume"), {3, 4, 5}, {5, 2, 7}, method, "align_corners"}, cases);
  }
  for (const char* method : {"nearest_neighbor", "linear", "cubic"}) {
    const ResizeCase to_extents{"", {5, 7}, {13, 4}, method, "half_pixel"};
    cases->push_back({StrCat("resize_to_extents_", method),
                      {F("x", {2, 3, 5, 7}), F("y", {13, 2})},
                      StrCat("image.resize_to_extents(%x, (%x, %y), shape=\"(x0_0, 3, x1_0, 2*x1_1)"
                             "\", method=\"",
                             method, "\")"),
                      [=](const Arrays& in) { return Arrays{Resized(to_extents, in[0])}; }});
  }
  const ResizeCase bilinear{"", {5, 7}, {10, 21}, "linear", "asymmetric"};
  cases->push_back({"upsampling_bilinear",
                    {F("x", {2, 3, 5, 7})},
                    "nn.upsampling(%x, scale_h=2f, scale_w=3f, method=\"bilinear\")",
                    [=](const Arrays& in) { return Arrays{Resized(bilinear, in[0])}; }});
  const ResizeCase bicubic{"", {5, 7}, {10, 21}, "cubic", "align_corners"};
  cases->push_back({"upsampling_bicubic_aligned",
                    {F("x", {2, 3, 5, 7})},
                    "nn.upsampling(%x, scale_h=2f, scale_w=3f, method=\"bicubic\", "
                    "align_corners=True)",
                    [=](const Arrays& in) { return Arrays{Resized(bicubic, in[0])}; }});
}

}  // namespace tenon::operator_cases
