// Saturating arithmetic at the ends of every integer type, and functions of math.h against those of
// C.
#include "tenon/te/math.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/te/interpret.h"

namespace tenon::te {
namespace {

template <typename T>
class SaturatingTest : public ::testing::Test {};
using Integers = ::testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t,
                                  std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(SaturatingTest, Integers);

template <typename T>
DataType TypeOf() {
  constexpr bool kIsSigned = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1:
      return kIsSigned ? Int8 : UInt8;
    case 2:
      return kIsSigned ? Int16 : UInt16;
    case 4:
      return kIsSigned ? Int32 : UInt32;
    default:
      return kIsSigned ? Int64 : UInt64;
  }
}

TYPED_TEST(SaturatingTest, IsTheNearestThatTheTypeHolds) {
  using Wide = __int128;
  constexpr TypeParam kLow = std::numeric_limits<TypeParam>::min(),
                      kHigh = std::numeric_limits<TypeParam>::max();
  std::vector<TypeParam> some = {kLow,
                                 static_cast<TypeParam>(kLow + 1),
                                 0,
                                 1,
                                 2,
                                 100,
                                 static_cast<TypeParam>(kHigh / 2),
                                 static_cast<TypeParam>(kHigh - 1),
                                 kHigh};
  if (std::is_signed_v<TypeParam>) some.push_back(static_cast<TypeParam>(-1));
  std::vector<TypeParam> x, y;
  for (const TypeParam a : some) {
    for (const TypeParam b : some) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  const auto count = static_cast<std::int64_t>(x.size());
  const DataType type = TypeOf<TypeParam>();
  const Tensor a = Placeholder({count}, type, "a"), b = Placeholder({count}, type, "b");
  const Tensor sum = Compute({count}, [&](const Var&i) { return SaturatingAdd(a(i), b(i)); }),
               rest = Compute({count}, [&](const Var&i) { return SaturatingSub(a(i), b(i)); });
  NDArray xs = NDArray::Empty({count}, type), ys = NDArray::Empty({count}, type);
  std::copy(x.begin(), x.end(), static_cast<TypeParam*>(xs.raw()));
  std::copy(y.begin(), y.end(), static_cast<TypeParam*>(ys.raw()));
  const std::vector<NDArray> results = Interpret({sum, rest}, {{a, xs}, {b, ys}});
  const auto nearest = [&](Wide value) {
    return static_cast<TypeParam>(value < Wide{kLow}    ? Wide{kLow}
                                  : value > Wide{kHigh} ? Wide{kHigh}
                                                        : value);
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(static_cast<const TypeParam*>(results[0].raw())[i], nearest(Wide{x[i]} + Wide{y[i]}))
        << static_cast<std::int64_t>(x[i]) << " + " << static_cast<std::int64_t>(y[i]);
    EXPECT_EQ(static_cast<const TypeParam*>(results[1].raw())[i], nearest(Wide{x[i]} - Wide{y[i]}));
  }
}

TEST(MathTest, SaturatingArithmeticIsOfIntegersOfOneType) {
  const Expr x = Cast(Float32, 1), y = Cast(Int32, 1);
  try {
    SaturatingAdd(x, y);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "saturating add: the operands are float32 and int32; they must be "
                 "integers of one type");
  }
}

double ValueOf(const Expr& e) {
  const Tensor t = Compute({1}, [&](const Var&) { return e; });
  return *Interpret({t}, {})[0].data<double>();
}

TEST(MathTest, FunctionsAreThoseOfC) {
  const Expr x(0.375), y(1.25), z(-2.5);
  EXPECT_DOUBLE_EQ(ValueOf(Sin(x)), std::sin(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Cos(x)), std::cos(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Tan(x)), std::tan(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Asin(x)), std::asin(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Acos(x)), std::acos(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Atan(x)), std::atan(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Sinh(x)), std::sinh(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Cosh(x)), std::cosh(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Asinh(x)), std::asinh(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Acosh(y)), std::acosh(1.25));
  EXPECT_DOUBLE_EQ(ValueOf(Atanh(x)), std::atanh(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Log2(x)), std::log2(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Log10(x)), std::log10(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Log1p(x)), std::log1p(0.375));
  EXPECT_DOUBLE_EQ(ValueOf(Pow(x, y)), std::pow(0.375, 1.25));
  EXPECT_DOUBLE_EQ(ValueOf(Fmod(z, y)), std::fmod(-2.5, 1.25));
  EXPECT_DOUBLE_EQ(ValueOf(Atan2(z, y)), std::atan2(-2.5, 1.25));
  EXPECT_DOUBLE_EQ(ValueOf(Fma(x, y, z)), std::fma(0.375, 1.25, -2.5));
  EXPECT_EQ(ValueOf(Trunc(z)), -2);
  EXPECT_EQ(ValueOf(RoundToEven(z)), -2);
  EXPECT_EQ(ValueOf(Round(z)), -3);
  EXPECT_EQ(ValueOf(Sign(z)), -1);
  EXPECT_EQ(ValueOf(Clamp(z, x, y)), 0.375);
  EXPECT_EQ(ValueOf(Cast(Float64, IsNan(x))), 0);
  EXPECT_EQ(ValueOf(Cast(Float64, IsFinite(x))), 1);
  EXPECT_EQ(ValueOf(Cast(Float64, IsInf(x))), 0);
}

TEST(MathTest, BitsOfIntegers) {
  const auto value = [](const Expr& e) { return ValueOf(Cast(Float64, e)); };
  const Expr x = loop::IntImm(Int32, 12), y = loop::IntImm(Int32, 10);
  EXPECT_EQ(value(BitAnd(x, y)), 8);
  EXPECT_EQ(value(BitOr(x, y)), 14);
  EXPECT_EQ(value(BitXor(x, y)), 6);
  EXPECT_EQ(value(ShiftLeft(x, loop::IntImm(Int32, 2))), 48);
  EXPECT_EQ(value(ShiftRight(x, loop::IntImm(Int32, 2))), 3);
  EXPECT_EQ(value(Popcount(y)), 2);
}

}  // namespace
}  // namespace tenon::te
