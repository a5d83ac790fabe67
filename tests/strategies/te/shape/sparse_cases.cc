// Operators on sparse tensors.
#include <algorithm>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

// The dense form of a matrix in compressed rows, entries of one place added up. A row begins where
// it says, within the entries and not before the one above it does.
Array Dense(const Array& data, const Array& indices, const Array& starts, std::int64_t columns) {
  const std::int64_t count = data.shape[0];
  const std::int64_t block_rows = data.rank() == 3 ? data.shape[1] : 1;
  const std::int64_t block_columns = data.rank() == 3 ? data.shape[2] : 1;
  const std::int64_t rows = starts.shape[0] - 1;
  Array dense = Make({rows * block_rows, columns}, [](const Index&) { return 0.0; });
  std::vector<std::int64_t> begin;
  for (const double start : starts.values) {
    const auto at = std::clamp<std::int64_t>(static_cast<std::int64_t>(start), 0, count);
    begin.push_back(begin.empty() ? at : std::max(at, begin.back()));
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t k = begin.at(static_cast<std::size_t>(r));
         k < begin.at(static_cast<std::size_t>(r + 1)); ++k) {
      const auto column = static_cast<std::int64_t>(indices({k}));
      if (column < 0 || column >= columns / block_columns) continue;
      for (std::int64_t i = 0; i < block_rows; ++i)
        for (std::int64_t j = 0; j < block_columns; ++j) {
          const Index from = data.rank() == 3 ? Index{k, i, j} : Index{k};
          const Index to = {r * block_rows + i, column * block_columns + j};
          dense.values.at(dense.Offset(to)) += data(from);
        }
    }
  }
  return dense;
}

// Inputs x, then data, indices and starts.
Array DenseOf(const Arrays& in, std::int64_t columns) {
  return Dense(in[1], in[2], in[3], columns);
}

Reference TimesDense(bool sparse_lhs) {
  return [=](const Arrays& in) {
    const Array& x = in[0];
    const Array s = DenseOf(in, x.shape[1]);
    const Array &left = sparse_lhs ? s : x, &right = sparse_lhs ? x : s;
    return Arrays{Make({left.shape[0], right.shape[0]}, [&](const Index& at) {
      double sum = 0;
      for (std::int64_t k = 0; k < x.shape[1]; ++k) {
        if (s({sparse_lhs ? at[0] : at[1], k}) != 0) sum += left({at[0], k}) * right({at[1], k});
      }
      return sum;
    })};
  };
}

Reference Convolved(const std::string& layout, std::int64_t kernel) {
  return [=](const Arrays& in) {
    const Array x = Reordered(in[0], layout, "NCHW");
    const std::int64_t channels = x.shape[1];
    const Array w = DenseOf(in, channels * kernel * kernel);
    const Shape shape = {x.shape[0], w.shape[0], x.shape[2], x.shape[3]};
    const Array y = Make(shape, [&](const Index& at) {
      double sum = 0;
      for (std::int64_t c = 0; c < channels; ++c)
        for (std::int64_t i = 0; i < kernel; ++i)
          for (std::int64_t j = 0; j < kernel; ++j) {
            const std::int64_t row = at[2] + i - kernel / 2, column = at[3] + j - kernel / 2;
            if (row < 0 || row >= shape[2] || column < 0 || column >= shape[3]) continue;
            const std::int64_t place =
                layout == "NHWC" ? (i * kernel + j) * channels + c : (c * kernel + i) * kernel + j;
            sum += x({at[0], c, row, column}) * w({at[1], place});
          }
      return sum;
    });
    return Arrays{Reordered(y, "NCHW", layout)};
  };
}

Arrays Added(const Arrays& in) {
  const Array s = DenseOf(in, in[0].shape[1]);
  return {Make(in[0].shape, [&](const Index& at) { return in[0](at) + s(at); })};
}

// Columns from the left, in each of them rows from the top.
Arrays Transposed(const Arrays& in) {
  const std::int64_t n = in[2].shape[0] - 1;
  Array data{in[0].shape, {}}, indices{in[1].shape, {}}, starts{in[2].shape, {0}};
  for (std::int64_t column = 0; column < n; ++column) {
    for (std::int64_t row = 0; row < n; ++row)
      for (auto k = static_cast<std::int64_t>(in[2]({row})); k < in[2]({row + 1}); ++k) {
        if (in[1]({k}) != static_cast<double>(column)) continue;
        data.values.push_back(in[0]({k}));
        indices.values.push_back(static_cast<double>(row));
      }
    starts.values.push_back(static_cast<double>(data.values.size()));
  }
  data.values.resize(in[0].values.size(), 0);
  indices.values.resize(in[1].values.size(), 0);
  return {data, indices, starts};
}

Reference Placed(const Shape& shape) {
  return [=](const Arrays& in) {
    Array y = Make(shape, [&](const Index&) { return in[2]({}); });
    const std::int64_t count = in[0].rank() == 0 ? 1 : in[0].shape[0];
    for (std::int64_t k = 0; k < count; ++k) {
      Index at;
      bool inside = true;
      for (std::size_t d = 0; d < shape.size(); ++d) {
        Index from;
        if (in[0].rank() > 0) from.push_back(k);
        if (in[0].rank() > 1) from.push_back(static_cast<std::int64_t>(d));
        at.push_back(static_cast<std::int64_t>(in[0](from)));
        inside = inside && at.back() >= 0 && at.back() < shape[d];
      }
      if (inside) y.values.at(y.Offset(at)) = in[1](in[1].rank() == 0 ? Index{} : Index{k});
    }
    return Arrays{y};
  };
}

Reference Reshaped(const std::vector<std::int64_t>& before,
                   const std::vector<std::int64_t>& after) {
  return [=](const Arrays& in) {
    const auto rank = static_cast<std::int64_t>(after.size());
    const Array indices = Make({in[0].shape[0], rank}, [&](const Index& at) {
      std::int64_t flat = 0;
      for (std::size_t d = 0; d < before.size(); ++d)
        flat = flat * before[d] +
               static_cast<std::int64_t>(in[0]({at[0], static_cast<std::int64_t>(d)}));
      for (std::int64_t d = rank - 1; d > at[1]; --d) flat /= after[static_cast<std::size_t>(d)];
      return static_cast<double>(flat % after[static_cast<std::size_t>(at[1])]);
    });
    return Arrays{indices, Make({rank}, [&](const Index& at) {
                    return static_cast<double>(after[static_cast<std::size_t>(at[0])]);
                  })};
  };
}

// Rows of 0, 3, 0, 2 and 4 entries, one of them twice in its row.
Input Starts5() { return With(I("p", {6}), {0, 0, 3, 3, 5, 9}); }
Input Columns9() { return With(I("i", {9}), {0, 4, 6, 2, 2, 1, 3, 5, 6}); }

}  // namespace

void AddSparse(std::vector<OpCase>* cases) {
  for (const bool lhs : {false, true}) {
    const std::string call =
        StrCat("nn.sparse_dense(%x, %d, %i, %p, sparse_lhs=", lhs ? "True" : "False", ")");
    const char* side = lhs ? "_on_the_left" : "";
    for (const std::int64_t rows : {1, 17})
      cases->push_back({StrCat("nn.sparse_dense_of_", rows, "_rows", side),
                        {F("x", {rows, 7}), F("d", {9}), Columns9(), Starts5()},
                        call,
                        TimesDense(lhs)});
    cases->push_back({StrCat("nn.sparse_dense_of_blocks", side),
                      {F("x", {13, 14}), F("d", {9, 3, 2}), Columns9(), Starts5()},
                      call,
                      TimesDense(lhs)});
    // Columns -1, 7 and 2^40, and starts beyond the entries and falling.
    cases->push_back(
        {StrCat("nn.sparse_dense_out_of_range", side),
         {F("x", {3, 7}), F("d", {6}), With(L("i", {6}), {-1, 6, 7, 1099511627776, 0, 3}),
          With(L("p", {6}), {-5, 3, 2, 5, 4, 1000000})},
         call,
         TimesDense(lhs)});
    cases->push_back({StrCat("nn.sparse_dense_of_integers", side),
                      {I("x", {5, 7}), I("d", {9}), Columns9(), Starts5()},
                      call,
                      TimesDense(lhs)});
    cases->push_back({StrCat("nn.sparse_dense_of_no_entry", side),
                      {F("x", {3, 7}), F("d", {0}), I("i", {0}), With(I("p", {4}), {0, 0, 0, 0})},
                      call,
                      TimesDense(lhs)});
  }
  // What is not stored does not meet the NaN of column 5; of the rows only the last one does.
  cases->push_back({"nn.sparse_dense_beside_nan",
                    {With(F("x", {1, 7}), {1, 2, 3, 4, 5, kNaN, 7}),
                     With(F("d", {9}), {1, 2, 3, 4, 5, 6, 7, 8, 9}), Columns9(), Starts5()},
                    "nn.sparse_dense(%x, %d, %i, %p)",
                    TimesDense(false)});
  cases->push_back({"nn.sparse_dense_of_many_columns",
                    {D("x", {601, 7}), D("d", {9}), Columns9(), Starts5()},
                    "nn.sparse_dense(%x, %d, %i, %p)",
                    TimesDense(false)});
  cases->push_back({"nn.sparse_dense_before_relu",
                    {F("x", {15, 7}), F("d", {9}), Columns9(), Starts5()},
                    "nn.relu(nn.sparse_dense(%x, %d, %i, %p))",
                    [](const Arrays& in) {
                      Array y = TimesDense(false)(in)[0];
                      for (double& value : y.values) value = std::max(value, 0.0);
                      return Arrays{y};
                    }});
  for (const char* layout : {"NHWC", "NCHW"}) {
    for (const std::int64_t kernel : {1, 3}) {
      const std::int64_t channels = kernel == 1 ? 14 : 2;
      const Shape shape = InOrder("NCHW", layout, {2, channels, 5, 7});
      const std::string body = StrCat("nn.sparse_conv2d(%x, %d, %i, %p, layout=\"", layout,
                                      "\", kernel_size=[", kernel, ", ", kernel, "])");
      cases->push_back({StrCat("nn.sparse_conv2d_", layout, "_by_", kernel),
                        {F("x", shape), F("d", {9, 3, 2}), Columns9(), Starts5()},
                        body,
                        Convolved(layout, kernel)});
      cases->push_back({StrCat("nn.sparse_conv2d_", layout, "_by_", kernel, "_of_numbers"),
                        {F("x", shape), F("d", {9}), Columns9(), Starts5()},
                        body,
                        Convolved(layout, kernel)});
    }
  }
  cases->push_back({"nn.sparse_conv2d_out_of_range",
                    {F("x", {1, 3, 3, 2}), F("d", {4, 1, 3}), With(I("i", {4}), {-1, 5, 6, 2}),
                     With(I("p", {3}), {0, 3, 9})},
                    "nn.sparse_conv2d(%x, %d, %i, %p, kernel_size=[3, 3])",
                    Convolved("NHWC", 3)});
  cases->push_back({"nn.sparse_conv2d_of_no_image",
                    {F("x", {0, 3, 3, 7}), F("d", {9}), Columns9(), Starts5()},
                    "nn.sparse_conv2d(%x, %d, %i, %p)",
                    Convolved("NHWC", 1)});
  cases->push_back({"nn.sparse_add",
                    {F("x", {5, 7}), F("d", {9}), Columns9(), Starts5()},
                    "nn.sparse_add(%x, %d, %i, %p)",
                    Added});
  cases->push_back({"nn.sparse_add_out_of_range",
                    {I("x", {3, 2}), I("d", {5}), With(L("i", {5}), {1, 2, -1, 0, 1}),
                     With(L("p", {4}), {1, 3, -7, 9})},
                    "nn.sparse_add(%x, %d, %i, %p)",
                    Added});
  cases->push_back({"nn.sparse_add_of_nothing",
                    {F("x", {2, 2}), F("d", {0}), I("i", {0}), With(I("p", {3}), {0, 0, 0})},
                    "nn.sparse_add(%x, %d, %i, %p)",
                    Added});
  cases->push_back({"nn.sparse_transpose",
                    {F("d", {9}), With(I("i", {9}), {0, 4, 3, 2, 2, 1, 3, 0, 4}), Starts5()},
                    "nn.sparse_transpose(%d, %i, %p)",
                    Transposed});
  cases->push_back(
      {"nn.sparse_transpose_out_of_range",
       {L("d", {6}), With(L("i", {6}), {2, 3, -1, 1, 0, 1}), With(I("p", {4}), {1, 3, 5, 6})},
       "nn.sparse_transpose(%d, %i, %p)",
       Transposed});
  cases->push_back({"nn.sparse_transpose_of_nothing",
                    {F("d", {0}), I("i", {0}), With(I("p", {3}), {0, 0, 0})},
                    "nn.sparse_transpose(%d, %i, %p)",
                    Transposed});
  cases->push_back({"sparse_to_dense",
                    {With(I("i", {4, 2}), {0, 1, 4, 2, 0, 1, 2, 0}), F("v", {4}), F("z", {})},
                    "sparse_to_dense(%i, %v, %z, output_shape=[5, 3])",
                    Placed({5, 3})});
  cases->push_back(
      {"sparse_to_dense_out_of_range",
       {With(L("i", {5, 2}), {0, 3, -1, 2, 5, 0, 4, 2, 0, -1}), I("v", {5}), I("z", {})},
       "sparse_to_dense(%i, %v, %z, output_shape=[5, 3])",
       Placed({5, 3})});
  cases->push_back({"sparse_to_dense_of_one_value",
                    {With(L("i", {3}), {16, 0, 7}), B("v", {}), B("z", {})},
                    "sparse_to_dense(%i, %v, %z, output_shape=[17])",
                    Placed({17})});
  cases->push_back({"sparse_to_dense_of_one_index",
                    {With(I("i", {}), {2}), D("v", {}), D("z", {})},
                    "sparse_to_dense(%i, %v, %z, output_shape=[3])",
                    Placed({3})});
  cases->push_back({"sparse_to_dense_of_no_index",
                    {I("i", {0, 2}), F("v", {0}), F("z", {})},
                    "sparse_to_dense(%i, %v, %z, output_shape=[2, 3])",
                    Placed({2, 3})});
  const Input coordinates = With(L("i", {5, 3}), {0, 0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 2, 3});
  cases->push_back({"sparse_reshape",
                    {coordinates, With(L("b", {3}), {2, 3, 4}), With(L("a", {2}), {-1, 3})},
                    "sparse_reshape(%i, %b, %a)",
                    Reshaped({2, 3, 4}, {8, 3})});
  cases->push_back({"sparse_reshape_to_more_axes",
                    {coordinates, With(L("b", {3}), {2, 3, 4}), With(L("a", {4}), {2, -1, 2, 2})},
                    "sparse_reshape(%i, %b, %a)",
                    Reshaped({2, 3, 4}, {2, 3, 2, 2})});
  cases->push_back({"sparse_reshape_to_one_axis",
                    {coordinates, With(L("b", {3}), {2, 3, 4}), With(I("a", {1}), {-1})},
                    "sparse_reshape(%i, %b, %a)",
                    Reshaped({2, 3, 4}, {24})});
  cases->push_back({"sparse_reshape_of_no_index",
                    {L("i", {0, 2}), With(L("b", {2}), {2, 6}), With(L("a", {2}), {3, 4})},
                    "sparse_reshape(%i, %b, %a)",
                    Reshaped({2, 6}, {3, 4})});
  // By zeros, which are no extents to divide by.
  cases->push_back(
      {"sparse_reshape_to_nothing",
       {With(L("i", {1, 1}), {5}), With(L("b", {1}), {8}), With(L("a", {3}), {-1, 0, 0})},
       "sparse_reshape(%i, %b, %a)",
       [](const Arrays&) {
         return Arrays{{{1, 3}, {5, 0, 0}}, {{3}, {8, 0, 0}}};
       }});
}

}  // namespace tenon::operator_cases
