// Every intrinsic against the C++ library's function, on rows of 16 + 1 elements: the first 16 go
// through one vector register, the last one through the scalar rest of the split loop.
#include "tenon/jit/llvm/vector_math.h"

#include <bit>
#include <cctype>
#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/host_target.h"
#include "tenon/jit/kernel.h"
#include "tenon/schedule/lower.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using loop::Intrinsic;
using te::Placeholder;
using te::Tensor;
using te::Var;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Applies `intrinsic` to rows of `columns` elements, of which `lanes` at a time are one vector.
std::vector<NDArray> Apply(Intrinsic intrinsic, const std::vector<NDArray>& inputs,
                           DataType result_type, std::int64_t lanes = 16,
                           const CompileOptions& options = {}) {
  const std::int64_t columns = lanes + 1, rows = inputs[0].size() / columns;
  std::vector<Tensor> args;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    args.push_back(Placeholder({rows, columns}, inputs[i].dtype(), StrCat("x", i)));
  const Tensor out = te::Compute(
      {rows, columns},
      [&](Var i, Var j) {
        std::vector<Expr> operands;
        for (const Tensor& arg : args) operands.push_back(arg(i, j));
        return loop::Call(intrinsic, operands);
      },
      "out");
  schedule::Schedule s(out);
  s[out].Vectorize(s[out].Split(out.axis(1), lanes).second);
  args.push_back(out);
  std::vector<NDArray> arrays = inputs;
  arrays.push_back(NDArray::Zeros({rows, columns}, result_type));
  const auto kernel = Compile(schedule::Lower(s, args, "kernel"), options);
  EXPECT_TRUE(kernel.ok()) << kernel.status();
  if (kernel.ok()) {
    const absl::Status status = kernel->Run(arrays);
    EXPECT_TRUE(status.ok()) << status;
  }
  return arrays;
}

NDArray Rows(std::vector<float> values, std::int64_t lanes = 16) {
  while (values.size() % static_cast<std::size_t>(lanes + 1) != 0) values.push_back(values[0]);
  const auto size = static_cast<std::int64_t>(values.size());
  return NDArray::FromVector<float>({size / (lanes + 1), lanes + 1}, values);
}

double Ulp(double exact) {
  const double magnitude = std::max(std::abs(exact), static_cast<double>(FLT_MIN));
  return std::ldexp(1.0, std::ilogb(magnitude) - 23);
}

// `actual` agrees with the exact result: NaN and infinities as they are, results up to the smallest
// normal number may be flushed (what libmvec computes on the way may be smaller), others are within
// `ulps`.
void ExpectClose(float actual, double exact, double ulps, const std::string& what) {
  if (std::isnan(exact)) {
    EXPECT_TRUE(std::isnan(actual)) << what << " gives " << actual << ", exact is NaN";
  } else if (std::isinf(static_cast<float>(exact))) {
    EXPECT_EQ(actual, static_cast<float>(exact)) << what;
  } else if (std::abs(exact) <= static_cast<double>(FLT_MIN)) {
    EXPECT_LE(std::abs(actual), FLT_MIN) << what << ", exact is " << exact;
  } else {
    EXPECT_LE(std::abs(actual - exact) / Ulp(exact), ulps)
        << what << " gives " << actual << ", exact is " << exact;
  }
}

using Unary = double (*)(double);

struct Case {
  Intrinsic intrinsic;
  Unary exact;
  double low, high;          // the range in which the error bound is checked
  double ulps;               // libmvec promises 4; 0.5 is correct rounding
  bool logarithmic = false;  // draws the exponent, not the value, from the range
};

void PrintTo(const Case& c, std::ostream* out) { *out << loop::ToString(c.intrinsic); }

double Rsqrt(double x) { return 1 / std::sqrt(x); }
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double Sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
double RoundToEven(double x) { return std::nearbyint(x); }

const Case kCases[] = {
    {Intrinsic::kExp, std::exp, -87, 88, 2},
    {Intrinsic::kLog, std::log, -37, 38, 4, true},
    {Intrinsic::kLog2, std::log2, -37, 38, 4, true},
    {Intrinsic::kLog10, std::log10, -37, 38, 4, true},
    {Intrinsic::kLog1p, std::log1p, -0.99, 100, 4},
    {Intrinsic::kSqrt, std::sqrt, -37, 38, 0.5, true},
    // Two correctly rounded operations.
    {Intrinsic::kRsqrt, Rsqrt, -37, 38, 1.5, true},
    {Intrinsic::kSin, std::sin, -100, 100, 4},
    {Intrinsic::kCos, std::cos, -100, 100, 4},
    {Intrinsic::kTan, std::tan, -100, 100, 4},
    {Intrinsic::kAsin, std::asin, -1, 1, 4},
    {Intrinsic::kAcos, std::acos, -1, 1, 4},
    {Intrinsic::kAtan, std::atan, -100, 100, 4},
    {Intrinsic::kSinh, std::sinh, -88, 88, 4},
    {Intrinsic::kCosh, std::cosh, -88, 88, 4},
    {Intrinsic::kTanh, std::tanh, -10, 10, 4},
    {Intrinsic::kAsinh, std::asinh, -1000, 1000, 4},
    {Intrinsic::kAcosh, std::acosh, 1, 1000, 4},
    {Intrinsic::kAtanh, std::atanh, -0.999, 0.999, 4},
    {Intrinsic::kErf, std::erf, -4, 4, 4},
    // The exponential's 2 and two roundings.
    {Intrinsic::kSigmoid, Sigmoid, -87, 88, 3},
    {Intrinsic::kAbs, std::fabs, -1000, 1000, 0},
    {Intrinsic::kFloor, std::floor, -1000, 1000, 0},
    {Intrinsic::kCeil, std::ceil, -1000, 1000, 0},
    {Intrinsic::kRound, std::round, -1000, 1000, 0},
    {Intrinsic::kNearbyint, RoundToEven, -1000, 1000, 0},
    {Intrinsic::kTrunc, std::trunc, -1000, 1000, 0},
    {Intrinsic::kSign, Sign, -1000, 1000, 0},
};

std::vector<float> Draw(double low, double high, bool logarithmic, int seed, int count) {
  std::mt19937 generator(static_cast<unsigned>(seed));
  std::uniform_real_distribution<double> values(low, high);
  std::vector<float> drawn;
  for (int i = 0; i < count; ++i) {
    const double value = values(generator);
    drawn.push_back(static_cast<float>(logarithmic ? std::pow(10.0, value) : value));
  }
  return drawn;
}

class UnaryTest : public ::testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(EachIntrinsic, UnaryTest, ::testing::ValuesIn(kCases),
                         [](const auto& info) {
                           return std::string(loop::ToString(info.param.intrinsic));
                         });

TEST_P(UnaryTest, StaysWithinItsErrorBound) {
  const Case& c = GetParam();
  const NDArray x = Rows(Draw(c.low, c.high, c.logarithmic, 1, 17 * 120));
  const NDArray y = Apply(c.intrinsic, {x}, Float32).back();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const float in = x.data<float>()[i];
    ExpectClose(y.data<float>()[i], c.exact(in), c.ulps,
                StrCat(loop::ToString(c.intrinsic), "(", in, ")"));
  }
}

TEST_P(UnaryTest, TreatsNanInfinityAndOverflowAsTheScalarFunctionDoes) {
  const Case& c = GetParam();
  // Powers of two of exp leave the exponents of floats near 88 and -87.
  const float special[] = {kNan,   kInf,    -kInf,   0.0F,     -0.0F,   1.0F,   -1.0F,
                           0.5F,   -0.5F,   1.5F,    -1.5F,    2.5F,    89.0F,  -2.0F,
                           200.0F, -200.0F, FLT_MAX, -FLT_MAX, FLT_MIN, 1e10F,  88.3F,
                           88.5F,  88.72F,  88.8F,   -87.0F,   -87.3F,  -87.5F, -88.5F};
  for (const float in : special) {
    // Each lane in turn, and the scalar rest.
    const NDArray x = Rows(std::vector<float>(17, in));
    const NDArray y = Apply(c.intrinsic, {x}, Float32).back();
    const double exact = c.exact(in);
    for (const std::int64_t lane : {0, 15, 16}) {
      ExpectClose(y.data<float>()[lane], exact, c.ulps,
                  StrCat(loop::ToString(c.intrinsic), "(", in, ") in lane ", lane));
    }
  }
}

TEST_P(UnaryTest, ASpecialValueChangesOnlyItsOwnLane) {
  const Case& c = GetParam();
  std::vector<float> values = Draw(c.low, c.high, c.logarithmic, 2, 17);
  values[3] = kNan;
  values[7] = kInf;
  values[11] = -kInf;
  const NDArray y = Apply(c.intrinsic, {Rows(values)}, Float32).back();
  for (std::int64_t i = 0; i < 17; ++i) {
    ExpectClose(y.data<float>()[i], c.exact(values[static_cast<std::size_t>(i)]), c.ulps,
                StrCat(loop::ToString(c.intrinsic), " in lane ", i));
  }
}

// Kernels run with denormals flushed to zero, and libm's bit tricks see them still: a denormal
// counts as some number from zero to the smallest normal one.
TEST_P(UnaryTest, ADenormalInputCountsAsANumberNearZero) {
  const Case& c = GetParam();
  for (const float in : {1e-40F, -1e-40F}) {
    const NDArray x = Rows(std::vector<float>(17, in));
    const NDArray y = Apply(c.intrinsic, {x}, Float32).back();
    const double at_zero = c.exact(std::copysign(0.0, in)),
                 at_normal = c.exact(std::copysign(static_cast<double>(FLT_MIN), in));
    for (const std::int64_t lane : {0, 15, 16}) {
      const double out = y.data<float>()[lane];
      if (std::isnan(at_normal) && std::isnan(out)) continue;
      const auto [low, high] =
          std::isnan(at_normal) ? std::pair(at_zero, at_zero) : std::minmax({at_zero, at_normal});
      const auto slack = [&](double exact) {
        return std::isinf(exact) ? 0 : std::max(c.ulps * Ulp(exact), static_cast<double>(FLT_MIN));
      };
      EXPECT_TRUE(out >= low - slack(low) && out <= high + slack(high))
          << loop::ToString(c.intrinsic) << "(" << in << ") gives " << out << " in lane " << lane
          << "; allowed is " << low << " to " << high;
    }
  }
}

// By the table, by the polynomial, and where products are rounded before they are added.
TEST(VectorMathTest, ExpStaysWithinItsErrorBoundOverItsDomain) {
  for (const auto& [features, ulps] :
       {std::pair("", 1.1), std::pair("-avx512dq", 1.1), std::pair("-fma", 2.0)}) {
    if (*features != '\0' && !HostTarget().Has(features + 1)) continue;
    CompileOptions options;
    options.target = HostTarget(features);
    const NDArray x = Rows(Draw(-87.3, 88.7, false, 5, 17 * 30000));
    const NDArray y = Apply(Intrinsic::kExp, {x}, Float32, 16, options).back();
    double worst = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const double exact = std::exp(static_cast<double>(x.data<float>()[i]));
      worst = std::max(worst, std::abs(y.data<float>()[i] - exact) / Ulp(exact));
    }
    EXPECT_LE(worst, ulps) << "ULP, features \"" << features << "\"";
  }
}

// Looked up on AVX-512, where libmvec's bound of 4 is undercut.
TEST(VectorMathTest, FunctionsByTableStayWithinTheirErrorBoundsOverTheirDomains) {
  const bool by_table = HostTarget().Has("avx512dq");
  const auto expect_within = [&](Intrinsic intrinsic, Unary exact, double ulps,
                                 std::vector<float> values) {
    const NDArray x = Rows(std::move(values));
    const NDArray y = Apply(intrinsic, {x}, Float32).back();
    double worst = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
      const double wanted = exact(x.data<float>()[i]);
      worst = std::max(worst, std::abs(y.data<float>()[i] - wanted) / Ulp(wanted));
    }
    EXPECT_LE(worst, by_table ? ulps : 4) << "ULP, " << loop::ToString(intrinsic);
  };
  std::vector<float> values = Draw(-10, 10, false, 6, 17 * 20000);
  const std::vector<float> small = Draw(-30, 0.5, true, 7, 17 * 5000);
  values.insert(values.end(), small.begin(), small.end());
  expect_within(Intrinsic::kErf, std::erf, 2.5, values);
  expect_within(Intrinsic::kTanh, std::tanh, 1.5, values);
  std::vector<float> positive = Draw(-37.9, 38.5, true, 8, 17 * 10000);
  const std::vector<float> around_one = Draw(0.5, 2.5, false, 9, 17 * 20000);
  positive.insert(positive.end(), around_one.begin(), around_one.end());
  expect_within(Intrinsic::kLog, std::log, 2, positive);
}

TEST(VectorMathTest, FunctionsByTableGiveTheSameBitsAtAllWidths) {
  if (!HostTarget().Has("avx512dq"))
    GTEST_SKIP() << "without AVX512-DQ libm and libmvec compute them, each by its own steps";
  const std::vector<float> values = Draw(0.01, 10, false, 8, 64);
  for (const Intrinsic intrinsic : {Intrinsic::kErf, Intrinsic::kTanh, Intrinsic::kLog}) {
    const NDArray scalar = Apply(intrinsic, {Rows(values, 1)}, Float32, 1).back();
    for (const int lanes : {2, 3, 8, 16, 32, 48}) {
      const NDArray vectors = Apply(intrinsic, {Rows(values, lanes)}, Float32, lanes).back();
      for (std::size_t i = 0; i < values.size(); ++i) {
        EXPECT_EQ(vectors.data<float>()[i], scalar.data<float>()[i])
            << loop::ToString(intrinsic) << "(" << values[i] << ") by " << lanes << " lanes";
      }
    }
  }
}

struct BinaryCase {
  Intrinsic intrinsic;
  double (*exact)(double, double);
  double x_low, x_high, y_low, y_high;
  double ulps;
};

void PrintTo(const BinaryCase& c, std::ostream* out) { *out << loop::ToString(c.intrinsic); }

const BinaryCase kBinaryCases[] = {
    {Intrinsic::kPow, std::pow, 0.01, 100, -10, 10, 4},
    {Intrinsic::kFmod, std::fmod, -1000, 1000, 0.5, 10, 0},
    {Intrinsic::kAtan2, std::atan2, -100, 100, -100, 100, 4},
};

class BinaryTest : public ::testing::TestWithParam<BinaryCase> {};
INSTANTIATE_TEST_SUITE_P(EachIntrinsic, BinaryTest, ::testing::ValuesIn(kBinaryCases),
                         [](const auto& info) {
                           return std::string(loop::ToString(info.param.intrinsic));
                         });

TEST_P(BinaryTest, StaysWithinItsErrorBound) {
  const BinaryCase& c = GetParam();
  const NDArray x = Rows(Draw(c.x_low, c.x_high, false, 1, 17 * 120)),
                y = Rows(Draw(c.y_low, c.y_high, false, 2, 17 * 120));
  const NDArray z = Apply(c.intrinsic, {x, y}, Float32).back();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const float a = x.data<float>()[i], b = y.data<float>()[i];
    ExpectClose(z.data<float>()[i], c.exact(a, b), c.ulps,
                StrCat(loop::ToString(c.intrinsic), "(", a, ", ", b, ")"));
  }
}

TEST_P(BinaryTest, TreatsNanInfinityAndOverflowAsTheScalarFunctionDoes) {
  const BinaryCase& c = GetParam();
  const float special[] = {kNan, kInf, -kInf, 0.0F, -0.0F, 1.0F, -1.0F, 0.5F, 3.0F, -2.0F, FLT_MAX};
  std::vector<float> a, b;
  for (const float x : special) {
    for (const float y : special) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const NDArray x = Rows(a), y = Rows(b);
  const NDArray z = Apply(c.intrinsic, {x, y}, Float32).back();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const float p = x.data<float>()[i], q = y.data<float>()[i];
    ExpectClose(z.data<float>()[i], c.exact(p, q), c.ulps,
                StrCat(loop::ToString(c.intrinsic), "(", p, ", ", q, ")"));
  }
}

TEST(VectorMathTest, PredicatesTellNanAndInfinityApart) {
  const std::vector<float> values = {kNan, -kNan, kInf,   -kInf,   0.0F,    -0.0F,
                                     1.0F, -1.0F, 1e-40F, FLT_MAX, FLT_MIN, 2.0F,
                                     3.0F, 4.0F,  5.0F,   6.0F,    kInf};
  const NDArray x = Rows(values);
  const NDArray nan = Apply(Intrinsic::kIsNan, {x}, Bool).back(),
                inf = Apply(Intrinsic::kIsInf, {x}, Bool).back(),
                finite = Apply(Intrinsic::kIsFinite, {x}, Bool).back();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(nan.data<bool>()[i], std::isnan(values[i])) << values[i];
    EXPECT_EQ(inf.data<bool>()[i], std::isinf(values[i])) << values[i];
    EXPECT_EQ(finite.data<bool>()[i], std::isfinite(values[i])) << values[i];
  }
}

TEST(VectorMathTest, FmaRoundsOnce) {
  // 1 + e squared needs 48 bits: only the fused form keeps the last of them.
  const float e = 1.0F / 4096;
  const NDArray x = Rows(std::vector<float>(17, 1 + e)),
                minus = Rows(std::vector<float>(17, -(1 + 2 * e)));
  const NDArray y = Apply(Intrinsic::kFma, {x, x, minus}, Float32).back();
  for (std::int64_t i = 0; i < 17; ++i) EXPECT_EQ(y.data<float>()[i], e * e) << "element " << i;
}

TEST(VectorMathTest, PopcountCountsTheBitsOfEachType) {
  std::vector<std::int32_t> values = {0, 1, 2, 3, -1, -2, 255, 1 << 30, INT32_MIN, INT32_MAX};
  values.resize(17, 5);
  const NDArray x = NDArray::FromVector<std::int32_t>({1, 17}, values);
  const NDArray y = Apply(Intrinsic::kPopcount, {x}, Int32).back();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(y.data<std::int32_t>()[i], std::popcount(static_cast<std::uint32_t>(values[i])))
        << values[i];
  }
}

TEST(VectorMathTest, RoundingTiesGoAwayFromZeroOrToEven) {
  std::vector<float> values = {0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 0.49999997F, 8388609.0F};
  values.resize(17, 3.5F);
  const NDArray away = Apply(Intrinsic::kRound, {Rows(values)}, Float32).back(),
                even = Apply(Intrinsic::kNearbyint, {Rows(values)}, Float32).back();
  const std::vector<float> wanted_away = {1, 2, 3, -1, -2, -3, 0, 8388609.0F},
                           wanted_even = {0, 2, 2, 0, -2, -2, 0, 8388609.0F};
  for (std::size_t i = 0; i < wanted_away.size(); ++i) {
    EXPECT_EQ(away.data<float>()[i], wanted_away[i]) << values[i];
    EXPECT_EQ(even.data<float>()[i], wanted_even[i]) << values[i];
  }
  EXPECT_EQ(away.data<float>()[16], 4);
  EXPECT_EQ(even.data<float>()[16], 4);
}

TEST(VectorMathTest, IntegersKeepTheirValueUnderRoundingAndLoseTheirSignUnderAbs) {
  std::vector<std::int32_t> values = {0, 1, -1, 7, -7, INT32_MAX, -INT32_MAX};
  values.resize(17, -3);
  const NDArray x = NDArray::FromVector<std::int32_t>({1, 17}, values);
  const NDArray floor = Apply(Intrinsic::kFloor, {x}, Int32).back(),
                abs = Apply(Intrinsic::kAbs, {x}, Int32).back(),
                sign = Apply(Intrinsic::kSign, {x}, Int32).back();
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(floor.data<std::int32_t>()[i], values[i]);
    EXPECT_EQ(abs.data<std::int32_t>()[i], std::abs(values[i]));
    EXPECT_EQ(sign.data<std::int32_t>()[i], (values[i] > 0) - (values[i] < 0));
  }
}

// One register or less, several, widths that are no register, and every register that a narrower
// machine has. libmvec's arguments travel in registers that depend on the features.
class WidthTest : public ::testing::TestWithParam<std::tuple<int, std::string>> {};
INSTANTIATE_TEST_SUITE_P(LanesAndFeatures, WidthTest,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4, 8, 12, 16, 32, 48, 64),
                                            ::testing::Values("", "-avx512dq", "-avx512f", "-avx2",
                                                              "-avx", "-fma", "-f16c", "-sse4.2",
                                                              "-sse3")),
                         [](const auto& info) {
                           std::string name = StrCat(std::get<0>(info.param), "Lanes");
                           for (const char c : std::get<1>(info.param)) {
                             if (c == '-') name += "Without";
                             if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
                           }
                           return name;
                         });

TEST_P(WidthTest, ExpIsRight) {
  const auto [lanes, features] = GetParam();
  if (!HostTarget().Has(features.empty() ? "sse2" : features.substr(1)))
    GTEST_SKIP() << "this machine has nothing to mask";
  const NDArray x = Rows(Draw(-80, 80, false, 3, (lanes + 1) * 3), lanes);
  CompileOptions options;
  options.target = HostTarget(features);
  const NDArray y = Apply(Intrinsic::kExp, {x}, Float32, lanes, options).back();
  for (std::int64_t i = 0; i < x.size(); ++i) {
    ExpectClose(y.data<float>()[i], std::exp(static_cast<double>(x.data<float>()[i])), 4,
                StrCat("exp(", x.data<float>()[i], "), element ", i));
  }
}

TEST_P(WidthTest, ExpGivesTheBitsOfTheScalarCode) {
  const auto [lanes, features] = GetParam();
  if (!HostTarget().Has(features.empty() ? "sse2" : features.substr(1)))
    GTEST_SKIP() << "this machine has nothing to mask";
  std::vector<float> values = Draw(-87, 88, false, 4, 500);
  for (const float special : {kNan, kInf, -kInf, 0.0F, -0.0F, 90.0F, -110.0F, FLT_MAX, -FLT_MAX})
    values.push_back(special);
  CompileOptions options;
  options.target = HostTarget(features);
  const auto applied = [&](int width) {
    return Apply(Intrinsic::kExp, {Rows(values, width)}, Float32, width, options).back();
  };
  const NDArray scalar = applied(1), vectors = applied(lanes);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::bit_cast<std::uint32_t>(vectors.data<float>()[i]),
              std::bit_cast<std::uint32_t>(scalar.data<float>()[i]))
        << "exp(" << values[i] << ") is " << vectors.data<float>()[i] << " in a vector and "
        << scalar.data<float>()[i] << " as a scalar";
  }
}

TEST_P(WidthTest, PowOfDoublesIsRight) {
  const auto [lanes, features] = GetParam();
  if (!HostTarget().Has(features.empty() ? "sse2" : features.substr(1)))
    GTEST_SKIP() << "this machine has nothing to mask";
  std::vector<double> a, b;
  for (int i = 0; i < 2 * (lanes + 1); ++i) {
    a.push_back(0.5 + i);
    b.push_back(2.5 - 0.125 * i);
  }
  const NDArray x = NDArray::FromVector<double>({2, lanes + 1}, a),
                y = NDArray::FromVector<double>({2, lanes + 1}, b);
  CompileOptions options;
  options.target = HostTarget(features);
  const NDArray z = Apply(Intrinsic::kPow, {x, y}, Float64, lanes, options).back();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double exact = std::pow(a[i], b[i]);
    EXPECT_NEAR(z.data<double>()[i], exact, 4 * std::ldexp(1.0, std::ilogb(exact) - 52))
        << "pow(" << a[i] << ", " << b[i] << ")";
  }
}

TEST(VectorMathTest, HalfPrecisionIsComputedInSinglePrecision) {
  const Tensor a = Placeholder({17}, Float16, "a");
  const Tensor b = te::Compute(
      {17}, [&](Var i) { return loop::Call(Intrinsic::kExp, {a(i)}); }, "b");
  schedule::Schedule s(b);
  s[b].Vectorize(s[b].Split(b.axis(0), 16).second);
  // 0, 1 and 10 as float16; exp gives 1, 2.71875 and 22032 (0x3c00, 0x4170, 0x7561).
  std::vector<std::uint16_t> x(17, 0), y(17, 0);
  x[1] = 0x3c00;
  x[16] = 0x4900;
  const auto kernel = Compile(schedule::Lower(s, {a, b}, "kernel"));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  ASSERT_TRUE((*kernel)(NDArray::View({17}, Float16, x.data(), nullptr),
                        NDArray::View({17}, Float16, y.data(), nullptr))
                  .ok());
  EXPECT_EQ(y[0], 0x3c00);
  EXPECT_EQ(y[1], 0x4170);
  EXPECT_EQ(y[16], 0x7561);
}

TEST(VectorMathTest, LibmvecNamesFollowTheVectorFunctionAbi) {
  EXPECT_EQ(LibmvecName("exp", Float32, 16, 1), "_ZGVeN16v_expf");
  EXPECT_EQ(LibmvecName("exp", Float32, 8, 1), "_ZGVdN8v_expf");
  EXPECT_EQ(LibmvecName("exp", Float32, 4, 1), "_ZGVbN4v_expf");
  EXPECT_EQ(LibmvecName("pow", Float64, 8, 2), "_ZGVeN8vv_pow");
  EXPECT_EQ(LibmName(Intrinsic::kSqrt), std::nullopt);
  EXPECT_EQ(LibmName(Intrinsic::kLog1p), "log1p");
}

}  // namespace
}  // namespace tenon::jit
