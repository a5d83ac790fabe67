// Operators that write or move regions, look for elements, warp images and scale by fixed points.
#include <algorithm>
#include <cmath>
#include <map>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

// v written into a copy of the data element by element, as a loop over each slice's indices.
Reference Written(Index begin, Index end, Index strides) {
  return [=](const Arrays& in) {
    Array result = in[0];
    std::vector<Index> places(begin.size());
    for (std::size_t d = 0; d < begin.size(); ++d) {
      const std::int64_t n = in[0].shape[d];
      const auto counted = [&](std::int64_t i) { return i < 0 ? i + n : i; };
      const bool falls = strides[d] < 0;
      const std::int64_t low = falls ? -1 : 0, high = falls ? n - 1 : n;
      const std::int64_t first = std::clamp(counted(begin[d]), low, high);
      const std::int64_t last = std::clamp(counted(end[d]), low, high);
      for (std::int64_t i = first; strides[d] != 0 && (falls ? i > last : i < last);
           i += strides[d])
        places[d].push_back(i);
    }
    ForEach(in[1].shape, [&](const Index& at) {
      Index to;
      for (std::size_t d = 0; d < at.size(); ++d) {
        if (at[d] >= static_cast<std::int64_t>(places[d].size())) return;
        to.push_back(places[d][static_cast<std::size_t>(at[d])]);
      }
      result.values[result.Offset(to)] = in[1](at);
    });
    return Arrays{result};
  };
}

std::vector<double> Doubles(const Index& values) { return {values.begin(), values.end()}; }

void AddStridedSet(std::vector<OpCase>* cases, const char* name, Shape shape, Shape part,
                   const Index& begin, const Index& end, const Index& strides) {
  const Shape rank = {static_cast<std::int64_t>(shape.size())};
  cases->push_back(
      {StrCat("strided_set_", name),
       {F("x", std::move(shape)), F("v", std::move(part)), With(L("b", rank), Doubles(begin)),
        With(L("e", rank), Doubles(end)), With(L("s", rank), Doubles(strides))},
       "strided_set(%x, %v, %b, %e, %s)",
       Written(begin, end, strides)});
}

// Diagonal by diagonal, from the highest down.
Reference WithDiagonals(std::int64_t k1, std::int64_t k2, bool super_right, bool sub_right) {
  return [=](const Arrays& in) {
    Array result = in[0];
    const std::size_t rank = result.rank();
    const std::int64_t rows = result.shape[rank - 2], columns = result.shape[rank - 1];
    const std::int64_t longest = in[1].shape.back();
    ForEach(Shape(result.shape.begin(), result.shape.end() - 2), [&](const Index& matrix) {
      for (std::int64_t k = k2; k >= k1; --k) {
        std::vector<Index> line;
        for (std::int64_t r = 0; r < rows; ++r) {
          if (r + k < 0 || r + k >= columns) continue;
          Index at = matrix;
          at.push_back(r);
          at.push_back(r + k);
          line.push_back(at);
        }
        const bool right = k >= 0 ? super_right : sub_right;
        const std::int64_t skip =
            right && k1 != k2 ? longest - static_cast<std::int64_t>(line.size()) : 0;
        for (std::size_t i = 0; i < line.size(); ++i) {
          Index from = matrix;
          if (k1 != k2) from.push_back(k2 - k);
          from.push_back(skip + static_cast<std::int64_t>(i));
          result.values[result.Offset(line[i])] = in[1](from);
        }
      }
    });
    return Arrays{result};
  };
}

// In ascending order or in that of first occurrences.
// The distinct slices along the first axis.
Reference Different(bool sorted, bool counts) {
  return [=](const Arrays& in) {
    const std::int64_t n = in[0].shape[0];
    using Slice = std::vector<double>;
    std::vector<Slice> slices, order;
    std::map<Slice, double> first, number;
    const auto width = static_cast<std::ptrdiff_t>(in[0].values.size()) / n;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto begin = in[0].values.begin() + i * width;
      slices.emplace_back(begin, begin + width);
      if (first.emplace(slices.back(), static_cast<double>(i)).second)
        order.push_back(slices.back());
      ++number[slices.back()];
    }
    if (sorted) std::sort(order.begin(), order.end());
    const auto line = [&](const std::function<double(const Slice&)>& of) {
      Array array = Make({n}, [](const Index&) { return 0.0; });
      for (std::size_t i = 0; i < order.size(); ++i) array.values[i] = of(order[i]);
      return array;
    };
    Array distinct = Make(in[0].shape, [](const Index&) { return 0.0; });
    auto to = distinct.values.begin();
    for (const Slice& slice : order) to = std::copy(slice.begin(), slice.end(), to);
    Arrays results = {distinct, line([&](const Slice& s) { return first[s]; }),
                      Make({n},
                           [&](const Index& i) {
                             const auto& slice = slices[static_cast<std::size_t>(i[0])];
                             const auto at = std::find(order.begin(), order.end(), slice);
                             return static_cast<double>(at - order.begin());
                           }),
                      Array{{1}, {static_cast<double>(order.size())}}};
    if (counts) results.push_back(line([&](const Slice& s) { return number[s]; }));
    return results;
  };
}

Reference Positions(bool right) {
  return [=](const Arrays& in) {
    return Arrays{Make(in[1].shape, [&](const Index& at) {
      double before = 0;
      for (std::int64_t i = 0; i < in[0].shape.back(); ++i) {
        Index from = {i};
        if (in[0].rank() > 1) from.insert(from.begin(), at.begin(), at.end() - 1);
        before += right ? in[0](from) <= in[1](at) : in[0](from) < in[1](at);
      }
      return before;
    })};
  };
}

std::vector<double> Ascending(std::int64_t rows, std::int64_t count) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows * count; ++i)
    values.push_back(std::floor(static_cast<double>(i % count) / 2) - 3 +
                     static_cast<double>(i / count));
  return values;
}

Reference Cropped(Shape size, bool nearest, double outside) {
  return [=](const Arrays& in) {
    const Array &x = in[0], &boxes = in[1];
    return Arrays{Make({boxes.shape[0], x.shape[1], size[0], size[1]}, [&](const Index& at) {
      const auto image = static_cast<std::int64_t>(in[2]({at[0]}));
      double place[2];
      for (std::int64_t d = 0; d < 2; ++d) {
        const auto last = static_cast<double>(x.shape[static_cast<std::size_t>(d + 2)] - 1);
        const double start = boxes({at[0], d}), end = boxes({at[0], d + 2});
        const std::int64_t count = size[static_cast<std::size_t>(d)];
        const auto i = static_cast<double>(at[static_cast<std::size_t>(d + 2)]);
        place[d] = count == 1
                       ? 0.5 * (start + end) * last
                       : start * last + i * (end - start) * last / static_cast<double>(count - 1);
        if (place[d] < 0 || place[d] > last) return outside;
      }
      const auto pixel = [&](double y, double column) {
        return x({image, at[1], static_cast<std::int64_t>(y), static_cast<std::int64_t>(column)});
      };
      if (nearest) return pixel(std::round(place[0]), std::round(place[1]));
      double sum = 0;
      for (const bool below : {false, true}) {
        for (const bool right : {false, true}) {
          const double fy = place[0] - std::floor(place[0]), fx = place[1] - std::floor(place[1]);
          const double weight = (below ? fy : 1 - fy) * (right ? fx : 1 - fx);
          sum += weight * pixel(below ? std::ceil(place[0]) : std::floor(place[0]),
                                right ? std::ceil(place[1]) : std::floor(place[1]));
        }
      }
      return sum;
    })};
  };
}

// The greatest sum of an element within the image and its weight.
Reference Dilated(Shape result, std::int64_t stride, std::int64_t dilation, std::int64_t pad,
                  double lowest) {
  return [=](const Arrays& in) {
    const Array &x = in[0], &w = in[1];
    return Arrays{Make(result, [&](const Index& at) {
      double greatest = lowest;
      for (std::int64_t i = 0; i < w.shape[1]; ++i) {
        for (std::int64_t j = 0; j < w.shape[2]; ++j) {
          const std::int64_t y = at[2] * stride + i * dilation - pad;
          const std::int64_t column = at[3] * stride + j * dilation - pad;
          if (y < 0 || y >= x.shape[2] || column < 0 || column >= x.shape[3]) continue;
          greatest = std::max(greatest, x({at[0], at[1], y, column}) + w({at[1], i, j}));
        }
      }
      return greatest;
    })};
  };
}

double FixedPoint(double x, double multiplier, double left, double right) {
  return std::floor((x * std::exp2(left) * multiplier + std::exp2(right + 30)) /
                    std::exp2(right + 31));
}

}  // namespace

void AddRegions(std::vector<OpCase>* cases) {
  AddStridedSet(cases, "rising", {7, 5}, {3, 2}, {0, 1}, {5, 4}, {2, 2});
  AddStridedSet(cases, "falling", {17}, {6}, {-1}, {-18}, {-3});
  AddStridedSet(cases, "from_the_end", {3, 7}, {3, 3}, {0, -3}, {3, 99}, {1, 1});
  AddStridedSet(cases, "with_too_few", {9}, {2}, {0}, {9}, {1});
  AddStridedSet(cases, "of_a_wide_step", {5}, {1}, {2}, {5}, {99});
  AddStridedSet(cases, "of_nothing", {5}, {1}, {3}, {3}, {1});
  AddStridedSet(cases, "without_a_step", {5}, {1}, {1}, {3}, {0});
  const auto diagonals = [&](const char* name, Shape x, Shape d, std::int64_t k1, std::int64_t k2,
                             bool super_right, bool sub_right) {
    cases->push_back({StrCat("matrix_set_diag_", name),
                      {F("x", std::move(x)), F("d", std::move(d))},
                      StrCat("matrix_set_diag(%x, %d, k1=", k1, ", k2=", k2,
                             ", super_diag_right_align=", super_right ? "True" : "False",
                             ", sub_diag_right_align=", sub_right ? "True" : "False", ")"),
                      WithDiagonals(k1, k2, super_right, sub_right)});
  };
  diagonals("main", {2, 3, 5}, {2, 3}, 0, 0, true, false);
  diagonals("above", {4, 3}, {2}, 1, 1, true, false);
  diagonals("band", {2, 4, 5}, {2, 4, 4}, -2, 1, true, false);
  diagonals("band_aligned_otherwise", {5, 3}, {4, 3}, -1, 2, false, true);
  diagonals("below", {7, 3}, {2, 3}, -3, -2, false, false);
  cases->push_back({"sliding_window",
                    {F("x", {2, 7, 9})},
                    "sliding_window(%x, axis=1, window_shape=[3, 4], strides=[2, 3])",
                    Move({2, 3, 2, 3, 4}, [](const Index& i) {
                      return Index{i[0], i[1] * 2 + i[3], i[2] * 3 + i[4]};
                    })});
  const auto fifo = [&](const char* name, std::int64_t arriving, std::int64_t held) {
    cases->push_back(
        {StrCat("fifo_buffer_", name),
         {F("x", {3, arriving, 2}), F("b", {3, held, 2})},
         "nn.fifo_buffer(%x, %b, axis=1)",
         [=](const Arrays& in) {
           return Arrays{Make(in[1].shape, [&](const Index& i) {
             const std::int64_t at = i[1] + arriving;
             return at < held ? in[1]({i[0], at, i[2]}) : in[0]({i[0], at - held, i[2]});
           })};
         }});
  };
  fifo("of_one", 1, 5);
  fifo("of_all", 4, 4);
  fifo("of_more", 7, 3);
  cases->push_back({"contrib_reverse_reshape",
                    {F("x", {10, 5, 4})},
                    "contrib_reverse_reshape(%x, newshape=[-1, 0])",
                    [](const Arrays& in) {
                      return Arrays{Reshaped(in[0], {50, 4})};
                    }});
}

void AddSearches(std::vector<OpCase>* cases) {
  for (const bool sorted : {true, false}) {
    for (const std::int64_t n : {1, 2, 17, 64}) {
      for (const bool counts : {true, false})
        cases->push_back({StrCat("unique_", n, sorted ? "_sorted" : "", counts ? "_counts" : ""),
                          {I("x", {n}, -5, 5)},
                          StrCat("unique(%x, sorted=", sorted ? "True" : "False",
                                 ", return_counts=", counts ? "True" : "False", ")"),
                          Different(sorted, counts)});
    }
  }
  for (const Shape& shape : {Shape{5, 0}, {1, 3}, {40, 1}, {70, 3}, {9, 2, 2}}) {
    for (const bool sorted : {true, false})
      cases->push_back(
          {StrCat("unique_slices_", StrJoin(shape, "_"), sorted ? "_sorted" : ""),
           {I("x", shape, 0, 2)},
           StrCat("unique(%x, sorted=", sorted ? "True" : "False", ", return_counts=True)"),
           Different(sorted, true)});
  }
  cases->push_back({"unique_slices_of_floats",
                    {With(F("x", {4, 2}), {0.5, -kInf, 0.5, kInf, 0.5, -kInf, -1, 3})},
                    "unique(%x, return_counts=True)",
                    Different(true, true)});
  cases->push_back({"unique_floats",
                    {With(F("x", {6}), {0.5, -kInf, 0.5, kInf, -1, -kInf})},
                    "unique(%x, return_counts=True)",
                    Different(true, true)});
  for (const bool right : {false, true}) {
    for (const std::int64_t n : {0, 1, 2, 15, 16, 17}) {
      Input sequence = With(F("s", {n}), Ascending(1, n));
      cases->push_back({StrCat("searchsorted_", n, right ? "_right" : "_left"),
                        {sequence, With(F("v", {2, 4}), {-3, -2.5, -kInf, 0, 1, kInf, 99, 2})},
                        StrCat("searchsorted(%s, %v, right=", right ? "True" : "False", ")"),
                        Positions(right)});
    }
    cases->push_back(
        {StrCat("searchsorted_rows", right ? "_right" : "_left"),
         {With(I("s", {3, 7}), Ascending(3, 7)), I("v", {3, 5}, -5, 5)},
         StrCat("searchsorted(%s, %v, dtype=\"int64\", right=", right ? "True" : "False", ")"),
         Positions(right)});
  }
}

void AddWarps(std::vector<OpCase>* cases) {
  const Input boxes = With(F("b", {4, 4}), {0, 0, 1, 1, 0.2, 0.1, 0.7, 0.9, 0.9, 0.8, 0.1, 0.2,  //
                                            -0.3, 0.2, 0.6, 1.4});
  const Input owners = With(I("i", {4}), {1, 0, 1, 0});
  for (const bool nearest : {false, true}) {
    for (const Shape& size : {Shape{3, 5}, Shape{1, 1}})
      cases->push_back({StrCat("crop_and_resize_", size[0], nearest ? "_nearest" : ""),
                        {F("x", {2, 3, 7, 9}), boxes, owners},
                        StrCat("image.crop_and_resize(%x, %b, %i, crop_size=[", size[0], ", ",
                               size[1], "], method=\"", nearest ? "nearest_neighbor" : "bilinear",
                               "\", extrapolation_value=0.25f)"),
                        Cropped(size, nearest, 0.25)});
  }
  cases->push_back(
      {"affine_grid",
       {F("x", {2, 2, 3})},
       "image.affine_grid(%x, target_shape=[5, 3])",
       [](const Arrays& in) {
         return Arrays{Make({2, 2, 5, 3}, [&](const Index& i) {
           const double y = static_cast<double>(i[2]) / 2 - 1;
           const double x = static_cast<double>(i[3]) - 1;
           return in[0]({i[0], i[1], 0}) * x + in[0]({i[0], i[1], 1}) * y + in[0]({i[0], i[1], 2});
         })};
       }});
  cases->push_back({"dilation2d",
                    {F("x", {2, 3, 7, 9}), F("w", {3, 3, 2})},
                    "image.dilation2d(%x, %w, strides=[2, 2], padding=[1, 1], dilations=[2, 2])",
                    Dilated({2, 3, 3, 5}, 2, 2, 1, -kInf)});
  // Padding stays the least of all even when a weight is added to it.
  cases->push_back({"dilation2d_of_integers",
                    {I("x", {1, 2, 5, 5}, -99, -90), I("w", {2, 3, 3}, -9, -1)},
                    "image.dilation2d(%x, %w, padding=[1, 1])",
                    Dilated({1, 2, 5, 5}, 1, 1, 1, -2147483648.0)});
}

void AddFixedPoints(std::vector<OpCase>* cases) {
  for (const std::int64_t shift : {0, 3, -4}) {
    cases->push_back(
        {StrCat("fixed_point_multiply_", shift < 0 ? "right" : "left", std::abs(shift)),
         {I("x", {3, 17}, -99999, 99999)},
         StrCat("fixed_point_multiply(%x, multiplier=1395864371, shift=", shift, ")"),
         [=](const Arrays& in) {
           return Arrays{Make(in[0].shape, [&](const Index& i) {
             const auto s = static_cast<double>(shift);
             return FixedPoint(in[0](i), 1395864371, std::max(s, 0.0), std::max(-s, 0.0));
           })};
         }});
  }
  cases->push_back(
      {"fixed_point_multiply_per_axis",
       {I("x", {2, 5, 3}, -9999, 9999), I("m", {5}, 1 << 30, 2e9), I("l", {5}, 0, 5),
        I("r", {5}, 0, 5)},
       "fixed_point_multiply_per_axis(%x, %m, %l, %r, axes=[1], is_lshift_required=True, "
       "is_rshift_required=True)",
       [](const Arrays& in) {
         return Arrays{Make(in[0].shape, [&](const Index& i) {
           return FixedPoint(in[0](i), in[1]({i[1]}), in[2]({i[1]}), in[3]({i[1]}));
         })};
       }});
  cases->push_back({"fixed_point_multiply_per_axis_without_shifts",
                    {I("x", {2, 5}, -9999, 9999), I("m", {5}, 1 << 30, 2e9), I("l", {5}, 1, 5),
                     I("r", {5}, 1, 5)},
                    "fixed_point_multiply_per_axis(%x, %m, %l, %r, axes=[1])",
                    [](const Arrays& in) {
                      return Arrays{Make(in[0].shape, [&](const Index& i) {
                        return FixedPoint(in[0](i), in[1]({i[1]}), 0, 0);
                      })};
                    }});
}

}  // namespace tenon::operator_cases
