// Elementwise operators of one, two and three inputs.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tenon/support/strings.h"
#include "tenon/tests/strategies/operator_cases.h"

namespace tenon::operator_cases {
namespace {

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

std::int64_t FloorDiv(std::int64_t a, std::int64_t b) {
  return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}

}  // namespace

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
      {"nearbyint", [](double x) { return std::nearbyint(x); }},
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
  cases->push_back({"clip_of_crossed_bounds_is_the_upper_one",
                    {With(F("x", {3, 7}, -4, 4), {kNaN, kInf, -kInf})},
                    "clip(%x, a_min=3f, a_max=-1f)",
                    Map([](double x) { return NanMin(NanMax(x, 3), -1); })});
  cases->push_back({"clip_of_int32_truncates_its_bounds",
                    {I("x", {19})},
                    "clip(%x, a_min=-1.5f, a_max=2.5f)",
                    Map([](double x) { return std::max(std::min(x, 2.0), -1.0); })});
  cases->push_back({"leaky_relu",
                    {With(F("x", {3, 7}), {kNaN, kInf, -kInf, 0})},
                    "nn.leaky_relu(%x, alpha=0.1f)",
                    Map([](double x) { return x > 0 ? x : 0.1 * x; })});
  const auto bits = [](auto from, auto to) {
    return Map([=](double x) {
      auto narrow = from;
      narrow = static_cast<decltype(from)>(x);
      auto result = to;
      static_assert(sizeof narrow == sizeof result);
      std::memcpy(&result, &narrow, sizeof narrow);
      return static_cast<double>(result);
    });
  };
  cases->push_back({"reinterpret_float_as_int",
                    {With(F("x", {2, 3}), {0, -0.0, 1, -2.5, kInf, 3e-45})},
                    "reinterpret(%x, dtype=\"int32\")",
                    bits(float{}, std::int32_t{})});
  cases->push_back({"reinterpret_int_as_float",
                    {I("x", {17}, 1e9, 1.1e9)},
                    "reinterpret(%x, dtype=\"float32\")",
                    bits(std::int32_t{}, float{})});
  cases->push_back({"reinterpret_amid_arithmetic",
                    {I("x", {5, 13}, 1e9, 1.1e9)},
                    "add(reinterpret(add(%x, 1), dtype=\"float32\"), 1f)",
                    Map([](double x) {
                      const auto whole = static_cast<std::int32_t>(x) + 1;
                      float result = 0;
                      std::memcpy(&result, &whole, sizeof whole);
                      return result + 1.0F;
                    })});
  cases->push_back({"reinterpret_long_as_double",
                    {L("x", {7})},
                    "reinterpret(reinterpret(%x, dtype=\"float64\"), dtype=\"int64\")",
                    Map([](double x) { return x; })});
  cases->push_back({"reinterpret_nothing",
                    {I("x", {0, 3})},
                    "reinterpret(%x, dtype=\"float32\")",
                    bits(std::int32_t{}, float{})});
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

}  // namespace tenon::operator_cases
