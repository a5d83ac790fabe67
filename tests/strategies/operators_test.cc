// Every operator with a compute, compiled in all ways, against the interpreter of its tensor
// expression and against its definition written out here.
#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "tenon/ir/visit.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/graph_testing.h"

namespace tenon::strategies {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::IsClose;
using testing_graphs::Outcome;
using testing_graphs::Parsed;
using testing_graphs::Random;
using testing_graphs::ValueAt;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

using Index = std::vector<std::int64_t>;

// A tensor of doubles, indexed by coordinates.
struct Array {
  Shape shape;
  std::vector<double> values;

  std::size_t Offset(const Index& at) const {
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < shape.size(); ++d) offset = offset * shape[d] + at.at(d);
    return static_cast<std::size_t>(offset);
  }
  double operator()(const Index& at) const { return values.at(Offset(at)); }
  std::size_t rank() const { return shape.size(); }
};

Array Make(const Shape& shape, const std::function<double(const Index&)>& value) {
  Array array{shape, {}};
  const std::int64_t count = NumElements(shape);
  for (std::int64_t flat = 0; flat < count; ++flat) {
    Index at(shape.size());
    std::int64_t rest = flat;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at[d] = rest % shape[d];
      rest /= shape[d];
    }
    array.values.push_back(value(at));
  }
  return array;
}

void ForEach(const Shape& shape, const std::function<void(const Index&)>& visit) {
  Make(shape, [&](const Index& at) {
    visit(at);
    return 0.0;
  });
}

Array ToArray(const NDArray& x) {
  Array array{x.shape(), {}};
  for (std::int64_t i = 0; i < x.size(); ++i) array.values.push_back(ValueAt(x, i));
  return array;
}

using Arrays = std::vector<Array>;
using Reference = std::function<Arrays(const Arrays& inputs)>;

struct Input {
  std::string name;
  DataType dtype;
  Shape shape;
  double low = -1, high = 1;
  std::vector<double> values;  // instead of random ones when there are any
};

Input F(std::string name, Shape shape, double low = -1, double high = 1) {
  return {std::move(name), Float32, std::move(shape), low, high, {}};
}
Input D(std::string name, Shape shape) { return {std::move(name), Float64, std::move(shape)}; }
Input I(std::string name, Shape shape, double low = -9, double high = 9) {
  return {std::move(name), Int32, std::move(shape), low, high, {}};
}
Input L(std::string name, Shape shape, double low = -9, double high = 9) {
  return {std::move(name), Int64, std::move(shape), low, high, {}};
}
Input B(std::string name, Shape shape) { return {std::move(name), Bool, std::move(shape)}; }
Input With(Input input, std::vector<double> values) {
  input.values = std::move(values);
  return input;
}

NDArray ValueOf(const Input& input, int seed) {
  NDArray array = Random(input.shape, input.dtype, seed, input.low, input.high);
  for (std::size_t i = 0; i < input.values.size(); ++i) {
    if (input.dtype == Float32) array.data<float>()[i] = static_cast<float>(input.values[i]);
    if (input.dtype == Float64) array.data<double>()[i] = input.values[i];
    if (input.dtype == Int32)
      array.data<std::int32_t>()[i] = static_cast<std::int32_t>(input.values[i]);
    if (input.dtype == Int64)
      array.data<std::int64_t>()[i] = static_cast<std::int64_t>(input.values[i]);
    if (input.dtype == Bool) array.data<bool>()[i] = input.values[i] != 0;
  }
  return array;
}

struct OpCase {
  std::string name;
  std::vector<Input> inputs;
  std::string body;
  Reference reference;
};

std::string TextOf(const OpCase& c) {
  std::string params;
  for (const Input& input : c.inputs)
    StrAppend(&params, params.empty() ? "" : ", ", "%", input.name, ": Tensor[(",
              StrJoin(input.shape, ", "), "), ", input.dtype.ToString(), "]");
  return StrCat("def @main(", params, ") { ", c.body, " }");
}

// --- elementwise

Reference Map(std::function<double(double)> f) {
  return [f](const Arrays& in) {
    return Arrays{Make(in[0].shape, [&](const Index& at) { return f(in[0](at)); })};
  };
}

Shape BroadcastShape(const Shape& a, const Shape& b) {
  Shape shape(std::max(a.size(), b.size()), 1);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const std::int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    shape[shape.size() - 1 - i] = x == 1 ? y : x;
  }
  return shape;
}

double Spread(const Array& a, const Index& at) {
  Index own;
  for (std::size_t d = 0; d < a.rank(); ++d)
    own.push_back(a.shape[d] == 1 ? 0 : at[at.size() - a.rank() + d]);
  return a(own);
}

Reference Map2(std::function<double(double, double)> f) {
  return [f](const Arrays& in) {
    return Arrays{Make(BroadcastShape(in[0].shape, in[1].shape),
                       [&](const Index& at) { return f(Spread(in[0], at), Spread(in[1], at)); })};
  };
}

double NanMax(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::max(a, b); }
double NanMin(double a, double b) { return std::isnan(a) || std::isnan(b) ? kNaN : std::min(a, b); }

void AddUnary(std::vector<OpCase>* cases) {
  const std::vector<double> special = {kNaN, kInf, -kInf, 0.0, 0.5, -0.5, 1.5,  2.5,
                                       -2.5, 1,    -1,    88,  89,  -104, 1e-30};
  struct Row {
    const char* op;
    std::function<double(double)> f;
  };
  const std::vector<Row> rows = {
      {"acos", [](double x) { return std::acos(x); }},
      {"acosh", [](double x) { return std::acosh(x); }},
      {"asin", [](double x) { return std::asin(x); }},
      {"asinh", [](double x) { return std::asinh(x); }},
      {"atan", [](double x) { return std::atan(x); }},
      {"atanh", [](double x) { return std::atanh(x); }},
      {"cos", [](double x) { return std::cos(x); }},
      {"cosh", [](double x) { return std::cosh(x); }},
      {"erf", [](double x) { return std::erf(x); }},
      {"exp", [](double x) { return std::exp(x); }},
      {"fast_erf", [](double x) { return std::erf(x); }},
      {"fast_exp", [](double x) { return std::exp(x); }},
      {"fast_tanh", [](double x) { return std::tanh(x); }},
      {"log", [](double x) { return std::log(x); }},
      {"log10", [](double x) { return std::log10(x); }},
      {"log2", [](double x) { return std::log2(x); }},
      {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
      {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"sin", [](double x) { return std::sin(x); }},
      {"sinh", [](double x) { return std::sinh(x); }},
      {"sqrt", [](double x) { return std::sqrt(x); }},
      {"tan", [](double x) { return std::tan(x); }},
      {"tanh", [](double x) { return std::tanh(x); }},
      {"abs", [](double x) { return std::fabs(x); }},
      {"ceil", [](double x) { return std::ceil(x); }},
      {"floor", [](double x) { return std::floor(x); }},
      {"round", [](double x) { return std::round(x); }},
      {"trunc", [](double x) { return std::trunc(x); }},
      {"negative", [](double x) { return -x; }},
      {"copy", [](double x) { return x; }},
      {"annotation.stop_fusion", [](double x) { return x; }},
      {"zeros_like", [](double) { return 0.0; }},
      {"ones_like", [](double) { return 1.0; }},
      {"isnan", [](double x) { return std::isnan(x) ? 1.0 : 0.0; }},
      {"isinf", [](double x) { return std::isinf(x) ? 1.0 : 0.0; }},
      {"isfinite", [](double x) { return std::isfinite(x) ? 1.0 : 0.0; }},
      {"nn.relu", [](double x) { return NanMax(x, 0); }},
  };
  for (const Row& row : rows) {
    cases->push_back({StrCat(row.op, "_with_special_values"),
                      {With(F("x", {3, 17}, -4, 4), special)},
                      StrCat(row.op, "(%x)"),
                      Map(row.f)});
    cases->push_back({StrCat(row.op, "_rank_0"), {F("x", {})}, StrCat(row.op, "(%x)"), Map(row.f)});
    cases->push_back(
        {StrCat(row.op, "_empty"), {F("x", {0, 5})}, StrCat(row.op, "(%x)"), Map(row.f)});
  }
  const auto sign = [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0; };
  cases->push_back({"sign", {With(F("x", {16}), {0, kInf, -kInf, 1e-30})}, "sign(%x)", Map(sign)});
  cases->push_back({"sign_of_int64", {L("x", {17})}, "sign(%x)", Map(sign)});
  cases->push_back(
      {"abs_of_int32", {I("x", {17})}, "abs(%x)", Map([](double x) { return std::fabs(x); })});
  cases->push_back(
      {"negative_of_int64", {L("x", {15})}, "negative(%x)", Map([](double x) { return -x; })});
  cases->push_back({"relu_of_int32", {I("x", {15})}, "nn.relu(%x)", Map([](double x) {
                      return std::max(x, 0.0);
                    })});
  cases->push_back({"logical_not", {B("x", {17})}, "logical_not(%x)", Map([](double x) {
                      return x == 0 ? 1.0 : 0.0;
                    })});
  cases->push_back({"bitwise_not_of_bool", {B("x", {17})}, "bitwise_not(%x)", Map([](double x) {
                      return x == 0 ? 1.0 : 0.0;
                    })});
  cases->push_back(
      {"bitwise_not", {I("x", {17})}, "bitwise_not(%x)", Map([](double x) { return -x - 1; })});
  cases->push_back({"clip",
                    {With(F("x", {3, 7}, -4, 4), {kNaN, kInf, -kInf})},
                    "clip(%x, a_min=-1f, a_max=2.5f)",
                    Map([](double x) { return NanMax(NanMin(x, 2.5), -1); })});
  cases->push_back({"clip_of_int32_truncates_its_bounds",
                    {I("x", {19})},
                    "clip(%x, a_min=-1.5f, a_max=2.5f)",
                    Map([](double x) { return std::max(std::min(x, 2.0), -1.0); })});
  cases->push_back({"leaky_relu",
                    {With(F("x", {3, 7}), {kNaN, kInf, -kInf, 0})},
                    "nn.leaky_relu(%x, alpha=0.1f)",
                    Map([](double x) { return x > 0 ? x : 0.1 * x; })});
  cases->push_back({"cast_of_float_truncates",
                    {With(F("x", {11}, -9, 9), {-1.5, 1.5, -0.9, 0.9})},
                    "cast(%x, dtype=\"int32\")",
                    Map([](double x) { return std::trunc(x); })});
  cases->push_back({"cast_to_bool_says_what_is_not_zero",
                    {With(F("x", {11}, -9, 9), {0.0, 0.25})},
                    "cast(%x, dtype=\"bool\")",
                    Map([](double x) { return x != 0 ? 1.0 : 0.0; })});
  cases->push_back(
      {"cast_of_bool", {B("x", {11})}, "cast(%x, dtype=\"float32\")", Map([](double x) {
         return x;
       })});
  cases->push_back(
      {"cast_like", {I("x", {3, 5}), L("y", {2})}, "cast_like(%x, %y)", Map([](double x) {
         return x;
       })});
  cases->push_back(
      {"full_like", {F("x", {3, 5}), F("v", {})}, "full_like(%x, %v)", [](const Arrays& in) {
         return Arrays{Make(in[0].shape, [&](const Index&) { return in[1]({}); })};
       }});
  for (const int axis : {1, -1})
    cases->push_back({StrCat("prelu_axis_", axis < 0 ? "last" : "1"),
                      {F("x", {2, 5, 5}), F("a", {5})},
                      StrCat("nn.prelu(%x, %a, axis=", axis, ")"),
                      [axis](const Arrays& in) {
                        return Arrays{Make(in[0].shape, [&](const Index& at) {
                          const double x = in[0](at);
                          return x > 0 ? x : x * in[1]({at[axis < 0 ? 2 : 1]});
                        })};
                      }});
}

std::int64_t FloorDiv(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}

void AddBinary(std::vector<OpCase>* cases) {
  struct Row {
    const char* op;
    std::function<double(double, double)> f;
    bool special;
  };
  const std::vector<Row> floats = {
      {"add", [](double a, double b) { return a + b; }, true},
      {"subtract", [](double a, double b) { return a - b; }, true},
      {"multiply", [](double a, double b) { return a * b; }, true},
      {"divide", [](double a, double b) { return a / b; }, true},
      {"trunc_divide", [](double a, double b) { return std::trunc(a / b); }, false},
      {"floor_divide", [](double a, double b) { return std::floor(a / b); }, false},
      {"mod", [](double a, double b) { return std::fmod(a, b); }, false},
      {"trunc_mod", [](double a, double b) { return std::fmod(a, b); }, false},
      {"floor_mod", [](double a, double b) { return a - std::floor(a / b) * b; }, false},
      {"power", [](double a, double b) { return std::pow(a, b); }, true},
      {"maximum", NanMax, true},
      {"minimum", NanMin, true},
      {"equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }, true},
      {"not_equal", [](double a, double b) { return a != b ? 1.0 : 0.0; }, true},
      {"less", [](double a, double b) { return a < b ? 1.0 : 0.0; }, true},
      {"less_equal", [](double a, double b) { return a <= b ? 1.0 : 0.0; }, true},
      {"greater", [](double a, double b) { return a > b ? 1.0 : 0.0; }, true},
      {"greater_equal", [](double a, double b) { return a >= b ? 1.0 : 0.0; }, true},
  };
  const std::vector<double> first = {kNaN, kInf, -kInf, 0.5, 0, -1, 2, kInf, kNaN, 0.25};
  const std::vector<double> second = {0.5, 0.5, 2, kNaN, 0, -1, kInf, kInf, kNaN, -kInf};
  for (const Row& row : floats) {
    const std::string call = StrCat(row.op, "(%a, %b)");
    cases->push_back({StrCat(row.op, "_broadcast"),
                      {F("a", {3, 1, 17}, -4, 4), F("b", {5, 1}, 0.3, 1.4)},
                      call,
                      Map2(row.f)});
    cases->push_back(
        {StrCat(row.op, "_with_rank_0"), {F("a", {16}), F("b", {})}, call, Map2(row.f)});
    cases->push_back(
        {StrCat(row.op, "_empty"), {F("a", {3, 0}), F("b", {1, 1})}, call, Map2(row.f)});
    if (row.special)
      cases->push_back({StrCat(row.op, "_with_special_values"),
                        {With(F("a", {10}), first), With(F("b", {10}), second)},
                        call,
                        Map2(row.f)});
  }
  const auto whole = [](auto f) {
    return [f](double a, double b) {
      return static_cast<double>(f(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b)));
    };
  };
  using Int = std::int64_t;
  const std::vector<Row> divisions = {
      {"divide", whole([](Int a, Int b) { return a / b; }), false},
      {"trunc_divide", whole([](Int a, Int b) { return a / b; }), false},
      {"floor_divide", whole(FloorDiv), false},
      {"mod", whole([](Int a, Int b) { return a % b; }), false},
      {"trunc_mod", whole([](Int a, Int b) { return a % b; }), false},
      {"floor_mod", whole([](Int a, Int b) { return a - FloorDiv(a, b) * b; }), false},
  };
  for (const Row& row : divisions) {
    for (const bool wide : {false, true}) {
      std::vector<double> numerators;
      for (int i = -8; i <= 8; ++i) numerators.push_back(i);
      const std::vector<double> divisors = {2, -2, 3, -3, 1, -1, 7};
      Input a = wide ? L("a", {17}) : I("a", {17});
      Input b = wide ? L("b", {7, 1}) : I("b", {7, 1});
      cases->push_back({StrCat(row.op, wide ? "_of_int64" : "_of_int32"),
                        {With(a, numerators), With(b, divisors)},
                        StrCat(row.op, "(%a, %b)"),
                        Map2(row.f)});
    }
  }
  const std::vector<Row> integers = {
      {"add", [](double a, double b) { return a + b; }, false},
      {"multiply", [](double a, double b) { return a * b; }, false},
      {"maximum", NanMax, false},
      {"minimum", NanMin, false},
      {"less", [](double a, double b) { return a < b ? 1.0 : 0.0; }, false},
      {"equal", [](double a, double b) { return a == b ? 1.0 : 0.0; }, false},
      {"bitwise_and", whole([](Int a, Int b) { return a & b; }), false},
      {"bitwise_or", whole([](Int a, Int b) { return a | b; }), false},
      {"bitwise_xor", whole([](Int a, Int b) { return a ^ b; }), false},
  };
  for (const Row& row : integers) {
    const std::string call = StrCat(row.op, "(%a, %b)");
    cases->push_back({StrCat(row.op, "_int32"), {I("a", {3, 1}), I("b", {7})}, call, Map2(row.f)});
    cases->push_back({StrCat(row.op, "_int64"), {L("a", {13}), L("b", {13})}, call, Map2(row.f)});
  }
  const std::vector<Row> shifts = {
      {"left_shift", whole([](Int a, Int b) { return a * (Int{1} << b); }), false},
      {"right_shift", whole([](Int a, Int b) { return FloorDiv(a, Int{1} << b); }), false},
      {"power", whole([](Int a, Int b) {
         Int product = 1;
         for (Int i = 0; i < b; ++i) product *= a;
         return product;
       }),
       false},
  };
  for (const Row& row : shifts) {
    const std::string call = StrCat(row.op, "(%a, %b)");
    cases->push_back(
        {StrCat(row.op, "_by_int32"), {I("a", {3, 5}), I("b", {3, 1}, 0, 5)}, call, Map2(row.f)});
    cases->push_back(
        {StrCat(row.op, "_by_int64"), {L("a", {17}), L("b", {17}, 0, 5)}, call, Map2(row.f)});
  }
  const std::vector<Row> bools = {
      {"logical_and", [](double a, double b) { return a * b; }, false},
      {"logical_or", NanMax, false},
      {"logical_xor", [](double a, double b) { return a != b ? 1.0 : 0.0; }, false},
      {"bitwise_and", [](double a, double b) { return a * b; }, false},
      {"bitwise_or", NanMax, false},
      {"bitwise_xor", [](double a, double b) { return a != b ? 1.0 : 0.0; }, false},
  };
  for (const Row& row : bools)
    cases->push_back({StrCat(row.op, "_of_bools"),
                      {B("a", {3, 1}), B("b", {17})},
                      StrCat(row.op, "(%a, %b)"),
                      Map2(row.f)});
  const Reference where = [](const Arrays& in) {
    const Shape shape = BroadcastShape(in[0].shape, BroadcastShape(in[1].shape, in[2].shape));
    return Arrays{Make(shape, [&](const Index& at) {
      return Spread(in[0], at) != 0 ? Spread(in[1], at) : Spread(in[2], at);
    })};
  };
  cases->push_back({"where_broadcasts_three_ways",
                    {B("c", {3, 1, 1}), F("x", {5, 1}), F("y", {7})},
                    "where(%c, %x, %y)",
                    where});
  cases->push_back({"where_takes_numbers",
                    {I("c", {17}, -1, 1), With(L("x", {17}), {}), L("y", {})},
                    "where(%c, %x, %y)",
                    where});
  cases->push_back({"where_keeps_nan_apart",
                    {With(B("c", {3}), {1, 0, 1}), With(F("x", {3}), {1, kNaN, kNaN}),
                     With(F("y", {3}), {kNaN, 2, 3})},
                    "where(%c, %x, %y)",
                    where});
}

// --- reductions

// The elements that are joined into the result element, in row-major order.
using Joiner = std::function<double(const std::vector<double>& values)>;

Reference Fold(std::vector<bool> reduced, bool keepdims, Joiner join) {
  return [=](const Arrays& in) {
    const Array& x = in[0];
    Shape result, inner;
    for (std::size_t d = 0; d < x.rank(); ++d) {
      if (!reduced[d]) result.push_back(x.shape[d]);
      if (reduced[d] && keepdims) result.push_back(1);
      if (reduced[d]) inner.push_back(x.shape[d]);
    }
    return Arrays{Make(result, [&](const Index& at) {
      std::vector<double> values;
      ForEach(inner, [&](const Index& k) {
        Index from;
        std::size_t next_result = 0, next_inner = 0;
        for (std::size_t d = 0; d < x.rank(); ++d) {
          if (reduced[d]) {
            from.push_back(k[next_inner++]);
            if (keepdims) ++next_result;
          } else {
            from.push_back(at[next_result++]);
          }
        }
        values.push_back(x(from));
      });
      return join(values);
    })};
  };
}

double SumOf(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }
double ProductOf(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), 1.0, std::multiplies<>());
}
double MeanOf(const std::vector<double>& v) { return SumOf(v) / static_cast<double>(v.size()); }
double GreatestOf(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), -kInf, NanMax);
}
double LeastOf(const std::vector<double>& v) {
  return std::accumulate(v.begin(), v.end(), kInf, NanMin);
}
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
}

// --- convolution and pooling

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

Shape InOrder(const std::string& letters, const std::string& layout, const Shape& shape) {
  Shape ordered;
  for (const char letter : layout) ordered.push_back(shape[letters.find(letter)]);
  return ordered;
}

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

struct UpSample {
  const char* name;
  double h, w;
  Shape result;  // height, width
};

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

// --- matrix products

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

Array Reshaped(Array x, Shape shape) {
  x.shape = std::move(shape);
  return x;
}

void AddProducts(std::vector<OpCase>* cases) {
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

// --- normalisations

using LineFunction = std::function<std::vector<double>(const std::vector<double>& line)>;

Array AlongLines(const Array& x, std::size_t axis, const LineFunction& f) {
  return Make(x.shape, [&](const Index& at) {
    std::vector<double> line;
    for (std::int64_t k = 0; k < x.shape[axis]; ++k) {
      Index from = at;
      from[axis] = k;
      line.push_back(x(from));
    }
    return f(line)[static_cast<std::size_t>(at[axis])];
  });
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
  for (const int size : {1, 3, 5, 9})
    for (const int axis : {1, -1})
      cases->push_back({StrCat("lrn_size_", size, "_axis_", axis < 0 ? "last" : "1"),
                        {F("x", {2, 7, 3, 5}, -3, 3)},
                        StrCat("nn.lrn(%x, size=", size, ", axis=", axis,
                               ", bias=1.5f, alpha=0.5f, beta=0.75f)"),
                        [=](const Arrays& in) {
                          return Arrays{Make(in[0].shape, [&](const Index& at) {
                            const std::size_t along = axis < 0 ? 3 : 1;
                            double squares = 0;
                            for (std::int64_t k = -(size / 2); k <= size / 2; ++k) {
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

// --- operators that move elements

Reference Move(Shape shape, std::function<Index(const Index& at)> source) {
  return [=](const Arrays& in) {
    return Arrays{Make(shape, [&](const Index& at) { return in[0](source(at)); })};
  };
}

Reference SameValues(Shape shape) {
  return [=](const Arrays& in) { return Arrays{Reshaped(in[0], shape)}; };
}

void AddReshapes(std::vector<OpCase>* cases) {
  const auto reshape = [&](const char* name, const char* codes, const Shape& to) {
    cases->push_back({StrCat("reshape_", name),
                      {F("x", {2, 6, 4, 5})},
                      StrCat("reshape(%x, newshape=[", codes, "])"),
                      SameValues(to)});
  };
  reshape("infers", "0, -1", {2, 120});
  reshape("copies_the_rest", "-2", {2, 6, 4, 5});
  reshape("merges", "-3, -2", {12, 4, 5});
  reshape("splits", "0, -4, 2, -1, -2", {2, 2, 3, 4, 5});
  reshape("merges_the_last", "0, 0, -3", {2, 6, 20});
  reshape("plainly", "5, 3, 16", {5, 3, 16});
  cases->push_back({"reshape_of_nothing",
                    {F("x", {0, 5})},
                    "reshape(%x, newshape=[5, 0], allowzero=True)",
                    SameValues({5, 0})});
  cases->push_back(
      {"reshape_to_rank_0", {F("x", {1, 1})}, "reshape(%x, newshape=[])", SameValues({})});
  cases->push_back({"reshape_like",
                    {F("x", {3, 10}), F("y", {5, 6})},
                    "reshape_like(%x, %y)",
                    SameValues({5, 6})});
  cases->push_back({"reshape_like_partly",
                    {F("x", {30, 7}), F("y", {15, 2, 7})},
                    "reshape_like(%x, %y, lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2)",
                    SameValues({15, 2, 7})});
  cases->push_back(
      {"batch_flatten", {F("x", {3, 5, 7})}, "nn.batch_flatten(%x)", SameValues({3, 35})});
  cases->push_back({"expand_dims",
                    {F("x", {3, 5})},
                    "expand_dims(%x, axis=1, num_newaxis=2)",
                    SameValues({3, 1, 1, 5})});
  cases->push_back({"squeeze", {F("x", {1, 3, 1, 5})}, "squeeze(%x)", SameValues({3, 5})});
  cases->push_back(
      {"squeeze_axis", {F("x", {1, 3, 1, 5})}, "squeeze(%x, axis=[-2])", SameValues({1, 3, 5})});
  // Computed before and after, so that the reshape is no mere view.
  cases->push_back({"reshape_between_operators",
                    {F("x", {3, 10})},
                    "negative(reshape(negative(%x), newshape=[5, 6]))",
                    SameValues({5, 6})});
}

void AddMoves(std::vector<OpCase>* cases) {
  cases->push_back({"transpose_reverses",
                    {F("x", {3, 17, 5})},
                    "transpose(%x)",
                    Move({5, 17, 3}, [](const Index& i) {
                      return Index{i[2], i[1], i[0]};
                    })});
  cases->push_back({"transpose_axes",
                    {F("x", {3, 17, 5})},
                    "transpose(%x, axes=[1, -1, 0])",
                    Move({17, 5, 3}, [](const Index& i) {
                      return Index{i[2], i[0], i[1]};
                    })});
  cases->push_back(
      {"transpose_of_nothing", {F("x", {0, 3})}, "transpose(%x)", Move({3, 0}, [](const Index& i) {
         return Index{i[1], i[0]};
       })});
  cases->push_back(
      {"reverse", {I("x", {3, 7})}, "reverse(%x, axis=-1)", Move({3, 7}, [](const Index& i) {
         return Index{i[0], 6 - i[1]};
       })});
  cases->push_back({"broadcast_to",
                    {F("x", {5, 1})},
                    "broadcast_to(%x, shape=[3, 5, 7], dtype=\"float32\")",
                    Move({3, 5, 7}, [](const Index& i) {
                      return Index{i[1], 0};
                    })});
  cases->push_back({"broadcast_to_like",
                    {F("x", {5, 1}), I("y", {3, 5, 7})},
                    "broadcast_to_like(%x, %y)",
                    Move({3, 5, 7}, [](const Index& i) {
                      return Index{i[1], 0};
                    })});
  cases->push_back(
      {"tile", {F("x", {3, 5})}, "tile(%x, reps=[2, 3])", Move({6, 15}, [](const Index& i) {
         return Index{i[0] % 3, i[1] % 5};
       })});
  cases->push_back({"tile_of_higher_rank",
                    {F("x", {5})},
                    "tile(%x, reps=[2, 1, 3])",
                    Move({2, 1, 15}, [](const Index& i) { return Index{i[2] % 5}; })});
  cases->push_back({"tile_of_fewer_reps",
                    {F("x", {3, 5})},
                    "tile(%x, reps=[2])",
                    Move({3, 10}, [](const Index& i) {
                      return Index{i[0], i[1] % 5};
                    })});
  cases->push_back({"repeat",
                    {F("x", {3, 5})},
                    "repeat(%x, repeats=3, axis=1)",
                    Move({3, 15}, [](const Index& i) {
                      return Index{i[0], i[1] / 3};
                    })});
  cases->push_back({"repeat_last",
                    {F("x", {3, 5})},
                    "repeat(%x, repeats=2, axis=-1)",
                    Move({3, 10}, [](const Index& i) {
                      return Index{i[0], i[1] / 2};
                    })});
  cases->push_back({"slice_like",
                    {F("x", {5, 7}), F("y", {3, 4})},
                    "slice_like(%x, %y)",
                    Move({3, 4}, [](const Index& i) { return i; })});
  cases->push_back({"slice_like_axes",
                    {F("x", {5, 7}), F("y", {3, 4})},
                    "slice_like(%x, %y, axes=[1])",
                    Move({5, 4}, [](const Index& i) { return i; })});

  cases->push_back({"split_equally",
                    {F("x", {3, 15})},
                    "split(%x, indices_or_sections=3, axis=1)",
                    [](const Arrays& in) {
                      Arrays parts;
                      for (std::int64_t p = 0; p < 3; ++p)
                        parts.push_back(Make({3, 5}, [&](const Index& i) {
                          return in[0]({i[0], p * 5 + i[1]});
                        }));
                      return parts;
                    }});
  cases->push_back({"split_at_points",
                    {F("x", {7, 3})},
                    "split(%x, indices_or_sections=[2, 2, 6], axis=0)",
                    [](const Arrays& in) {
                      Arrays parts;
                      const Shape cuts = {0, 2, 2, 6, 7};
                      for (std::size_t p = 0; p + 1 < cuts.size(); ++p)
                        parts.push_back(Make({cuts[p + 1] - cuts[p], 3}, [&](const Index& i) {
                          return in[0]({cuts[p] + i[0], i[1]});
                        }));
                      return parts;
                    }});
  const auto joined = [](std::size_t axis, Shape shape) {
    return [=](const Arrays& in) {
      return Arrays{Make(shape, [&](const Index& at) {
        Index from = at;
        for (const Array& part : in) {
          if (from[axis] < part.shape[axis]) return part(from);
          from[axis] -= part.shape[axis];
        }
        throw Unimplemented("an index beyond all parts");
      })};
    };
  };
  cases->push_back({"concatenate_first",
                    {F("a", {2, 5}), F("b", {1, 5}), F("c", {4, 5})},
                    "concatenate((%a, %b, %c), axis=0)",
                    joined(0, {7, 5})});
  cases->push_back({"concatenate_last",
                    {F("a", {3, 16}), F("b", {3, 1})},
                    "concatenate((%a, %b), axis=-1)",
                    joined(1, {3, 17})});
  cases->push_back(
      {"concatenate_one", {F("a", {3, 5})}, "concatenate((%a,), axis=0)", joined(0, {3, 5})});
  cases->push_back({"concatenate_empty_between",
                    {F("a", {2, 3}), F("b", {0, 3}), F("c", {1, 3})},
                    "concatenate((%a, %b, %c), axis=0)",
                    joined(0, {3, 3})});
  cases->push_back({"concatenate_empty_first_and_last",
                    {F("a", {0, 3}), F("b", {2, 3}), F("c", {0, 3})},
                    "concatenate((%a, %b, %c), axis=0)",
                    joined(0, {2, 3})});
  cases->push_back({"concatenate_computed",
                    {F("a", {2, 3}), F("b", {4, 3})},
                    "negative(concatenate((negative(%a), negative(%b)), axis=0))",
                    joined(0, {6, 3})});
  for (const int axis : {0, 1, -1})
    cases->push_back({StrCat("stack_axis_", axis < 0 ? "last" : std::to_string(axis)),
                      {F("a", {3, 5}), F("b", {3, 5}), F("c", {3, 5})},
                      StrCat("stack((%a, %b, %c), axis=", axis, ")"),
                      [axis](const Arrays& in) {
                        const std::size_t at = axis < 0 ? 2 : static_cast<std::size_t>(axis);
                        Shape shape = {3, 5};
                        shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at), 3);
                        return Arrays{Make(shape, [&](const Index& i) {
                          Index from = i;
                          from.erase(from.begin() + static_cast<std::ptrdiff_t>(at));
                          return in[static_cast<std::size_t>(i[at])](from);
                        })};
                      }});
  for (const bool xy : {false, true})
    cases->push_back({StrCat("meshgrid_", xy ? "xy" : "ij"),
                      {F("a", {3}), F("b", {5}), F("c", {2})},
                      StrCat("meshgrid((%a, %b, %c), indexing=\"", xy ? "xy" : "ij", "\")"),
                      [xy](const Arrays& in) {
                        const Shape shape = xy ? Shape{5, 3, 2} : Shape{3, 5, 2};
                        Arrays grids;
                        for (std::size_t f = 0; f < 3; ++f)
                          grids.push_back(Make(shape, [&](const Index& i) {
                            return in[f]({i[xy && f < 2 ? 1 - f : f]});
                          }));
                        return grids;
                      }});
}

// Python's slice of an axis.
std::vector<std::int64_t> Slice(std::int64_t begin, std::int64_t end, std::int64_t step,
                                std::int64_t extent) {
  const auto bound = [&](std::int64_t at) {
    if (at < 0) at += extent;
    return step > 0 ? std::clamp<std::int64_t>(at, 0, extent)
                    : std::clamp<std::int64_t>(at, -1, extent - 1);
  };
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = bound(begin); step > 0 ? i < bound(end) : i > bound(end); i += step)
    chosen.push_back(i);
  return chosen;
}

void AddSlices(std::vector<OpCase>* cases) {
  const auto slice = [&](const char* name, const Shape& from, const char* attributes,
                         const std::vector<std::vector<std::int64_t>>& chosen) {
    Shape shape;
    for (const auto& axis : chosen) shape.push_back(static_cast<std::int64_t>(axis.size()));
    cases->push_back({StrCat("strided_slice_", name),
                      {F("x", from)},
                      StrCat("strided_slice(%x, ", attributes, ")"),
                      Move(shape, [chosen](const Index& i) {
                        Index at;
                        for (std::size_t d = 0; d < i.size(); ++d)
                          at.push_back(chosen[d][static_cast<std::size_t>(i[d])]);
                        return at;
                      })});
  };
  const auto all = [](std::int64_t extent) { return Slice(0, extent, 1, extent); };
  slice("simple", {7, 17}, "begin=[1, 2], end=[5, 16]", {Slice(1, 5, 1, 7), Slice(2, 16, 1, 17)});
  slice("steps", {7, 17}, "begin=[0, 1], end=[7, 17], strides=[2, 3]",
        {Slice(0, 7, 2, 7), Slice(1, 17, 3, 17)});
  slice("backwards", {5}, "begin=[-1], end=[-6], strides=[-2]", {{4, 2, 0}});
  slice("backwards_not_to_the_end", {7}, "begin=[5], end=[1], strides=[-1]", {Slice(5, 1, -1, 7)});
  slice("from_the_end", {7, 5}, "begin=[-3, -2], end=[-1, 5]",
        {Slice(-3, -1, 1, 7), Slice(-2, 5, 1, 5)});
  slice("out_of_range_is_clamped", {7}, "begin=[-100], end=[100]", {all(7)});
  slice("of_fewer_axes", {7, 5}, "begin=[2], end=[4]", {Slice(2, 4, 1, 7), all(5)});
  slice("of_named_axes", {7, 5, 3}, "begin=[1, 1], end=[3, 4], axes=[-1, 1]",
        {all(7), Slice(1, 4, 1, 5), Slice(1, 3, 1, 3)});
  slice("to_nothing", {7, 5}, "begin=[5], end=[2]", {{}, all(5)});
  slice("by_size", {7, 5}, "begin=[1, 2], end=[3, -1], slice_mode=\"size\"",
        {{1, 2, 3}, {2, 3, 4}});
  slice("by_size_from_the_end", {7}, "begin=[-3], end=[2], slice_mode=\"size\"", {{4, 5}});
  slice("by_size_beyond_the_end", {7}, "begin=[5], end=[9], slice_mode=\"size\"", {{5, 6}});
}

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

void AddPads(std::vector<OpCase>* cases) {
  const auto pad = [&](const char* name, const char* call, const Shape& before, const Shape& shape,
                       const std::function<std::int64_t(std::int64_t, std::int64_t)>& source) {
    cases->push_back({name, {F("x", {5, 7}), F("v", {})}, call, [=](const Arrays& in) {
                        return Arrays{Make(shape, [&](const Index& i) {
                          Index from;
                          for (std::size_t d = 0; d < 2; ++d) {
                            const std::int64_t extent = in[0].shape[d];
                            from.push_back(source(i[d] - before[d], extent));
                            if (from[d] < 0 || from[d] >= extent) return in[1]({});
                          }
                          return in[0](from);
                        })};
                      }});
  };
  const auto none = [](std::int64_t i, std::int64_t) { return i; };
  const auto edge = [](std::int64_t i, std::int64_t n) {
    return std::clamp<std::int64_t>(i, 0, n - 1);
  };
  const auto reflect = [](std::int64_t i, std::int64_t n) {
    return i < 0 ? -i : i >= n ? 2 * n - 2 - i : i;
  };
  const auto symmetric = [](std::int64_t i, std::int64_t n) {
    return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
  };
  pad("pad_constant", "nn.pad(%x, %v, pad_width=[[1, 2], [0, 3]])", {1, 0}, {8, 10}, none);
  pad("pad_crops", "nn.pad(%x, %v, pad_width=[[-1, 2], [3, -4]])", {-1, 3}, {6, 6}, none);
  pad("pad_edge", "nn.pad(%x, %v, pad_width=[[9, 2], [1, 3]], pad_mode=\"edge\")", {9, 1}, {16, 11},
      edge);
  pad("pad_reflect", "nn.pad(%x, %v, pad_width=[[4, 2], [1, 6]], pad_mode=\"reflect\")", {4, 1},
      {11, 14}, reflect);
  pad("mirror_pad_reflect",
      "add(nn.mirror_pad(%x, pad_width=[[4, 2], [1, 6]], mode=\"REFLECT\"), multiply(%v, 0f))",
      {4, 1}, {11, 14}, reflect);
  pad("mirror_pad_symmetric",
      "add(nn.mirror_pad(%x, pad_width=[[5, 2], [1, 7]], mode=\"SYMMETRIC\"), multiply(%v, 0f))",
      {5, 1}, {12, 15}, symmetric);
  cases->push_back({"pad_of_nothing",
                    {F("x", {0, 3}), F("v", {})},
                    "nn.pad(%x, %v, pad_width=[[1, 2], [0, 0]])",
                    [](const Arrays& in) {
                      return Arrays{Make({3, 3}, [&](const Index&) { return in[1]({}); })};
                    }});
}

void AddCreations(std::vector<OpCase>* cases) {
  const auto filled = [](Shape shape, double value) {
    return [=](const Arrays&) { return Arrays{Make(shape, [=](const Index&) { return value; })}; };
  };
  cases->push_back({"zeros", {}, "zeros(shape=[3, 5], dtype=\"float32\")", filled({3, 5}, 0)});
  cases->push_back({"ones", {}, "ones(shape=[17], dtype=\"int64\")", filled({17}, 1)});
  cases->push_back({"ones_of_rank_0", {}, "ones(shape=[], dtype=\"float32\")", filled({}, 1)});
  cases->push_back(
      {"zeros_of_nothing", {}, "zeros(shape=[0, 3], dtype=\"bool\")", filled({0, 3}, 0)});
  cases->push_back({"full",
                    {With(F("v", {}), {2.5})},
                    "full(%v, shape=[2, 3], dtype=\"float32\")",
                    filled({2, 3}, 2.5)});
  cases->push_back({"full_casts",
                    {With(F("v", {}), {2.5})},
                    "full(%v, shape=[2, 3], dtype=\"int32\")",
                    filled({2, 3}, 2)});
  cases->push_back(
      {"arange", {}, "arange(start=1f, stop=8f, step=2f, dtype=\"float32\")", [](const Arrays&) {
         return Arrays{Array{{4}, {1, 3, 5, 7}}};
       }});
  cases->push_back({"arange_down",
                    {},
                    "arange(start=3f, stop=-4f, step=-3f, dtype=\"int64\")",
                    [](const Arrays&) {
                      return Arrays{Array{{3}, {3, 0, -3}}};
                    }});
  cases->push_back(
      {"shape_of", {F("x", {3, 5, 7})}, "shape_of(%x, dtype=\"int64\")", [](const Arrays&) {
         return Arrays{Array{{3}, {3, 5, 7}}};
       }});
  cases->push_back(
      {"ndarray_size", {F("x", {3, 5, 7})}, "ndarray_size(%x, dtype=\"int32\")", filled({}, 105)});
}

const std::vector<OpCase>& Cases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> made;
    AddUnary(&made);
    AddBinary(&made);
    AddReductions(&made);
    AddConvolutions(&made);
    AddPools(&made);
    AddUpSamplings(&made);
    AddProducts(&made);
    AddNorms(&made);
    AddReshapes(&made);
    AddMoves(&made);
    AddSlices(&made);
    AddIndexing(&made);
    AddScans(&made);
    AddScatters(&made);
    AddSequences(&made);
    AddPads(&made);
    AddCreations(&made);
    return made;
  }();
  return cases;
}

void PrintTo(const OpCase& c, std::ostream* out) { *out << c.name; }

class OperatorTest : public ::testing::TestWithParam<OpCase> {};

TEST_P(OperatorTest, EqualsItsDefinitionHoweverItIsCompiled) {
  const OpCase& c = GetParam();
  SCOPED_TRACE(TextOf(c));
  const ir::Module module = Parsed(TextOf(c));
  runtime::Inputs inputs;
  Arrays arrays;
  int seed = std::accumulate(c.name.begin(), c.name.end(), 0);
  for (const Input& input : c.inputs) {
    const NDArray value = ValueOf(input, ++seed * 31);
    inputs[input.name] = value;
    arrays.push_back(ToArray(value));
  }
  const std::vector<NDArray> interpreted = Interpreted(module, inputs);
  const Arrays expected = c.reference(arrays);
  ASSERT_EQ(interpreted.size(), expected.size());
  for (std::size_t r = 0; r < expected.size(); ++r) {
    SCOPED_TRACE(StrCat("the interpreter and the definition, result ", r));
    ASSERT_EQ(interpreted[r].shape(), expected[r].shape);
    const bool is_float = interpreted[r].dtype().is_float();
    for (std::int64_t i = 0; i < interpreted[r].size(); ++i) {
      double value = expected[r].values[static_cast<std::size_t>(i)];
      if (interpreted[r].dtype() == Float32) value = static_cast<float>(value);
      ASSERT_PRED3(IsClose, ValueAt(interpreted[r], i), value, is_float ? 1e-4 : 0)
          << "element " << i;
    }
  }
  for (const LibraryChoice library : {LibraryChoice::kTe, LibraryChoice::kAuto})
    for (const int opt_level : {0, 3}) {
      SCOPED_TRACE(StrCat(library == LibraryChoice::kTe ? "te" : "auto", ", level ", opt_level));
      ExpectClose(Outcome(module, inputs, {.opt_level = opt_level, .library = library}),
                  interpreted);
    }
}

INSTANTIATE_TEST_SUITE_P(All, OperatorTest, ::testing::ValuesIn(Cases()), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

TEST(OperatorTableTest, HoldsEveryOperatorThatHasACompute) {
  RegisterStrategies(ops::OpRegistry::Global());
  std::set<std::string> called;
  for (const OpCase& c : Cases())
    ir::VisitPostOrder(Parsed(TextOf(c)).Main().body, [&](const ir::Expr& e) {
      if (const auto* call = e.As<ir::CallNode>(); call != nullptr && call->op() != nullptr)
        called.insert(call->op()->name);
    });
  std::vector<std::string> missing;
  for (const std::string& name : ops::OpRegistry::Global().Names()) {
    const ops::OpDef& op = *ops::OpOf(ops::OpRegistry::Global().Get(name));
    // Other tests of this program register operators of their own.
    if (name.starts_with("my.")) continue;
    if (op.Column<TeCompute>() != nullptr && !called.contains(name)) missing.push_back(name);
  }
  EXPECT_THAT(missing, ::testing::IsEmpty());
  EXPECT_GT(called.size(), 100U);
}

TEST(OperatorTableTest, HasNoNameTwice) {
  std::set<std::string> names;
  for (const OpCase& c : Cases()) EXPECT_TRUE(names.insert(c.name).second) << c.name;
}

// Apart from the table: no field has elements, so nothing may be read.
TEST(OperatorEdgeTest, ConcatenationOfEmptyFieldsOnlyIsEmpty) {
  const ir::Module module = Parsed(
      "def @main(%a: Tensor[(0, 3), float32], %b: Tensor[(0, 3), float32]) "
      "{ concatenate((%a, %b), axis=0) }");
  const NDArray nothing = NDArray::Zeros({0, 3}, Float32);
  const auto results = Outcome(module, {{"a", nothing}, {"b", nothing}});
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].shape(), (Shape{0, 3}));
}

}  // namespace
}  // namespace tenon::strategies
