// Convolution and scaling of images.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

struct ConvCase {
  std::string name;
  std::int64_t batch, in, out, groups, height, width, kernel_h, kernel_w;
  Shape strides = {1, 1}, padding = {0, 0, 0, 0}, dilation = {1, 1};
  std::string data_layout = "NCHW", kernel_layout = "OIHW";
};

Array NaiveConv(const ConvCase& c, const Array& x, const Array& w) {
  const std::int64_t rows =
      (c.height + c.padding[0] + c.padding[2] - c.dilation[0] * (c.kernel_h - 1) - 1) /
          c.strides[0] +
      1;
  const std::int64_t columns =
      (c.width + c.padding[1] + c.padding[3] - c.dilation[1] * (c.kernel_w - 1) - 1) /
          c.strides[1] +
      1;
  const std::int64_t group_in = c.in / c.groups, group_out = c.out / c.groups;
  return Make({c.batch, c.out, rows, columns}, [&](const Index& at) {
    double sum = 0;
    ForEach({group_in, c.kernel_h, c.kernel_w}, [&](const Index& k) {
      const std::int64_t ih = at[2] * c.strides[0] + k[1] * c.dilation[0] - c.padding[0];
      const std::int64_t iw = at[3] * c.strides[1] + k[2] * c.dilation[1] - c.padding[1];
      if (ih < 0 || iw < 0 || ih >= c.height || iw >= c.width) return;
      sum += x({at[0], at[1] / group_out * group_in + k[0], ih, iw}) * w({at[1], k[0], k[1], k[2]});
    });
    return sum;
  });
}

struct UpSample {
  const char* name;
  double h, w;
  Shape result;  // height, width
};

}  // namespace

void AddConvolutions(std::vector<OpCase>* cases) {
  const std::vector<ConvCase> convs = {
      {"pointwise", 1, 17, 5, 1, 7, 9, 1, 1},
      {"3x3_padded", 2, 3, 8, 1, 11, 13, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"strided", 1, 3, 16, 1, 17, 15, 3, 3, {2, 2}, {1, 1, 1, 1}},
      {"uneven_strides", 1, 3, 4, 1, 17, 15, 3, 5, {2, 3}},
      {"asymmetric_padding", 1, 4, 7, 1, 9, 8, 3, 2, {1, 2}, {0, 1, 2, 3}},
      {"dilated", 1, 5, 3, 1, 11, 12, 3, 3, {1, 1}, {2, 2, 2, 2}, {2, 3}},
      {"groups", 1, 6, 15, 3, 7, 7, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise", 1, 17, 17, 17, 9, 9, 5, 5, {2, 1}, {2, 2, 2, 2}},
      {"depthwise_steps", 2, 3, 3, 3, 17, 35, 3, 3, {2, 2}, {1, 1, 1, 1}},
      {"depthwise_steps_of_5x5", 1, 4, 4, 4, 16, 15, 5, 5, {2, 2}, {2, 1, 2, 3}},
      {"depthwise_steps_of_columns", 1, 3, 3, 3, 9, 64, 3, 5, {1, 2}, {0, 2, 1, 1}},
      {"depthwise_steps_dilated", 1, 2, 2, 2, 19, 21, 3, 3, {2, 2}, {2, 3, 2, 3}, {2, 3}},
      {"depthwise_steps_multiplied", 1, 2, 6, 2, 14, 14, 3, 3, {2, 2}, {1, 1, 1, 1}},
      {"depthwise_steps_of_one_tap", 1, 3, 3, 3, 12, 12, 1, 1, {2, 2}},
      {"depthwise_three_steps", 1, 3, 3, 3, 15, 14, 3, 3, {3, 3}, {1, 1, 1, 1}},
      {"depthwise_long_steps_of_5x5", 1, 4, 4, 4, 36, 15, 5, 5, {2, 2}, {2, 1, 2, 3}},
      {"depthwise_long_steps_dilated", 1, 2, 2, 2, 39, 21, 3, 3, {2, 2}, {2, 3, 2, 3}, {2, 3}},
      {"depthwise_long_steps_multiplied", 1, 2, 6, 2, 14, 34, 3, 3, {2, 2}, {1, 1, 1, 1}},
      {"depthwise_flat", 1, 5, 5, 5, 17, 7, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_flat_multiplied", 2, 5, 10, 5, 18, 6, 3, 3, {1, 1}, {1, 1, 1, 1}},
      // Whole images in one tile, on widths up to one vector.
      {"depthwise_small_14x14", 3, 5, 5, 5, 14, 14, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_16x16", 1, 3, 3, 3, 16, 16, 5, 5, {1, 1}, {2, 2, 2, 2}},
      {"depthwise_small_15_columns", 2, 2, 2, 2, 13, 15, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_17_columns", 1, 2, 2, 2, 13, 17, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_7x7", 1, 5, 5, 5, 7, 7, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_9_columns", 1, 3, 3, 3, 11, 9, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_8x4", 1, 3, 3, 3, 8, 4, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_3_columns", 1, 3, 3, 3, 5, 3, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_1_column", 2, 3, 3, 3, 13, 1, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_1_row", 1, 3, 3, 3, 1, 13, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_1_pixel", 2, 19, 19, 19, 1, 1, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_multiplied", 2, 5, 15, 5, 8, 6, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_small_uneven_padding", 1, 2, 2, 2, 9, 11, 3, 2, {1, 1}, {0, 1, 2, 3}},
      {"depthwise_small_wide_padding", 2, 2, 2, 2, 3, 5, 3, 3, {1, 1}, {5, 4, 6, 5}},
      {"depthwise_small_without_padding", 1, 3, 3, 3, 16, 16, 3, 3},
      {"depthwise_small_dilated", 1, 3, 3, 3, 12, 14, 3, 3, {1, 1}, {2, 3, 2, 3}, {2, 3}},
      {"depthwise_small_steps", 2, 3, 3, 3, 28, 28, 3, 3, {2, 2}, {1, 1, 1, 1}},
      {"depthwise_small_odd_steps", 1, 3, 3, 3, 27, 29, 3, 5, {3, 2}, {1, 2, 0, 1}},
      // Tiles of several rows, on widths around those of vectors.
      {"depthwise_tall", 1, 3, 3, 3, 14, 16, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_tall_masked", 2, 3, 3, 3, 7, 28, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_tall_5x5", 1, 2, 2, 2, 8, 56, 5, 5, {1, 1}, {2, 2, 2, 2}},
      {"depthwise_tall_uneven_padding", 1, 2, 2, 2, 9, 44, 3, 2, {1, 1}, {0, 1, 2, 3}},
      {"depthwise_tall_wide_padding", 2, 2, 2, 2, 3, 30, 3, 3, {1, 1}, {5, 9, 4, 10}},
      {"depthwise_tall_multiplied", 1, 3, 6, 3, 6, 31, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_tall_without_padding", 1, 2, 2, 2, 14, 34, 3, 3},
      {"depthwise_tall_of_one_tap", 1, 3, 3, 3, 10, 32, 1, 1},
      {"depthwise_large_image", 1, 2, 2, 2, 421, 317, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"depthwise_large_steps", 1, 2, 2, 2, 61, 59, 5, 3, {2, 2}, {2, 1, 2, 1}},
      {"depthwise_prime_rows", 1, 2, 2, 2, 11, 33, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"everything_1", 1, 1, 1, 1, 1, 1, 1, 1},
      {"kernel_as_large_as_the_image", 1, 2, 3, 1, 5, 7, 5, 7},
      {"wide_as_vectors", 1, 16, 16, 1, 16, 16, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"empty_batch", 0, 3, 4, 1, 5, 5, 3, 3},
      // One tap on an image of whole vectors: a row of tiles, whole and not, and few filters.
      {"pointwise_whole_vectors", 2, 17, 24, 1, 4, 12, 1, 1},
      {"pointwise_vectors_left_over", 1, 7, 40, 1, 16, 14, 1, 1},
      {"pointwise_one_filter", 1, 33, 1, 1, 16, 1, 1, 1},
      {"pointwise_prime_filters", 1, 5, 67, 1, 8, 8, 1, 1},
      {"pointwise_with_strides", 1, 9, 24, 1, 8, 32, 1, 1, {2, 2}},
      {"pointwise_padded", 1, 9, 24, 1, 7, 15, 1, 1, {1, 1}, {0, 0, 1, 1}},
      {"pointwise_many_channels", 1, 257, 16, 1, 4, 4, 1, 1},
      {"pointwise_aliasing_channels", 1, 65, 16, 1, 32, 32, 1, 1},
      {"pointwise_aliasing_few_filters", 2, 9, 16, 1, 32, 64, 1, 1},
      // Few filters on rows of whole vectors.
      {"few_filters", 2, 3, 8, 1, 9, 96, 3, 3, {2, 2}, {1, 1, 1, 1}},
      {"few_filters_dilated", 1, 3, 5, 1, 8, 64, 3, 3, {1, 1}, {1, 2, 1, 2}, {1, 2}},
      {"few_filters_vectors_left_over", 1, 2, 12, 1, 3, 80, 2, 1},
      // Tiles of 7 and of 14 pixels, of three vectors of filters, of filters beyond the last one,
      // and of whole lines.
      {"seven_pixels", 1, 6, 32, 1, 13, 7, 1, 1},
      {"fourteen_pixels", 1, 70, 16, 1, 7, 14, 1, 1},
      {"three_vectors", 1, 5, 48, 1, 9, 9, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"seven_vectors", 2, 3, 109, 1, 8, 9, 3, 3},
      {"whole_lines", 1, 3, 32, 1, 8, 32, 3, 3, {1, 1}, {1, 1, 1, 1}},
      {"whole_lines_strided", 1, 2, 16, 1, 9, 32, 3, 3, {2, 2}, {1, 1, 1, 1}},
      // Windows that cover all rows of the image.
      {"covering", 2, 5, 5, 5, 2, 33, 5, 5, {1, 1}, {2, 2, 2, 2}},
      {"covering_strided", 1, 7, 7, 7, 3, 96, 5, 5, {2, 1}, {2, 2, 2, 2}},
      {"covering_multiplied", 1, 3, 6, 3, 3, 16, 5, 3, {1, 1}, {2, 1, 2, 1}},
      {"covering_many_columns", 1, 2, 2, 2, 3, 389, 5, 3, {1, 1}, {2, 0, 2, 3}},
      {"covering_dilated", 1, 2, 2, 2, 2, 40, 3, 3, {1, 1}, {1, 2, 1, 2}, {1, 2}},
      {"almost_covering", 1, 3, 3, 3, 4, 32, 5, 5, {1, 1}, {2, 2, 2, 2}},
  };
  for (const ConvCase& original : convs) {
    for (const auto& [data, kernel] : {std::pair("NCHW", "OIHW"), std::pair("NHWC", "OIHW"),
                                       std::pair("NHWC", "HWIO"), std::pair("HWCN", "HWIO")}) {
      ConvCase c = original;
      c.data_layout = data;
      c.kernel_layout = kernel;
      cases->push_back(
          {StrCat("conv2d_", c.name, "_", data, "_", kernel),
           {F("x", InOrder("NCHW", data, {c.batch, c.in, c.height, c.width})),
            F("w", InOrder("OIHW", kernel, {c.out, c.in / c.groups, c.kernel_h, c.kernel_w}))},
           StrCat("nn.conv2d(%x, %w, strides=[", StrJoin(c.strides, ", "), "], padding=[",
                  StrJoin(c.padding, ", "), "], dilation=[", StrJoin(c.dilation, ", "),
                  "], groups=", c.groups, ", data_layout=\"", data, "\", kernel_layout=\"", kernel,
                  "\")"),
           [c](const Arrays& in) {
             const Array y = NaiveConv(c, Reordered(in[0], c.data_layout, "NCHW"),
                                       Reordered(in[1], c.kernel_layout, "OIHW"));
             return Arrays{Reordered(y, "NCHW", c.data_layout)};
           }});
    }
  }
  const ConvCase other{"", 1, 3, 5, 1, 6, 7, 3, 3};
  cases->push_back({"conv2d_result_in_another_layout",
                    {F("x", {1, 3, 6, 7}), F("w", {5, 3, 3, 3})},
                    "nn.conv2d(%x, %w, out_layout=\"NHWC\")",
                    [other](const Arrays& in) {
                      return Arrays{Reordered(NaiveConv(other, in[0], in[1]), "NCHW", "NHWC")};
                    }});
}

void AddUpSamplings(std::vector<OpCase>* cases) {
  for (const UpSample& u :
       {UpSample{"twice", 2, 3, {10, 21}}, UpSample{"by_parts", 1.5, 0.5, {8, 4}},
        UpSample{"to_one", 0.2, 1, {1, 7}}})
    for (const std::string layout : {"NCHW", "NHWC"})
      for (const bool corners : {false, true})
        cases->push_back(
            {StrCat("upsampling_", u.name, "_", layout, corners ? "_aligned" : ""),
             {F("x", InOrder("NCHW", layout, {2, 3, 5, 7}))},
             StrCat("nn.upsampling(%x, scale_h=", u.h, "f, scale_w=", u.w, "f, layout=\"", layout,
                    "\", align_corners=", corners ? "True" : "False", ")"),
             [=](const Arrays& in) {
               const Array x = Reordered(in[0], layout, "NCHW");
               const Array y = Make({2, 3, u.result[0], u.result[1]}, [&](const Index& at) {
                 Index from = at;
                 for (std::size_t d = 2; d < 4; ++d) {
                   const auto n = static_cast<double>(x.shape[d]);
                   const auto h = static_cast<double>(u.result[d - 2]);
                   const auto i = static_cast<double>(at[d]);
                   // The small term keeps a quotient that is whole from being rounded down.
                   const double source =
                       corners ? std::floor(i * (n - 1) / std::max(1.0, h - 1) + 0.5 + 1e-9)
                               : std::floor(i * n / h + 1e-9);
                   from[d] = static_cast<std::int64_t>(source);
                 }
                 return x(from);
               });
               return Arrays{Reordered(y, "NCHW", layout)};
             }});
  // Nearest by thirds, and means of neighbours half-way between them.
  cases->push_back({"upsampling3d_nearest",
                    {F("x", {1, 2, 3, 2, 5})},
                    "nn.upsampling3d(%x, scale_d=2f, scale_h=3f, scale_w=1f, "
                    "coordinate_transformation_mode=\"asymmetric\")",
                    Move({1, 2, 6, 6, 5}, [](const Index& i) {
                      return Index{i[0], i[1], i[2] / 2, i[3] / 3, i[4]};
                    })});
  cases->push_back({"upsampling3d_trilinear",
                    {F("x", {2, 3, 1, 4, 2})},
                    "nn.upsampling3d(%x, scale_d=1f, scale_h=2f, scale_w=1f, "
                    "layout=\"NDHWC\", method=\"trilinear\")",
                    [](const Arrays& in) {
                      return Arrays{Make({2, 3, 2, 4, 2}, [&](const Index& at) {
                        return in[0]({at[0], at[1], 0, at[3], at[4]});
                      })};
                    }});
  cases->push_back({"upsampling3d_half_pixel",
                    {F("x", {1, 1, 1, 1, 5})},
                    "nn.upsampling3d(%x, scale_d=1f, scale_h=1f, scale_w=2f, "
                    "method=\"trilinear\")",
                    [](const Arrays& in) {
                      return Arrays{Make({1, 1, 1, 1, 10}, [&](const Index& at) {
                        const double x =
                            std::clamp((static_cast<double>(at[4]) + 0.5) / 2 - 0.5, 0.0, 4.0);
                        const double f = x - std::floor(x);
                        const auto i = static_cast<std::int64_t>(x);
                        return (1 - f) * in[0]({0, 0, 0, 0, i}) +
                               f * in[0]({0, 0, 0, 0, std::min<std::int64_t>(i + 1, 4)});
                      })};
                    }});
}

}  // namespace tenon::operator_cases
