// Pooling over windows, into bins and over whole images.
#include <algorithm>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

// Lists hold one value a spatial axis, padding one a side.
struct PoolCase {
  std::string name;
  Shape image, size, strides, padding;
  Shape dilation = Shape(size.size(), 1);
  bool ceil_mode = false;
};

// What one window covers: values, and how many taps lie in the padded image.
struct Covered {
  std::vector<double> values;
  int padded = 0;
};
using Join = std::function<double(const Covered&)>;

Array NaivePool(const PoolCase& p, const Array& x, const Join& join) {
  const std::size_t dims = p.size.size();
  Shape shape = {x.shape[0], x.shape[1]};
  for (std::size_t d = 0; d < dims; ++d) {
    const std::int64_t room =
        x.shape[d + 2] + p.padding[d] + p.padding[d + dims] - p.dilation[d] * (p.size[d] - 1) - 1;
    shape.push_back((p.ceil_mode ? (room + p.strides[d] - 1) / p.strides[d] : room / p.strides[d]) +
                    1);
  }
  return Make(shape, [&](const Index& at) {
    Covered covered;
    ForEach(p.size, [&](const Index& k) {
      Index from = at;
      bool inside = true, padded = true;
      for (std::size_t d = 0; d < dims; ++d) {
        const std::int64_t i = at[d + 2] * p.strides[d] + k[d] * p.dilation[d] - p.padding[d];
        inside = inside && i >= 0 && i < x.shape[d + 2];
        padded = padded && i < x.shape[d + 2] + p.padding[d + dims];
        from[d + 2] = i;
      }
      if (padded) ++covered.padded;
      if (inside) covered.values.push_back(x(from));
    });
    return join(covered);
  });
}

void AddWindows(const PoolCase& p, const std::string& canonical, const std::string& layout,
                std::vector<OpCase>* cases) {
  const auto greatest = [](const Covered& c) { return GreatestOf(c.values); };
  const auto mean = [](const Covered& c) {
    return SumOf(c.values) / std::max<double>(1, static_cast<double>(c.values.size()));
  };
  const auto padded_mean = [](const Covered& c) { return SumOf(c.values) / std::max(1, c.padded); };
  const std::string op = StrCat("_pool", p.size.size(), "d");
  const std::string attributes =
      StrCat("pool_size=[", StrJoin(p.size, ", "), "], strides=[", StrJoin(p.strides, ", "),
             "], padding=[", StrJoin(p.padding, ", "), "], dilation=[", StrJoin(p.dilation, ", "),
             "], ceil_mode=", p.ceil_mode ? "True" : "False", ", layout=\"", layout, "\"");
  const auto add = [&](const std::string& name, const std::string& body, const Join& join) {
    cases->push_back({StrCat(name, "_", p.name, "_", layout),
                      {F("x", InOrder(canonical, layout, p.image), -2, -1)},
                      body,
                      [=](const Arrays& in) {
                        const Array y = NaivePool(p, Reordered(in[0], layout, canonical), join);
                        return Arrays{Reordered(y, canonical, layout)};
                      }});
  };
  add(StrCat("max", op), StrCat("nn.max", op, "(%x, ", attributes, ")"), greatest);
  add(StrCat("avg", op), StrCat("nn.avg", op, "(%x, ", attributes, ")"), mean);
  add(StrCat("avg", op, "_with_padding"),
      StrCat("nn.avg", op, "(%x, ", attributes, ", count_include_pad=True)"), padded_mean);
}

struct BinCase {
  const char* name;
  Shape image, bins;
};

// Bin i of n of e elements: those at j with j + 1 > i * e / n and j < (i + 1) * e / n, in
// fractions.
Array NaiveBins(const Array& x, const Shape& bins, const Joiner& join) {
  Shape shape = {x.shape[0], x.shape[1]};
  shape.insert(shape.end(), bins.begin(), bins.end());
  return Make(shape, [&](const Index& at) {
    std::vector<double> covered;
    ForEach(Shape(x.shape.begin() + 2, x.shape.end()), [&](const Index& j) {
      Index from = {at[0], at[1]};
      for (std::size_t d = 0; d < j.size(); ++d) {
        const std::int64_t extent = x.shape[d + 2], n = bins[d], i = at[d + 2];
        if ((j[d] + 1) * n <= i * extent || j[d] * n >= (i + 1) * extent) return;
        from.push_back(j[d]);
      }
      covered.push_back(x(from));
    });
    return join(covered);
  });
}

void AddBins(const BinCase& c, const std::string& canonical, const std::string& layout,
             std::vector<OpCase>* cases) {
  for (const bool is_max : {true, false}) {
    const std::string op =
        StrCat("adaptive_", is_max ? "max" : "avg", "_pool", c.image.size() - 2, "d");
    const Shape bins = c.bins.empty() ? Shape(c.image.begin() + 2, c.image.end()) : c.bins;
    cases->push_back({StrCat(op, "_", c.name, "_", layout),
                      {F("x", InOrder(canonical, layout, c.image), -2, -1)},
                      StrCat("nn.", op, "(%x, output_size=[", StrJoin(c.bins, ", "), "], layout=\"",
                             layout, "\")"),
                      [=](const Arrays& in) {
                        const Array y = NaiveBins(Reordered(in[0], layout, canonical), bins,
                                                  is_max ? GreatestOf : MeanOf);
                        return Arrays{Reordered(y, canonical, layout)};
                      }});
  }
}

}  // namespace

void AddPools(std::vector<OpCase>* cases) {
  for (const PoolCase& p : {
           PoolCase{"row", {2, 3, 17}, {3}, {2}, {1, 1}},
           PoolCase{"row_uneven", {1, 5, 16}, {4}, {3}, {0, 2}, {2}},
           PoolCase{"row_ceil", {1, 2, 15}, {2}, {4}, {1, 0}, {1}, true},
           PoolCase{"row_within_a_window", {2, 3, 5}, {8}, {4}, {1, 0}, {1}, true},
           PoolCase{"row_beyond", {1, 2, 8}, {3}, {std::int64_t{1} << 40}, {1, 1}, {1}, true},
           PoolCase{"row_of_1", {3, 1, 1}, {1}, {1}, {0, 0}},
       })
    for (const char* layout : {"NCW", "NWC"}) AddWindows(p, "NCW", layout, cases);
  for (const PoolCase& p : {
           PoolCase{"2x2", {1, 3, 8, 10}, {2, 2}, {2, 2}, {0, 0, 0, 0}},
           PoolCase{"overlapping", {2, 5, 11, 13}, {3, 3}, {2, 2}, {1, 1, 1, 1}},
           PoolCase{"uneven", {1, 2, 9, 7}, {2, 3}, {1, 2}, {0, 1, 1, 2}},
           PoolCase{"dilated", {1, 2, 11, 11}, {3, 2}, {2, 1}, {1, 1, 1, 1}, {2, 3}},
           PoolCase{"whole_image", {1, 4, 5, 7}, {5, 7}, {1, 1}, {0, 0, 0, 0}},
           PoolCase{"ceil", {1, 3, 8, 11}, {3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}, true},
           PoolCase{
               "ceil_without_padding", {1, 1, 6, 6}, {3, 3}, {2, 2}, {0, 0, 0, 0}, {1, 1}, true},
           PoolCase{"extent_1", {1, 17, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
           PoolCase{"within_a_window", {1, 3, 3, 9}, {3, 2}, {5, 2}, {0, 0, 0, 0}, {2, 1}, true},
           PoolCase{"ceil_uneven", {1, 1, 7, 5}, {2, 2}, {3, 2}, {0, 0, 1, 1}, {1, 1}, true},
       })
    for (const char* layout : {"NCHW", "NHWC"}) AddWindows(p, "NCHW", layout, cases);
  for (const PoolCase& p : {
           PoolCase{"cube", {1, 2, 5, 6, 7}, {2, 2, 2}, {2, 2, 2}, {0, 0, 0, 0, 0, 0}},
           PoolCase{
               "cube_uneven", {2, 1, 5, 4, 7}, {3, 2, 2}, {1, 2, 3}, {1, 0, 2, 0, 1, 1}, {1, 2, 1}},
           PoolCase{"cube_ceil",
                    {1, 3, 5, 4, 6},
                    {2, 3, 2},
                    {2, 2, 3},
                    {1, 1, 0, 1, 0, 1},
                    {1, 1, 2},
                    true},
       })
    for (const char* layout : {"NCDHW", "NDHWC"}) AddWindows(p, "NCDHW", layout, cases);
  cases->push_back(
      {"max_pool2d_of_int32",
       {I("x", {1, 2, 5, 5}, -9, -1)},
       "nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1])",
       [](const Arrays& in) {
         const PoolCase p{"", {}, {3, 3}, {1, 1}, {1, 1, 1, 1}};
         return Arrays{NaivePool(p, in[0], [](const Covered& c) { return GreatestOf(c.values); })};
       }});
  for (const BinCase& c : {BinCase{"even", {2, 3, 15}, {5}}, BinCase{"uneven", {1, 2, 17}, {7}},
                           BinCase{"more_bins", {1, 2, 3}, {5}}, BinCase{"one", {2, 1, 13}, {1}}})
    for (const char* layout : {"NCW", "NWC"}) AddBins(c, "NCW", layout, cases);
  for (const BinCase& c :
       {BinCase{"even", {1, 3, 6, 8}, {3, 2}}, BinCase{"uneven", {2, 3, 7, 11}, {3, 4}},
        BinCase{"even_and_uneven", {1, 17, 8, 5}, {4, 3}}, BinCase{"whole", {1, 2, 5, 7}, {}},
        BinCase{"empty_batch", {0, 2, 5, 7}, {2, 2}}})
    for (const char* layout : {"NCHW", "NHWC"}) AddBins(c, "NCHW", layout, cases);
  for (const BinCase& c :
       {BinCase{"even", {1, 2, 4, 6, 2}, {2, 3, 1}}, BinCase{"uneven", {1, 2, 5, 3, 7}, {2, 2, 3}}})
    for (const char* layout : {"NCDHW", "NDHWC"}) AddBins(c, "NCDHW", layout, cases);
  cases->push_back({"adaptive_max_pool1d_of_int32",
                    {I("x", {1, 2, 7}, -9, -1)},
                    "nn.adaptive_max_pool1d(%x, output_size=[3])",
                    [](const Arrays& in) { return Arrays{NaiveBins(in[0], {3}, GreatestOf)}; }});
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

}  // namespace tenon::operator_cases
