// Reductions and scans.
#include <algorithm>
#include <cmath>
#include <string>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

Joiner FirstOf(bool greatest, bool last) {
  return [=](const std::vector<double>& v) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < v.size(); ++i) {
      const bool better = greatest ? v[i] > v[best] : v[i] < v[best];
      if (better || (last && v[i] == v[best])) best = i;
    }
    return static_cast<double>(best);
  };
}

}  // namespace

void AddReductions(std::vector<OpCase>* cases) {
  struct Shaping {
    const char* name;
    Shape shape;
    const char* attributes;
    std::vector<bool> reduced;
    bool keepdims;
  };
  const std::vector<Shaping> shapings = {
      {"last_axis", {3, 17}, "axis=[-1]", {false, true}, false},
      {"first_axis", {17, 5}, "axis=[0]", {true, false}, false},
      {"middle_axis", {3, 16, 7}, "axis=[1], keepdims=True", {false, true, false}, true},
      {"outer_axes", {3, 5, 7}, "axis=[0, 2]", {true, false, true}, false},
      {"all_axes", {5, 31}, "", {true, true}, false},
      {"other_axes", {3, 5, 7}, "axis=[1], exclude=True", {true, false, true}, false},
      {"rank_0", {}, "", {}, false},
      {"extent_1", {1, 1}, "axis=[1]", {false, true}, false},
      {"no_axes", {3, 5}, "axis=[]", {false, false}, false},
  };
  struct Row {
    const char* op;
    Joiner join;
  };
  const std::vector<Row> rows = {{"sum", SumOf},
                                 {"prod", ProductOf},
                                 {"mean", MeanOf},
                                 {"max", GreatestOf},
                                 {"min", LeastOf},
                                 {"argmax", FirstOf(true, false)},
                                 {"argmin", FirstOf(false, false)}};
  for (const Row& row : rows) {
    for (const Shaping& s : shapings) {
      const bool is_arg = std::string(row.op).starts_with("arg");
      // An index needs an axis to run along.
      if (is_arg && std::find(s.reduced.begin(), s.reduced.end(), true) == s.reduced.end())
        continue;
      const std::string attributes = *s.attributes == 0 ? "" : StrCat(", ", s.attributes);
      cases->push_back({StrCat(row.op, "_", s.name),
                        {F("x", s.shape)},
                        StrCat(row.op, "(%x", attributes, ")"),
                        Fold(s.reduced, s.keepdims, row.join)});
    }
  }
  for (const char* op : {"sum", "prod", "max", "min"})
    cases->push_back({StrCat(op, "_of_int64"),
                      {L("x", {3, 5}, -4, 4)},
                      StrCat(op, "(%x, axis=[1])"),
                      Fold({false, true}, false,
                           std::string(op) == "sum"    ? Joiner(SumOf)
                           : std::string(op) == "prod" ? Joiner(ProductOf)
                           : std::string(op) == "max"  ? Joiner(GreatestOf)
                                                       : Joiner(LeastOf))});
  cases->push_back({"max_of_nan_is_nan",
                    {With(F("x", {2, 3}), {1, kNaN, 2, 3, 4, 5})},
                    "max(%x, axis=[1])",
                    Fold({false, true}, false, GreatestOf)});
  cases->push_back({"max_of_minus_infinity",
                    {With(F("x", {1, 3}), {-kInf, -kInf, -kInf})},
                    "max(%x, axis=[1])",
                    Fold({false, true}, false, GreatestOf)});
  cases->push_back({"mean_of_int32_divides_toward_zero",
                    {With(I("x", {2, 4}), {1, 2, 3, 5, -1, -2, -3, -5})},
                    "mean(%x, axis=[1])",
                    Fold({false, true}, false,
                         [](const std::vector<double>& v) { return std::trunc(MeanOf(v)); })});
  // Neither the sums nor the counts fit the bytes.
  for (const DataType type : {Int8, UInt8})
    cases->push_back({StrCat("mean_of_", type.ToString()),
                      {Input{"x", type, {3, 1000}}},
                      "mean(%x, axis=[1])",
                      Fold({false, true}, false,
                           [](const std::vector<double>& v) { return std::trunc(MeanOf(v)); })});
  cases->push_back({"variance_of_uint8",
                    {Input{"x", UInt8, {300}}, Input{"m", UInt8, {1}}},
                    "variance(%x, %m, axis=[0])",
                    [](const Arrays& in) {
                      double sum = 0;
                      for (const double v : in[0].values)
                        sum += (v - in[1].values[0]) * (v - in[1].values[0]);
                      const auto quotient = static_cast<std::int64_t>(sum / 300);
                      return Arrays{Array{{}, {static_cast<double>(quotient % 256)}}};
                    }});
  for (const bool last : {false, true}) {
    const std::string attributes = last ? ", select_last_index=True" : "";
    for (const bool greatest : {true, false}) {
      cases->push_back(
          {StrCat(greatest ? "argmax" : "argmin", "_of_ties_takes_the_", last ? "last" : "first"),
           {With(I("x", {4, 4}), {1, 3, 3, 0, 2, 2, 2, 2, 0, 0, 5, 0, -1, 4, -1, 4})},
           StrCat(greatest ? "argmax" : "argmin", "(%x, axis=[1]", attributes, ")"),
           Fold({false, true}, false, FirstOf(greatest, last))});
      cases->push_back({StrCat(greatest ? "argmax" : "argmin", "_along_columns_takes_the_",
                               last ? "last" : "first"),
                        {F("x", {4, 17}, 0, 0)},
                        StrCat(greatest ? "argmax" : "argmin", "(%x, axis=[0]", attributes, ")"),
                        Fold({true, false}, false, FirstOf(greatest, last))});
    }
  }
  const auto empty = [](double value) {
    return
        [value](const Arrays&) { return Arrays{Make({5}, [=](const Index&) { return value; })}; };
  };
  cases->push_back({"sum_of_nothing_is_0", {F("x", {0, 5})}, "sum(%x, axis=[0])", empty(0)});
  cases->push_back({"prod_of_nothing_is_1", {F("x", {0, 5})}, "prod(%x, axis=[0])", empty(1)});
  cases->push_back({"all_of_nothing", {B("x", {0, 5})}, "all(%x, axis=[0])", empty(1)});
  cases->push_back({"any_of_nothing", {B("x", {0, 5})}, "any(%x, axis=[0])", empty(0)});
  cases->push_back({"sum_to_nothing", {F("x", {5, 0})}, "sum(%x, axis=[0])", [](const Arrays&) {
                      return Arrays{Array{{0}, {}}};
                    }});
  cases->push_back({"all",
                    {With(B("x", {2, 3}), {1, 1, 1, 1, 0, 1})},
                    "all(%x, axis=[1])",
                    Fold({false, true}, false, LeastOf)});
  cases->push_back({"any",
                    {With(B("x", {2, 3}), {0, 0, 0, 1, 0, 1})},
                    "any(%x, axis=[1])",
                    Fold({false, true}, false, GreatestOf)});
  for (const bool unbiased : {false, true})
    cases->push_back(
        {StrCat("variance_", unbiased ? "unbiased" : "biased"),
         {F("x", {3, 7, 5}), F("m", {3, 1, 5})},
         StrCat("variance(%x, %m, axis=[1], unbiased=", unbiased ? "True" : "False", ")"),
         [unbiased](const Arrays& in) {
           return Arrays{Make({3, 5}, [&](const Index& at) {
             double sum = 0;
             for (std::int64_t k = 0; k < 7; ++k) {
               const double d = in[0]({at[0], k, at[1]}) - in[1]({at[0], 0, at[1]});
               sum += d * d;
             }
             return sum / (unbiased ? 6 : 7);
           })};
         }});
  cases->push_back({"collapse_sum_like",
                    {F("x", {3, 5, 7}), F("y", {5, 1})},
                    "collapse_sum_like(%x, %y)",
                    [](const Arrays& in) {
                      return Arrays{Make({5, 1}, [&](const Index& at) {
                        double sum = 0;
                        ForEach({3, 7}, [&](const Index& k) { sum += in[0]({k[0], at[0], k[1]}); });
                        return sum;
                      })};
                    }});
  cases->push_back({"collapse_sum_to",
                    {F("x", {3, 5, 7})},
                    "collapse_sum_to(%x, shape=[1, 7])",
                    [](const Arrays& in) {
                      return Arrays{Make({1, 7}, [&](const Index& at) {
                        double sum = 0;
                        ForEach({3, 5}, [&](const Index& k) { sum += in[0]({k[0], k[1], at[1]}); });
                        return sum;
                      })};
                    }});
  cases->push_back({"collapse_sum_to_its_own_shape",
                    {I("x", {3, 5})},
                    "collapse_sum_to(%x, shape=[3, 5])",
                    [](const Arrays& in) { return in; }});
}

void AddScans(std::vector<OpCase>* cases) {
  // Runs along `axis`; everything as one line when it is -1.
  const auto scan = [](Array x, int axis, bool exclusive, bool sum) {
    if (axis < 0) x = Reshaped(x, {static_cast<std::int64_t>(x.values.size())});
    return AlongLines(x, static_cast<std::size_t>(std::max(axis, 0)),
                      [=](const std::vector<double>& line) {
                        std::vector<double> y;
                        double value = sum ? 0 : 1;
                        for (const double v : line) {
                          if (exclusive) y.push_back(value);
                          value = sum ? value + v : value * v;
                          if (!exclusive) y.push_back(value);
                        }
                        return y;
                      });
  };
  for (const bool sum : {true, false})
    for (const bool exclusive : {true, false})
      for (const int axis : {-1, 0, 1, 2}) {
        const char* op = sum ? "cumsum" : "cumprod";
        cases->push_back(
            {StrCat(op, axis < 0 ? "_flat" : StrCat("_axis_", axis), exclusive ? "_exclusive" : ""),
             {F("x", {3, 17, 5}, 0.5, 1.5)},
             StrCat(op, "(%x", axis < 0 ? "" : StrCat(", axis=", axis == 2 ? -1 : axis),
                    exclusive ? ", exclusive=True" : "", ")"),
             [=](const Arrays& in) { return Arrays{scan(in[0], axis, exclusive, sum)}; }});
      }
  cases->push_back({"cumsum_of_bool_as_int32",
                    {B("x", {31})},
                    "cumsum(%x, axis=0, dtype=\"int32\")",
                    [=](const Arrays& in) { return Arrays{scan(in[0], 0, false, true)}; }});
  cases->push_back({"cumsum_of_int32_as_int64",
                    {With(I("x", {3}), {2147483647, 1, -5})},
                    "cumsum(%x, dtype=\"int64\")",
                    [=](const Arrays& in) { return Arrays{scan(in[0], 0, false, true)}; }});
  cases->push_back({"cumsum_of_rank_0", {F("x", {})}, "cumsum(%x)", [](const Arrays& in) {
                      return Arrays{Reshaped(in[0], {1})};
                    }});
  cases->push_back({"cumsum_of_nothing", {F("x", {0, 3})}, "cumsum(%x)", [](const Arrays&) {
                      return Arrays{Array{{0}, {}}};
                    }});
  cases->push_back({"cumsum_between_operators",
                    {F("x", {5, 7})},
                    "negative(cumsum(negative(%x), axis=1))",
                    [=](const Arrays& in) { return Arrays{scan(in[0], 1, false, true)}; }});
}

}  // namespace tenon::operator_cases
