// Operators that read or write elements by index.
#include <algorithm>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

double Written(const std::string& mode, double old, double update) {
  if (mode == "add") return old + update;
  if (mode == "mul") return old * update;
  if (mode == "min") return std::min(old, update);
  return mode == "max" ? std::max(old, update) : update;
}

// The definition as a loop over the updates; `target` gives where one goes, possibly outside.
Array Scattered(Array data, const Array& updates, const std::string& mode,
                const std::function<Index(const Index& u)>& target) {
  ForEach(updates.shape, [&](const Index& u) {
    Index to = target(u);
    for (std::size_t d = 0; d < to.size(); ++d) {
      if (to[d] < 0) to[d] += data.shape[d];
      if (to[d] < 0 || to[d] >= data.shape[d]) return;
    }
    double& value = data.values.at(data.Offset(to));
    value = Written(mode, value, updates(u));
  });
  return data;
}

Reference ScatteredElements(std::size_t axis, const std::string& mode) {
  return [=](const Arrays& in) {
    return Arrays{Scattered(in[0], in[2], mode, [&](const Index& u) {
      Index to = u;
      to[axis] = static_cast<std::int64_t>(in[1](u));
      return to;
    })};
  };
}

Reference ScatteredND(const std::string& mode) {
  return [=](const Arrays& in) {
    const std::size_t tuples = in[1].rank() - 1;
    return Arrays{Scattered(in[0], in[2], mode, [&](const Index& u) {
      const auto slice = u.begin() + static_cast<std::ptrdiff_t>(tuples);
      Index to;
      for (std::int64_t m = 0; m < in[1].shape[0]; ++m) {
        Index from(u.begin(), slice);
        from.insert(from.begin(), m);
        to.push_back(static_cast<std::int64_t>(in[1](from)));
      }
      to.insert(to.end(), slice, u.end());
      return to;
    })};
  };
}

}  // namespace

void AddIndexing(std::vector<OpCase>* cases) {
  const auto clip = [](std::int64_t i, std::int64_t n) {
    return std::clamp<std::int64_t>(i, 0, n - 1);
  };
  const auto wrap = [](std::int64_t i, std::int64_t n) { return ((i % n) + n) % n; };
  const std::vector<double> wild = {0, 6, 7, -1, -8, 100, 3, 2, 1};
  const auto at = [](const Array& a, const Index& i) { return static_cast<std::int64_t>(a(i)); };
  struct Mode {
    const char* name;
    std::function<std::int64_t(std::int64_t, std::int64_t)> within;
    bool tame;
  };
  for (const Mode& mode :
       {Mode{"clip", clip, false}, Mode{"wrap", wrap, false}, Mode{"fast", clip, true}}) {
    const auto indices = [&](Input input) {
      return mode.tame ? With(input, {0, 6, 3, 2, 5, 1, 4, 0, 6}) : With(input, wild);
    };
    const auto within = mode.within;
    cases->push_back({StrCat("take_axis_", mode.name),
                      {F("x", {5, 7, 3}), indices(I("i", {3, 3}))},
                      StrCat("take(%x, %i, axis=1, mode=\"", mode.name, "\")"),
                      [=](const Arrays& in) {
                        return Arrays{Make({5, 3, 3, 3}, [&](const Index& i) {
                          return in[0]({i[0], within(at(in[1], {i[1], i[2]}), 7), i[3]});
                        })};
                      }});
    cases->push_back({StrCat("take_flat_", mode.name),
                      {F("x", {1, 7}), indices(L("i", {9}))},
                      StrCat("take(%x, %i, mode=\"", mode.name, "\")"),
                      [=](const Arrays& in) {
                        return Arrays{Make({9}, [&](const Index& i) {
                          return in[0]({0, within(at(in[1], i), 7)});
                        })};
                      }});
  }
  cases->push_back({"take_flat_of_rank_3",
                    {F("x", {3, 5, 7}), I("i", {17}, 0, 104)},
                    "take(%x, %i)",
                    [=](const Arrays& in) {
                      return Arrays{Make({17}, [&](const Index& i) {
                        return in[0].values.at(static_cast<std::size_t>(at(in[1], i)));
                      })};
                    }});
  cases->push_back({"take_batched",
                    {F("x", {3, 5, 7}), I("i", {3, 2}, 0, 4)},
                    "take(%x, %i, axis=1, batch_dims=1)",
                    [=](const Arrays& in) {
                      return Arrays{Make({3, 2, 7}, [&](const Index& i) {
                        return in[0]({i[0], at(in[1], {i[0], i[1]}), i[2]});
                      })};
                    }});
  cases->push_back({"take_rank_0",
                    {F("x", {5, 7}), L("i", {}, 3, 3)},
                    "take(%x, %i, axis=0)",
                    [](const Arrays& in) {
                      return Arrays{Make({7}, [&](const Index& i) { return in[0]({3, i[0]}); })};
                    }});
  cases->push_back(
      {"take_nothing", {F("x", {5, 7}), I("i", {0})}, "take(%x, %i, axis=0)", [](const Arrays&) {
         return Arrays{Array{{0, 7}, {}}};
       }});
  for (const int axis : {0, 1})
    cases->push_back({StrCat("gather_axis_", axis),
                      {F("x", {5, 5}), I("i", {axis == 0 ? 3 : 5, axis == 0 ? 5 : 4}, -5, 4)},
                      StrCat("gather(%x, %i, axis=", axis, ")"),
                      [=](const Arrays& in) {
                        return Arrays{Make(in[1].shape, [&](const Index& i) {
                          Index from = i;
                          from[static_cast<std::size_t>(axis)] = wrap(at(in[1], i), 5);
                          return in[0](from);
                        })};
                      }});
  cases->push_back(
      {"gather_nd",
       {F("x", {5, 7, 3}), L("i", {2, 4}, -5, 4)},
       "gather_nd(%x, %i)",
       [=](const Arrays& in) {
         return Arrays{Make({4, 3}, [&](const Index& i) {
           return in[0]({wrap(at(in[1], {0, i[0]}), 5), wrap(at(in[1], {1, i[0]}), 7), i[1]});
         })};
       }});
  cases->push_back({"gather_nd_batched",
                    {F("x", {3, 7, 2}), I("i", {1, 3, 4}, 0, 6)},
                    "gather_nd(%x, %i, batch_dims=1)",
                    [=](const Arrays& in) {
                      return Arrays{Make({3, 4, 2}, [&](const Index& i) {
                        return in[0]({i[0], at(in[1], {0, i[0], i[1]}), i[2]});
                      })};
                    }});
  cases->push_back({"adv_index",
                    {F("x", {5, 7, 3}), I("i", {4, 1}, -5, 4), I("j", {2}, 0, 6)},
                    "adv_index((%x, %i, %j))",
                    [=](const Arrays& in) {
                      return Arrays{Make({4, 2, 3}, [&](const Index& i) {
                        return in[0]({wrap(at(in[1], {i[0], 0}), 5), at(in[2], {i[1]}), i[2]});
                      })};
                    }});
  for (const int axis : {-1, 0})
    cases->push_back({StrCat("one_hot_axis_", axis < 0 ? "last" : "0"),
                      {With(I("i", {3, 2}), {0, 4, 2, 5, -1, 1}), F("on", {}), F("off", {})},
                      StrCat("one_hot(%i, %on, %off, depth=5, axis=", axis, ", dtype=\"float32\")"),
                      [=](const Arrays& in) {
                        const Shape shape = axis < 0 ? Shape{3, 2, 5} : Shape{5, 3, 2};
                        return Arrays{Make(shape, [&](const Index& i) {
                          const Index from = axis < 0 ? Index{i[0], i[1]} : Index{i[1], i[2]};
                          const std::int64_t slot = axis < 0 ? i[2] : i[0];
                          return at(in[0], from) == slot ? in[1]({}) : in[2]({});
                        })};
                      }});
  for (const bool upper : {true, false})
    for (const int k : {-1, 0, 2})
      cases->push_back({StrCat("trilu_", upper ? "upper" : "lower", "_", k + 1),
                        {F("x", {2, 5, 7}), With(I("k", {}), {static_cast<double>(k)})},
                        StrCat("trilu(%x, %k, upper=", upper ? "True" : "False", ")"),
                        [=](const Arrays& in) {
                          return Arrays{Make(in[0].shape, [&](const Index& i) {
                            const bool keep = upper ? i[2] - i[1] >= k : i[2] - i[1] <= k;
                            return keep ? in[0](i) : 0.0;
                          })};
                        }});
}

void AddScatters(std::vector<OpCase>* cases) {
  for (const std::string mode : {"update", "add", "mul", "min", "max"}) {
    const std::string elements = StrCat(", reduction=\"", mode, "\")");
    // Indices hit some elements several times, others never, and some lie outside.
    for (const int axis : {0, 1})
      cases->push_back({StrCat("scatter_elements_", mode, "_axis_", axis),
                        {F("x", {5, 7}), I("i", {5, 7}, -8, 8), F("u", {5, 7})},
                        StrCat("scatter_elements(%x, %i, %u, axis=", axis, elements),
                        ScatteredElements(static_cast<std::size_t>(axis), mode)});
    cases->push_back({StrCat("scatter_elements_", mode, "_of_a_part"),
                      {F("x", {3, 5, 7}), L("i", {2, 9, 6}, 0, 4), F("u", {2, 9, 6})},
                      StrCat("scatter_elements(%x, %i, %u, axis=-2", elements),
                      ScatteredElements(1, mode)});
    cases->push_back({StrCat("scatter_elements_", mode, "_of_int32"),
                      {I("x", {17}), I("i", {33}, -17, 16), I("u", {33}, -3, 3)},
                      StrCat("scatter_elements(%x, %i, %u", elements),
                      ScatteredElements(0, mode)});
    cases->push_back({StrCat("scatter_elements_", mode, "_of_no_updates"),
                      {F("x", {5, 7}), I("i", {0, 2}), F("u", {0, 2})},
                      StrCat("scatter_elements(%x, %i, %u, axis=1", elements),
                      ScatteredElements(1, mode)});
    const std::string nd = StrCat("scatter_nd(%x, %i, %u, mode=\"", mode, "\")");
    cases->push_back({StrCat("scatter_nd_", mode, "_elements"),
                      {F("x", {5, 7}), I("i", {2, 31}, -6, 7), F("u", {31})},
                      nd,
                      ScatteredND(mode)});
    cases->push_back({StrCat("scatter_nd_", mode, "_slices"),
                      {F("x", {5, 7, 3}), L("i", {1, 2, 4}, 0, 4), F("u", {2, 4, 7, 3})},
                      nd,
                      ScatteredND(mode)});
    cases->push_back({StrCat("scatter_nd_", mode, "_one_slice"),
                      {F("x", {5, 7}), I("i", {1}, 0, 4), F("u", {7})},
                      nd,
                      ScatteredND(mode)});
    cases->push_back({StrCat("scatter_nd_", mode, "_everything"),
                      {F("x", {5}), I("i", {0, 3}), F("u", {3, 5})},
                      nd,
                      ScatteredND(mode)});
    cases->push_back({StrCat("scatter_nd_", mode, "_no_updates"),
                      {F("x", {5, 7}), I("i", {2, 0}), F("u", {0})},
                      nd,
                      ScatteredND(mode)});
  }
  cases->push_back({"scatter_elements_of_bool",
                    {B("x", {17}), I("i", {9}, 0, 16), B("u", {9})},
                    "scatter_elements(%x, %i, %u)",
                    ScatteredElements(0, "update")});
  cases->push_back({"scatter_elements_of_nothing",
                    {F("x", {0}), I("i", {3}), F("u", {3})},
                    "scatter_elements(%x, %i, %u)",
                    ScatteredElements(0, "update")});
  cases->push_back({"scatter_nd_between_operators",
                    {F("x", {5, 7}), I("i", {1, 3}, 0, 4), F("u", {3, 7})},
                    "negative(scatter_nd(negative(%x), %i, negative(%u), mode=\"add\"))",
                    ScatteredND("add")});
  const Reference inverse = [](const Arrays& in) {
    Array q = in[0];
    for (std::size_t i = 0; i < q.values.size(); ++i)
      q.values[static_cast<std::size_t>(in[0].values[i])] = static_cast<double>(i);
    return Arrays{q};
  };
  const std::vector<double> permutation = {3, 4, 0, 2, 1, 6, 5};
  cases->push_back(
      {"invert_permutation", {With(I("p", {7}), permutation)}, "invert_permutation(%p)", inverse});
  cases->push_back({"invert_permutation_twice",
                    {With(L("p", {7}), permutation)},
                    "invert_permutation(invert_permutation(%p))",
                    [](const Arrays& in) { return in; }});
  cases->push_back({"invert_permutation_into_a_sum",
                    {With(I("p", {7}), permutation)},
                    "sum(add(invert_permutation(%p), %p))",
                    [](const Arrays&) {
                      return Arrays{Array{{}, {42}}};
                    }});
  cases->push_back(
      {"invert_permutation_of_nothing", {I("p", {0})}, "invert_permutation(%p)", inverse});
}

void AddSequences(std::vector<OpCase>* cases) {
  const auto reversed = [](std::size_t along, std::size_t batch) {
    return [=](const Arrays& in) {
      return Arrays{Make(in[0].shape, [&](const Index& at) {
        Index from = at;
        const std::int64_t length =
            std::min(static_cast<std::int64_t>(in[1]({at[batch]})), in[0].shape[along]);
        if (at[along] < length) from[along] = length - 1 - at[along];
        return in[0](from);
      })};
    };
  };
  cases->push_back({"reverse_sequence",
                    {F("x", {7, 5, 3}), With(I("n", {7}), {0, 1, 2, 5, 4, 9, -3})},
                    "reverse_sequence(%x, %n)",
                    reversed(1, 0)});
  cases->push_back({"reverse_sequence_axes",
                    {F("x", {7, 5, 3}), With(L("n", {3}), {4, 7, 1})},
                    "reverse_sequence(%x, %n, seq_axis=0, batch_axis=-1)",
                    reversed(0, 2)});
  for (const std::size_t time : {0, 1})
    cases->push_back({StrCat("sequence_mask_", time),
                      {F("x", time == 0 ? Shape{5, 7, 3} : Shape{7, 5, 3}),
                       With(I("n", {7}), {0, 1, 2, 5, 4, 9, -3})},
                      StrCat("sequence_mask(%x, %n, mask_value=-7f, axis=", time, ")"),
                      [time](const Arrays& in) {
                        return Arrays{Make(in[0].shape, [&](const Index& at) {
                          const double length = in[1]({at[1 - time]});
                          return static_cast<double>(at[time]) < length ? in[0](at) : -7;
                        })};
                      }});
  cases->push_back({"unravel_index",
                    {With(I("i", {4}), {22, 41, 37, 0}), With(I("s", {2}), {7, 6})},
                    "unravel_index(%i, %s)",
                    [](const Arrays&) {
                      return Arrays{Array{{2, 4}, {3, 6, 6, 0, 4, 5, 1, 0}}};
                    }});
  cases->push_back({"unravel_index_of_rank_0",
                    {With(L("i", {}), {1621}), With(I("s", {4}), {6, 7, 8, 9})},
                    "unravel_index(%i, %s)",
                    [](const Arrays&) {
                      return Arrays{Array{{4}, {3, 1, 4, 1}}};
                    }});
  cases->push_back({"unravel_index_in_nothing",
                    {With(I("i", {2}), {0, 5}), With(I("s", {2}), {3, 0})},
                    "unravel_index(%i, %s)",
                    [](const Arrays&) {
                      return Arrays{Array{{2, 2}, {0, 2, 0, 0}}};
                    }});
}

}  // namespace tenon::operator_cases
