// Matrix products and normalisations.
#include <algorithm>
#include <cmath>
#include <utility>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

// a (batch, m, k) times b (batch or 1, k, n), each transposed in its last two axes when told so.
Array NaiveProduct(const Array& a, const Array& b, bool transpose_a, bool transpose_b) {
  const std::int64_t depth = a.shape[transpose_a ? 1 : 2];
  return Make({a.shape[0] == 1 ? b.shape[0] : a.shape[0], a.shape[transpose_a ? 2 : 1],
               b.shape[transpose_b ? 1 : 2]},
              [&](const Index& at) {
                const std::int64_t a_batch = a.shape[0] == 1 ? 0 : at[0];
                const std::int64_t b_batch = b.shape[0] == 1 ? 0 : at[0];
                double sum = 0;
                for (std::int64_t k = 0; k < depth; ++k)
                  sum += a(transpose_a ? Index{a_batch, k, at[1]} : Index{a_batch, at[1], k}) *
                         b(transpose_b ? Index{b_batch, at[2], k} : Index{b_batch, k, at[2]});
                return sum;
              });
}

// Of two operands with a letter for each axis, by loops over all letters.
Array NaiveEinsum(const Array& a, const Array& b, const std::string& left, const std::string& right,
                  const std::string& result) {
  std::string letters = result;
  for (const char letter : left + right) {
    if (letters.find(letter) == std::string::npos) letters += letter;
  }
  Shape extents(letters.size());
  for (std::size_t d = 0; d < left.size(); ++d) extents[letters.find(left[d])] = a.shape[d];
  for (std::size_t d = 0; d < right.size(); ++d) extents[letters.find(right[d])] = b.shape[d];
  const auto at = [&](const std::string& labels, const Index& all) {
    Index index;
    for (const char label : labels) index.push_back(all[letters.find(label)]);
    return index;
  };
  Array sums =
      Make(Shape(extents.begin(), extents.begin() + static_cast<std::ptrdiff_t>(result.size())),
           [](const Index&) { return 0.0; });
  ForEach(extents, [&](const Index& all) {
    sums.values[sums.Offset(at(result, all))] += a(at(left, all)) * b(at(right, all));
  });
  return sums;
}

std::vector<double> SoftmaxOf(const std::vector<double>& line) {
  const double greatest = GreatestOf(line);
  std::vector<double> y;
  for (const double v : line) y.push_back(std::exp(v - greatest));
  const double sum = SumOf(y);
  for (double& v : y) v /= sum;
  return y;
}
std::vector<double> LogSoftmaxOf(const std::vector<double>& line) {
  const double greatest = GreatestOf(line);
  double sum = 0;
  for (const double v : line) sum += std::exp(v - greatest);
  std::vector<double> y;
  for (const double v : line) y.push_back(v - greatest - std::log(sum));
  return y;
}

}  // namespace

// By elimination from the last row up: a minor of the first rows and columns after the other.
double DeterminantOf(std::vector<double> a, std::size_t n) {
  double product = 1;
  for (std::size_t k = n; k-- > 0;) {
    std::size_t from = k;
    for (std::size_t row = 0; row < k; ++row) {
      if (std::abs(a[row * n + k]) > std::abs(a[from * n + k])) from = row;
    }
    if (from != k) product = -product;
    for (std::size_t i = 0; i < n; ++i) std::swap(a[from * n + i], a[k * n + i]);
    const double pivot = a[k * n + k];
    product *= pivot;
    for (std::size_t row = 0; pivot != 0 && row < k; ++row) {
      const double factor = a[row * n + k] / pivot;
      for (std::size_t i = 0; i < n; ++i) a[row * n + i] -= factor * a[k * n + i];
    }
  }
  return product;
}

void AddDeterminants(std::vector<OpCase>* cases) {
  for (const Shape& shape : {Shape{3, 0, 0}, {1, 1}, {4, 2, 2}, {2, 3, 5, 5}, {17, 17}})
    cases->push_back({StrCat("matrix_determinant_", StrJoin(shape, "_")),
                      {F("x", shape)},
                      "matrix_determinant(%x)",
                      [shape](const Arrays& in) {
                        const auto n = static_cast<std::size_t>(shape.back());
                        auto at = in[0].values.begin();
                        return Arrays{
                            Make(Shape(shape.begin(), shape.end() - 2), [&](const Index&) {
                              const auto begin = at;
                              at += static_cast<std::ptrdiff_t>(n * n);
                              return DeterminantOf({begin, at}, n);
                            })};
                      }});
}

void AddProducts(std::vector<OpCase>* cases) {
  AddDeterminants(cases);
  const auto einsum = [&](const char* name, std::vector<Input> inputs, const char* equation,
                          const Reference& reference) {
    std::string fields;
    for (const Input& input : inputs) StrAppend(&fields, "%", input.name, ", ");
    cases->push_back({StrCat("einsum_", name), std::move(inputs),
                      StrCat("einsum((", fields, "), equation=\"", equation, "\")"), reference});
  };
  einsum("product", {F("a", {5, 17}), F("b", {17, 3})}, "ij, jk -> ik", [](const Arrays& in) {
    return Arrays{Make({5, 3}, [&](const Index& at) {
      double sum = 0;
      for (std::int64_t j = 0; j < 17; ++j) sum += in[0]({at[0], j}) * in[1]({j, at[1]});
      return sum;
    })};
  });
  einsum("trace", {F("a", {7, 7})}, "ii", [](const Arrays& in) {
    double sum = 0;
    for (std::int64_t j = 0; j < 7; ++j) sum += in[0]({j, j});
    return Arrays{Array{{}, {sum}}};
  });
  einsum("transposition", {F("a", {2, 3, 5})}, "...ji->...ij", Move({2, 5, 3}, [](const Index& i) {
           return Index{i[0], i[2], i[1]};
         }));
  einsum("implicit", {F("b", {3, 5}), F("a", {5, 2})}, "cb,ba", [](const Arrays& in) {
    return Arrays{Make({2, 3}, [&](const Index& at) {
      double sum = 0;
      for (std::int64_t j = 0; j < 5; ++j) sum += in[0]({at[1], j}) * in[1]({j, at[0]});
      return sum;
    })};
  });
  einsum("three_broadcast", {F("a", {2, 1, 5}), F("b", {3, 5}), F("c", {4})}, "...i,...i,j->j...",
         [](const Arrays& in) {
           return Arrays{Make({4, 2, 3}, [&](const Index& at) {
             double sum = 0;
             for (std::int64_t j = 0; j < 5; ++j)
               sum += in[0]({at[1], 0, j}) * in[1]({at[2], j}) * in[2]({at[0]});
             return sum;
           })};
         });
  cases->push_back({"einsum_between_elementwise_operators",
                    {F("a", {5, 17}), F("b", {17})},
                    "nn.relu(einsum((negative(%a), %b), equation=\"ij,j\"))",
                    [](const Arrays& in) {
                      return Arrays{Make({5}, [&](const Index& at) {
                        double sum = 0;
                        for (std::int64_t j = 0; j < 17; ++j) sum -= in[0]({at[0], j}) * in[1]({j});
                        return std::max(sum, 0.0);
                      })};
                    }});
  // Products of matrices in other words, large enough for register tiles, and what only looks like
  // one: a label of one operand alone that is summed, a diagonal, an axis that is broadcast.
  const auto of_two = [&](const char* name, const Shape& a, const Shape& b, const std::string& left,
                          const std::string& right, const std::string& result) {
    einsum(
        name, {F("a", a), F("b", b)}, StrCat(left, ",", right, "->", result).c_str(),
        [=](const Arrays& in) { return Arrays{NaiveEinsum(in[0], in[1], left, right, result)}; });
  };
  of_two("scores", {2, 9, 3, 17}, {2, 33, 3, 17}, "bqhd", "bkhd", "bhqk");
  of_two("values", {2, 3, 9, 17}, {2, 17, 3, 33}, "bhqk", "bkhd", "bqhd");
  of_two("projection", {2, 9, 17}, {17, 3, 16}, "btd", "dhk", "bthk");
  of_two("projection_back", {2, 9, 3, 16}, {3, 16, 17}, "bthk", "hkd", "btd");
  of_two("operands_swapped", {35, 17}, {9, 17}, "ij", "kj", "ki");
  of_two("depth_in_another_order", {9, 5, 7}, {7, 33, 5}, "iab", "bja", "ij");
  of_two("batch_last", {9, 17, 4}, {33, 17, 4}, "idb", "jdb", "ijb");
  of_two("matrix_and_vector", {35, 17}, {17}, "ij", "j", "i");
  of_two("row_sums", {35, 17, 2}, {17, 9}, "ijs", "jk", "ik");
  of_two("all_summed", {35, 17}, {35, 17}, "ij", "ij", "");
  of_two("outer", {35}, {17}, "i", "j", "ij");
  einsum("diagonal", {F("a", {17, 17}), F("b", {17, 9})}, "ii,ik->ik", [](const Arrays& in) {
    return Arrays{Make({17, 9}, [&](const Index& at) {
      return in[0]({at[0], at[0]}) * in[1](at);
    })};
  });
  einsum("broadcast_depth", {F("a", {9, 1}), F("b", {17, 33})}, "ij,jk->ik", [](const Arrays& in) {
    return Arrays{Make({9, 33}, [&](const Index& at) {
      double sum = 0;
      for (std::int64_t j = 0; j < 17; ++j) sum += in[0]({at[0], 0}) * in[1]({j, at[1]});
      return sum;
    })};
  });
  einsum("of_nothing", {F("a", {3, 0}), F("b", {0, 2})}, "ij,jk->ik", [](const Arrays&) {
    return Arrays{Make({3, 2}, [](const Index&) { return 0.0; })};
  });
  struct Size {
    std::int64_t m, k, n;
  };
  for (const Size& s : {Size{1, 1, 1}, Size{5, 7, 13}, Size{16, 17, 15}, Size{1, 64, 31},
                        Size{33, 16, 1}, Size{3, 0, 5}, Size{0, 5, 3}}) {
    const std::string size = StrCat("_", s.m, "x", s.k, "x", s.n);
    cases->push_back({"dense" + size,
                      {F("a", {s.m, s.k}), F("b", {s.n, s.k})},
                      "nn.dense(%a, %b)",
                      [s](const Arrays& in) {
                        return Arrays{
                            Reshaped(NaiveProduct(Reshaped(in[0], {1, s.m, s.k}),
                                                  Reshaped(in[1], {1, s.n, s.k}), false, true),
                                     {s.m, s.n})};
                      }});
    cases->push_back({"dense_pack" + size,
                      {F("a", {s.m, s.k}), F("b", {s.n, s.k, 4})},
                      "nn.contrib_dense_pack(%a, %b, weight_layout=\"NC4n\")",
                      [s](const Arrays& in) {
                        return Arrays{Make({s.m, s.n * 4}, [&](const Index& at) {
                          double sum = 0;
                          for (std::int64_t k = 0; k < s.k; ++k)
                            sum += in[0]({at[0], k}) * in[1]({at[1] / 4, k, at[1] % 4});
                          return sum;
                        })};
                      }});
    for (const bool ta : {false, true})
      for (const bool tb : {false, true}) {
        const Shape a = ta ? Shape{s.k, s.m} : Shape{s.m, s.k};
        const Shape b = tb ? Shape{s.n, s.k} : Shape{s.k, s.n};
        const std::string attributes = StrCat(", transpose_a=", ta ? "True" : "False",
                                              ", transpose_b=", tb ? "True" : "False", ")");
        const std::string name = StrCat(size, ta ? "_ta" : "", tb ? "_tb" : "");
        cases->push_back({"matmul" + name,
                          {F("a", a), F("b", b)},
                          "nn.matmul(%a, %b" + attributes,
                          [=](const Arrays& in) {
                            return Arrays{
                                Reshaped(NaiveProduct(Reshaped(in[0], {1, a[0], a[1]}),
                                                      Reshaped(in[1], {1, b[0], b[1]}), ta, tb),
                                         {s.m, s.n})};
                          }});
        for (const auto& [a_batch, b_batch] :
             {std::pair(3, 3), std::pair(3, 1), std::pair(1, 3), std::pair(0, 1)})
          cases->push_back(
              {StrCat("batch_matmul", name, "_batch_", a_batch, "_", b_batch),
               {F("a", {a_batch, a[0], a[1]}), F("b", {b_batch, b[0], b[1]})},
               "nn.batch_matmul(%a, %b" + attributes,
               [ta, tb](const Arrays& in) { return Arrays{NaiveProduct(in[0], in[1], ta, tb)}; }});
      }
  }
  cases->push_back({"dense_of_a_vector",
                    {F("a", {7}), F("b", {5, 7})},
                    "nn.dense(%a, %b)",
                    [](const Arrays& in) {
                      return Arrays{Reshaped(NaiveProduct(Reshaped(in[0], {1, 1, 7}),
                                                          Reshaped(in[1], {1, 5, 7}), false, true),
                                             {5})};
                    }});
  cases->push_back({"dense_of_rank_4",
                    {F("a", {2, 3, 5, 7}), F("b", {4, 7})},
                    "nn.dense(%a, %b)",
                    [](const Arrays& in) {
                      return Arrays{Reshaped(NaiveProduct(Reshaped(in[0], {1, 30, 7}),
                                                          Reshaped(in[1], {1, 4, 7}), false, true),
                                             {2, 3, 5, 4})};
                    }});
  cases->push_back({"matmul_of_rank_3_transposed",
                    {F("a", {3, 5, 7}), F("b", {5, 4})},
                    "nn.matmul(%a, %b, transpose_a=True)",
                    [](const Arrays& in) {
                      return Arrays{NaiveProduct(in[0], Reshaped(in[1], {1, 5, 4}), true, false)};
                    }});
  cases->push_back({"dense_of_float64",
                    {D("a", {5, 17}), D("b", {3, 17})},
                    "nn.dense(%a, %b)",
                    [](const Arrays& in) {
                      return Arrays{Reshaped(NaiveProduct(Reshaped(in[0], {1, 5, 17}),
                                                          Reshaped(in[1], {1, 3, 17}), false, true),
                                             {5, 3})};
                    }});
  cases->push_back(
      {"matmul_of_int32",
       {I("a", {5, 17}), I("b", {17, 3})},
       "nn.matmul(%a, %b)",
       [](const Arrays& in) {
         return Arrays{Reshaped(
             NaiveProduct(Reshaped(in[0], {1, 5, 17}), Reshaped(in[1], {1, 17, 3}), false, false),
             {5, 3})};
       }});
}

void AddNorms(std::vector<OpCase>* cases) {
  struct Lines {
    const char* name;
    Shape shape;
    int axis;
  };
  const std::vector<Lines> lines = {{"last", {3, 17}, -1},     {"first", {17, 5}, 0},
                                    {"middle", {2, 15, 3}, 1}, {"one_line", {31}, 0},
                                    {"extent_1", {5, 1}, 1},   {"no_lines", {0, 5}, 1}};
  for (const Lines& l : lines) {
    const auto axis =
        static_cast<std::size_t>(l.axis < 0 ? l.axis + static_cast<int>(l.shape.size()) : l.axis);
    for (const char* op : {"nn.softmax", "nn.fast_softmax", "nn.log_softmax"}) {
      const LineFunction f = std::string(op) == "nn.log_softmax" ? LogSoftmaxOf : SoftmaxOf;
      cases->push_back(
          {StrCat(op, "_", l.name),
           {F("x", l.shape, -5, 5)},
           StrCat(op, "(%x, axis=", l.axis, ")"),
           [axis, f](const Arrays& in) { return Arrays{AlongLines(in[0], axis, f)}; }});
    }
    for (const bool affine : {true, false}) {
      const std::int64_t extent = l.shape[axis];
      cases->push_back({StrCat("layer_norm_", l.name, affine ? "" : "_without_affine"),
                        {F("x", l.shape), F("g", {extent}), F("b", {extent})},
                        StrCat("nn.layer_norm(%x, %g, %b, epsilon=0.001f, axis=", l.axis,
                               affine ? "" : ", scale=False, center=False", ")"),
                        [=](const Arrays& in) {
                          Array y = AlongLines(in[0], axis, [](const std::vector<double>& line) {
                            const double mean = MeanOf(line);
                            double squares = 0;
                            for (const double v : line) squares += (v - mean) * (v - mean);
                            const double deviation =
                                std::sqrt(squares / static_cast<double>(line.size()) + 0.001);
                            std::vector<double> normal;
                            for (const double v : line) normal.push_back((v - mean) / deviation);
                            return normal;
                          });
                          if (affine)
                            y = Make(y.shape, [&, plain = y](const Index& at) {
                              return plain(at) * in[1]({at[axis]}) + in[2]({at[axis]});
                            });
                          return Arrays{y};
                        }});
    }
  }
  struct Channels {
    const char* name;
    Shape shape;
    int axis;
    std::int64_t groups;  // 0: instance norm
  };
  const std::vector<Channels> channels = {
      {"instance", {2, 3, 5, 7}, 1, 0},  {"instance_last", {2, 5, 3}, -1, 0},
      {"one_group", {3, 4, 17}, 1, 1},   {"groups", {2, 6, 5, 3}, 1, 3},
      {"groups_last", {2, 5, 15}, 2, 5}, {"groups_of_one", {1, 3, 1, 1}, 1, 3},
      {"no_samples", {0, 4, 3}, 1, 2},   {"groups_of_none", {2, 0, 3}, 1, 2},
      {"no_channels", {2, 0, 3}, 1, 0}};
  for (const Channels& c : channels) {
    const auto axis =
        static_cast<std::size_t>(c.axis < 0 ? c.axis + static_cast<int>(c.shape.size()) : c.axis);
    const std::int64_t extent = c.shape[axis];
    const std::int64_t size = c.groups == 0 ? 1 : extent / c.groups;
    for (const bool affine : {true, false}) {
      const std::string call = c.groups == 0
                                   ? std::string("nn.instance_norm(%x, %g, %b")
                                   : StrCat("nn.group_norm(%x, %g, %b, num_groups=", c.groups);
      cases->push_back({StrCat("channel_norm_", c.name, affine ? "" : "_without_affine"),
                        {F("x", c.shape), F("g", {extent}), F("b", {extent})},
                        StrCat(call, ", epsilon=0.001f, axis=", c.axis,
                               affine ? "" : ", scale=False, center=False", ")"),
                        [=](const Arrays& in) {
                          const Array& x = in[0];
                          // Sums over all elements of the group that `at` is in.
                          const auto sum = [&](const Index& at, const auto& term) {
                            double total = 0;
                            Make(x.shape, [&](const Index& i) {
                              if (i[0] == at[0] && i[axis] / size == at[axis] / size)
                                total += term(x(i));
                              return 0.0;
                            });
                            return total;
                          };
                          return Arrays{Make(x.shape, [&](const Index& at) {
                            const double count = sum(at, [](double) { return 1.0; });
                            const double mean = sum(at, [](double v) { return v; }) / count;
                            const double variance =
                                sum(at, [&](double v) { return (v - mean) * (v - mean); }) / count;
                            const double y = (x(at) - mean) / std::sqrt(variance + 0.001);
                            return affine ? y * in[1]({at[axis]}) + in[2]({at[axis]}) : y;
                          })};
                        }});
    }
  }
  cases->push_back({"softmax_of_large_values",
                    {With(F("x", {2, 3}), {1000, 1001, 999, -1000, -1000, -1000})},
                    "nn.softmax(%x)",
                    [](const Arrays& in) { return Arrays{AlongLines(in[0], 1, SoftmaxOf)}; }});
  for (const int axis : {1, -1})
    for (const bool affine : {true, false})
      cases->push_back(
          {StrCat("batch_norm_axis_", axis < 0 ? "last" : "1", affine ? "" : "_without_affine"),
           {F("x", {2, 5, 3, 5}), F("g", {5}), F("b", {5}), F("m", {5}), F("v", {5}, 0.1, 2)},
           StrCat("nn.batch_norm(%x, %g, %b, %m, %v, epsilon=0.01f, axis=", axis,
                  affine ? "" : ", scale=False, center=False", ")"),
           [=](const Arrays& in) {
             return Arrays{Make(in[0].shape,
                                [&](const Index& at) {
                                  const Index c = {at[axis < 0 ? 3 : 1]};
                                  const double y =
                                      (in[0](at) - in[3](c)) / std::sqrt(in[4](c) + 0.01);
                                  return affine ? y * in[1](c) + in[2](c) : y;
                                }),
                           in[3], in[4]};
           }});
  for (const int axis : {1, -1})
    cases->push_back({StrCat("bias_add_axis_", axis < 0 ? "last" : "1"),
                      {F("x", {2, 5, 5}), F("b", {5})},
                      StrCat("nn.bias_add(%x, %b, axis=", axis, ")"),
                      [axis](const Arrays& in) {
                        return Arrays{Make(in[0].shape, [&](const Index& at) {
                          return in[0](at) + in[1]({at[axis < 0 ? 2 : 1]});
                        })};
                      }});
  for (const std::string axes : {"", "1", "0, -1", "0, 1, 2"})
    cases->push_back(
        {StrCat("l2_normalize_axes_",
                axes.empty() ? "none" : std::to_string(std::count(axes.begin(), axes.end(), ','))),
         {F("x", {3, 17, 5})},
         StrCat("nn.l2_normalize(%x, eps=0.25f, axis=[", axes, "])"),
         [axes](const Arrays& in) {
           const Array& x = in[0];
           const std::vector<bool> summed = {axes.find('0') != std::string::npos,
                                             axes == "1" || axes == "0, 1, 2", axes.size() > 1};
           return Arrays{Make(x.shape, [&](const Index& at) {
             double squares = 0;
             ForEach(x.shape, [&](const Index& other) {
               bool joins = true;
               for (std::size_t d = 0; d < 3; ++d)
                 joins = joins && (summed[d] || other[d] == at[d]);
               if (joins) squares += x(other) * x(other);
             });
             return x(at) / std::sqrt(std::max(squares, 0.25));
           })};
         }});
  for (const int size : {1, 2, 3, 4, 5, 9})
    for (const int axis : {1, -1})
      cases->push_back({StrCat("lrn_size_", size, "_axis_", axis < 0 ? "last" : "1"),
                        {F("x", {2, 7, 3, 5}, -3, 3)},
                        StrCat("nn.lrn(%x, size=", size, ", axis=", axis,
                               ", bias=1.5f, alpha=0.5f, beta=0.75f)"),
                        [=](const Arrays& in) {
                          return Arrays{Make(in[0].shape, [&](const Index& at) {
                            const std::size_t along = axis < 0 ? 3 : 1;
                            double squares = 0;
                            for (std::int64_t k = -((size - 1) / 2); k <= size / 2; ++k) {
                              Index from = at;
                              from[along] += k;
                              if (from[along] >= 0 && from[along] < in[0].shape[along])
                                squares += in[0](from) * in[0](from);
                            }
                            return in[0](at) / std::pow(1.5 + 0.5 / size * squares, 0.75);
                          })};
                        }});
  cases->push_back(
      {"lrn_by_default", {F("x", {1, 7, 2, 3}, 50, 90)}, "nn.lrn(%x)", [](const Arrays& in) {
         return Arrays{Make(in[0].shape, [&](const Index& at) {
           double squares = 0;
           for (std::int64_t c = std::max<std::int64_t>(0, at[1] - 2);
                c <= std::min<std::int64_t>(6, at[1] + 2); ++c)
             squares += std::pow(in[0]({at[0], c, at[2], at[3]}), 2);
           return in[0](at) / std::pow(2 + 0.0001 / 5 * squares, 0.75);
         })};
       }});
  cases->push_back({"dropout_drops_nothing",
                    {F("x", {3, 5})},
                    "nn.dropout(%x, rate=0.5f)",
                    [](const Arrays& in) {
                      return Arrays{in[0], Make(in[0].shape, [](const Index&) { return 1.0; })};
                    }});
}

}  // namespace tenon::operator_cases
