// Convolution, pooling and scaling of images.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

// The order of the axes of `layout` as positions of the letters of `canonical`.
Array Reordered(const Array& x, const std::string& from, const std::string& to) {
  Shape shape;
  for (const char letter : to) shape.push_back(x.shape[from.find(letter)]);
  return Make(shape, [&](const Index& at) {
    Index source(at.size());
    for (std::size_t d = 0; d < at.size(); ++d) source[from.find(to[d])] = at[d];
    return x(source);
  });
}

Shape InOrder(const std::string& letters, const std::string& layout, const Shape& shape) {
  Shape ordered;
  for (const char letter : layout) ordered.push_back(shape[letters.find(letter)]);
  return ordered;
}

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

struct PoolCase {
  std::string name;
  Shape image, size, strides = {1, 1}, padding = {0, 0, 0, 0}, dilation = {1, 1};
  bool ceil_mode = false;
};

// What one window covers: values, and how many taps lie in the padded image.
struct Covered {
  std::vector<double> values;
  int padded = 0;
};

Array NaivePool(const PoolCase& p, const Array& x,
                const std::function<double(const Covered&)>& join) {
  Shape shape = {x.shape[0], x.shape[1]};
  for (std::size_t d = 0; d < 2; ++d) {
    const std::int64_t room =
        x.shape[d + 2] + p.padding[d] + p.padding[d + 2] - p.dilation[d] * (p.size[d] - 1) - 1;
    shape.push_back((p.ceil_mode ? (room + p.strides[d] - 1) / p.strides[d] : room / p.strides[d]) +
                    1);
  }
  return Make(shape, [&](const Index& at) {
    Covered covered;
    ForEach(p.size, [&](const Index& k) {
      Index from = at;
      bool inside = true, padded = true;
      for (std::size_t d = 0; d < 2; ++d) {
        const std::int64_t i = at[d + 2] * p.strides[d] + k[d] * p.dilation[d] - p.padding[d];
        inside = inside && i >= 0 && i < x.shape[d + 2];
        padded = padded && i < x.shape[d + 2] + p.padding[d + 2];
        from[d + 2] = i;
      }
      if (padded) ++covered.padded;
      if (inside) covered.values.push_back(x(from));
    });
    return join(covered);
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
      {"depthwise_multiplied", 1, 5, 10, 5, 8, 6, 3, 3, {1, 1}, {1, 1, 1, 1}},
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
      // Few filters on rows of whole vectors.
      {"few_filters", 2, 3, 8, 1, 9, 96, 3, 3, {2, 2}, {1, 1, 1, 1}},
      {"few_filters_dilated", 1, 3, 5, 1, 8, 64, 3, 3, {1, 1}, {1, 2, 1, 2}, {1, 2}},
      {"few_filters_vectors_left_over", 1, 2, 12, 1, 3, 80, 2, 1},
      // Windows that cover all rows of the image.
      {"covering", 2, 5, 5, 5, 2, 33, 5, 5, {1, 1}, {2, 2, 2, 2}},
      {"covering_strided", 1, 7, 7, 7, 3, 96, 5, 5, {2, 1}, {2, 2, 2, 2}},
      {"covering_multiplied", 1, 3, 6, 3, 3, 16, 5, 3, {1, 1}, {2, 1, 2, 1}},
      {"covering_many_columns", 1, 2, 2, 2, 3, 389, 5, 3, {1, 1}, {2, 0, 2, 3}},
      {"covering_dilated", 1, 2, 2, 2, 2, 40, 3, 3, {1, 1}, {1, 2, 1, 2}, {1, 2}},
      {"almost_covering", 1, 3, 3, 3, 4, 32, 5, 5, {1, 1}, {2, 2, 2, 2}},
  };
  for (const ConvCase& original : convs) {
    for (const auto& [data, kernel] :
         {std::pair("NCHW", "OIHW"), std::pair("NHWC", "OIHW"), std::pair("NHWC", "HWIO")}) {
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

void AddPools(std::vector<OpCase>* cases) {
  const std::vector<PoolCase> pools = {
      {"2x2", {1, 3, 8, 10}, {2, 2}, {2, 2}},
      {"overlapping", {2, 5, 11, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
      {"uneven", {1, 2, 9, 7}, {2, 3}, {1, 2}, {0, 1, 1, 2}},
      {"dilated", {1, 2, 11, 11}, {3, 2}, {2, 1}, {1, 1, 1, 1}, {2, 3}},
      {"whole_image", {1, 4, 5, 7}, {5, 7}},
      {"ceil", {1, 3, 8, 11}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, true},
      {"ceil_without_padding", {1, 1, 6, 6}, {3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}, true},
      {"extent_1", {1, 17, 1, 1}, {1, 1}},
      {"ceil_uneven", {1, 1, 7, 5}, {2, 2}, {3, 2}, {0, 0, 1, 1}, {1, 1}, true},
  };
  const auto greatest = [](const Covered& c) { return GreatestOf(c.values); };
  const auto mean = [](const Covered& c) {
    return SumOf(c.values) / std::max<double>(1, static_cast<double>(c.values.size()));
  };
  const auto padded_mean = [](const Covered& c) { return SumOf(c.values) / std::max(1, c.padded); };
  for (const PoolCase& p : pools) {
    for (const std::string layout : {"NCHW", "NHWC"}) {
      const std::string attributes = StrCat(
          "pool_size=[", StrJoin(p.size, ", "), "], strides=[", StrJoin(p.strides, ", "),
          "], padding=[", StrJoin(p.padding, ", "), "], dilation=[", StrJoin(p.dilation, ", "),
          "], ceil_mode=", p.ceil_mode ? "True" : "False", ", layout=\"", layout, "\"");
      const auto add = [&](const char* name, const std::string& body,
                           const std::function<double(const Covered&)>& join) {
        cases->push_back({StrCat(name, "_", p.name, "_", layout),
                          {F("x", InOrder("NCHW", layout, p.image), -2, -1)},
                          body,
                          [p, join, layout](const Arrays& in) {
                            const Array y = NaivePool(p, Reordered(in[0], layout, "NCHW"), join);
                            return Arrays{Reordered(y, "NCHW", layout)};
                          }});
      };
      add("max_pool2d", StrCat("nn.max_pool2d(%x, ", attributes, ")"), greatest);
      add("avg_pool2d", StrCat("nn.avg_pool2d(%x, ", attributes, ")"), mean);
      add("avg_pool2d_with_padding",
          StrCat("nn.avg_pool2d(%x, ", attributes, ", count_include_pad=True)"), padded_mean);
    }
  }
  cases->push_back(
      {"max_pool2d_of_int32",
       {I("x", {1, 2, 5, 5}, -9, -1)},
       "nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1])",
       [](const Arrays& in) {
         const PoolCase p{"", {}, {3, 3}, {1, 1}, {1, 1, 1, 1}};
         return Arrays{NaivePool(p, in[0], [](const Covered& c) { return GreatestOf(c.values); })};
       }});
  for (const std::string layout : {"NCHW", "NHWC"}) {
    const std::vector<bool> spatial = layout == "NCHW"
                                          ? std::vector<bool>{false, false, true, true}
                                          : std::vector<bool>{false, true, true, false};
    const Shape image = InOrder("NCHW", layout, {2, 17, 5, 7});
    cases->push_back({StrCat("global_max_pool2d_", layout),
                      {F("x", image, -2, -1)},
                      StrCat("nn.global_max_pool2d(%x, layout=\"", layout, "\")"),
                      Fold(spatial, true, GreatestOf)});
    cases->push_back({StrCat("global_avg_pool2d_", layout),
                      {F("x", image)},
                      StrCat("nn.global_avg_pool2d(%x, layout=\"", layout, "\")"),
                      Fold(spatial, true, MeanOf)});
  }
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
}

}  // namespace tenon::operator_cases
