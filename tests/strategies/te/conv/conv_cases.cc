// Convolutions over one and three axes, and transposed ones.
#include <algorithm>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

struct ConvCase {
  std::string name;
  std::int64_t batch, in, out, groups;
  Shape image, kernel, strides, before, after, dilation;
  Shape output_padding = {};
  std::string data_layout = "", kernel_layout = "";
};

std::string Letters(const char* first, std::size_t dims) {
  return first + std::string("DHW").substr(3 - dims);
}

Shape Joined(Shape a, const Shape& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Array NaiveConv(const ConvCase& c, const Array& x, const Array& w) {
  Shape shape = {c.batch, c.out};
  for (std::size_t d = 0; d < c.image.size(); ++d)
    shape.push_back(
        (c.image[d] + c.before[d] + c.after[d] - c.dilation[d] * (c.kernel[d] - 1) - 1) /
            c.strides[d] +
        1);
  const std::int64_t group_in = c.in / c.groups, group_out = c.out / c.groups;
  return Make(shape, [&](const Index& at) {
    double sum = 0;
    ForEach(Joined({group_in}, c.kernel), [&](const Index& k) {
      Index from = {at[0], at[1] / group_out * group_in + k[0]};
      for (std::size_t d = 0; d < c.image.size(); ++d) {
        from.push_back(at[d + 2] * c.strides[d] + k[d + 1] * c.dilation[d] - c.before[d]);
        if (from.back() < 0 || from.back() >= c.image[d]) return;
      }
      Index tap = {at[1]};
      tap.insert(tap.end(), k.begin(), k.end());
      sum += x(from) * w(tap);
    });
    return sum;
  });
}

// Every element of the data adds its kernel to the result.
Array NaiveTranspose(const ConvCase& c, const Array& x, const Array& w) {
  Shape shape = {c.batch, c.out};
  for (std::size_t d = 0; d < c.image.size(); ++d)
    shape.push_back((c.image[d] - 1) * c.strides[d] - c.before[d] - c.after[d] +
                    c.dilation[d] * (c.kernel[d] - 1) + 1 + c.output_padding[d]);
  Array y = Make(shape, [](const Index&) { return 0.0; });
  const std::int64_t group_in = c.in / c.groups, group_out = c.out / c.groups;
  ForEach(Joined({c.batch, c.in}, c.image), [&](const Index& at) {
    ForEach(Joined({group_out}, c.kernel), [&](const Index& k) {
      Index to = {at[0], at[1] / group_in * group_out + k[0]};
      for (std::size_t d = 0; d < c.image.size(); ++d) {
        to.push_back(at[d + 2] * c.strides[d] + k[d + 1] * c.dilation[d] - c.before[d]);
        if (to.back() < 0 || to.back() >= shape[d + 2]) return;
      }
      Index tap = {at[1]};
      tap.insert(tap.end(), k.begin(), k.end());
      y.values[y.Offset(to)] += x(at) * w(tap);
    });
  });
  return y;
}

void AddCase(const ConvCase& c, bool transposed, std::vector<OpCase>* cases) {
  const std::size_t dims = c.image.size();
  const std::string data = c.data_layout.empty() ? Letters("NC", dims) : c.data_layout;
  const std::string plain_kernel = Letters(transposed ? "IO" : "OI", dims);
  const std::string kernel = c.kernel_layout.empty() ? plain_kernel : c.kernel_layout;
  const Shape weight =
      Joined(transposed ? Shape{c.in, c.out / c.groups} : Shape{c.out, c.in / c.groups}, c.kernel);
  const std::string op = StrCat("conv", dims, "d", transposed ? "_transpose" : "");
  std::string attributes = StrCat("strides=[", StrJoin(c.strides, ", "), "], padding=[",
                                  StrJoin(Joined(c.before, c.after), ", "), "], dilation=[",
                                  StrJoin(c.dilation, ", "), "], groups=", c.groups,
                                  ", data_layout=\"", data, "\", kernel_layout=\"", kernel, "\"");
  if (transposed)
    StrAppend(&attributes, ", output_padding=[", StrJoin(c.output_padding, ", "), "]");
  cases->push_back({StrCat(op, "_", c.name),
                    {F("x", InOrder(Letters("NC", dims), data, Joined({c.batch, c.in}, c.image))),
                     F("w", InOrder(plain_kernel, kernel, weight))},
                    StrCat("nn.", op, "(%x, %w, ", attributes, ")"),
                    [=](const Arrays& in) {
                      const std::string plain = Letters("NC", dims);
                      const Array x = Reordered(in[0], data, plain);
                      const Array w = Reordered(in[1], kernel, plain_kernel);
                      return Arrays{Reordered(
                          transposed ? NaiveTranspose(c, x, w) : NaiveConv(c, x, w), plain, data)};
                    }});
}

}  // namespace

void AddMoreConvolutions(std::vector<OpCase>* cases) {
  const std::vector<ConvCase> convs = {
      {"plain", 2, 3, 5, 1, {17}, {3}, {1}, {0}, {0}, {1}},
      {"padded", 1, 17, 16, 1, {64}, {5}, {2}, {2}, {1}, {1}},
      {"dilated", 1, 4, 7, 1, {31}, {3}, {3}, {2}, {4}, {5}},
      {"groups", 1, 6, 15, 3, {13}, {2}, {1}, {1}, {0}, {2}},
      {"one_element", 1, 1, 1, 1, {1}, {1}, {1}, {0}, {0}, {1}},
      {"channels_last", 2, 5, 33, 1, {65}, {3}, {1}, {1}, {1}, {1}, {}, "NWC", "WIO"},
      {"empty_batch", 0, 3, 4, 1, {5}, {3}, {1}, {0}, {0}, {1}},
      {"plain", 1, 3, 5, 1, {5, 7, 6}, {2, 3, 3}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}},
      {"padded", 2, 4, 16, 1, {5, 9, 17}, {3, 3, 3}, {2, 1, 2}, {1, 0, 1}, {1, 2, 1}, {1, 2, 1}},
      {"groups", 1, 4, 6, 2, {3, 4, 5}, {1, 2, 2}, {1, 2, 1}, {0, 1, 0}, {0, 0, 1}, {1, 1, 2}},
      {"channels_last",
       1,
       3,
       8,
       1,
       {4, 5, 6},
       {2, 2, 2},
       {1, 1, 1},
       {1, 1, 1},
       {0, 0, 0},
       {1, 1, 1},
       {},
       "NDHWC",
       "DHWIO"},
  };
  for (const ConvCase& c : convs) AddCase(c, false, cases);
  const std::vector<ConvCase> transposed = {
      {"plain", 2, 3, 5, 1, {7}, {3}, {1}, {0}, {0}, {1}, {0}},
      {"strided", 1, 5, 4, 1, {13}, {4}, {3}, {1}, {2}, {1}, {1}},
      {"dilated", 1, 3, 2, 1, {6}, {3}, {2}, {2}, {0}, {3}, {1}},
      {"channels_last", 1, 3, 4, 1, {9}, {2}, {2}, {0}, {0}, {1}, {0}, "NWC", "WOI"},
      {"upscale", 1, 24, 24, 1, {16, 17}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {"upscale_to_one", 1, 17, 1, 1, {15, 33}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {"odd", 2, 3, 5, 1, {5, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {"uneven", 1, 4, 3, 1, {6, 5}, {3, 5}, {1, 4}, {2, 0}, {1, 3}, {1, 1}, {0, 2}},
      {"kernel_less_than_stride",
       1,
       2,
       3,
       1,
       {4, 5},
       {1, 2},
       {3, 3},
       {0, 0},
       {0, 0},
       {1, 1},
       {1, 0}},
      {"groups", 1, 6, 9, 3, {7, 7}, {3, 2}, {2, 1}, {1, 0}, {0, 1}, {1, 1}, {0, 0}},
      {"depthwise", 1, 8, 8, 8, {9, 6}, {4, 4}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, {0, 0}},
      {"dilated", 1, 2, 3, 1, {4, 4}, {3, 3}, {2, 3}, {1, 2}, {2, 1}, {2, 2}, {0, 1}},
      {"one_element", 1, 1, 1, 1, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, {0, 0}},
      {"channels_last",
       1,
       3,
       16,
       1,
       {5, 6},
       {3, 3},
       {2, 2},
       {0, 1},
       {1, 0},
       {1, 1},
       {1, 1},
       "NHWC",
       "HWOI"},
      {"padding_beyond_a_step", 1, 2, 2, 1, {7, 8}, {5, 5}, {2, 2}, {4, 3}, {3, 4}, {1, 1}, {0, 0}},
      {"plain",
       1,
       2,
       3,
       1,
       {3, 4, 5},
       {2, 3, 2},
       {1, 1, 1},
       {0, 0, 0},
       {0, 0, 0},
       {1, 1, 1},
       {0, 0, 0}},
      {"strided",
       1,
       3,
       4,
       1,
       {3, 2, 5},
       {3, 2, 3},
       {2, 2, 2},
       {1, 0, 1},
       {1, 0, 1},
       {1, 1, 1},
       {1, 0, 1}},
  };
  for (const ConvCase& c : transposed) AddCase(c, true, cases);
}

}  // namespace tenon::operator_cases
