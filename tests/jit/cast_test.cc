// Casts of rounded floats to integers, which one conversion may do.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>

#include <gmock/gmock.h>

#include "tenon/support/strings.h"
#include "tenon/tests/jit/kernel_testing.h"

namespace tenon::jit {
namespace {

using loop::Expr;

constexpr double kHighest = std::numeric_limits<std::int32_t>::max();
const std::vector<double> kValues = {
    0,       0.5,      1.5,      2.5,    -0.5,   -1.5,    -2.5,     0.49999997, 254.5,
    255.5,   256,      127.5,    -128.5, -127.5, 126.5,   300.25,   -1000,      65534.5,
    65535.5, 70000,    -32768.5, -40000, 1e20,   -1e20,   INFINITY, -INFINITY,  NAN,
    -NAN,    kHighest, -3e9,     1e-30,  -0.0,   3.99999, 8388609};

struct Target {
  DataType from, to;
  const char* features;
};
void PrintTo(const Target& t, std::ostream* out) {
  *out << t.from.ToString() << " to " << t.to.ToString() << " with " << t.features;
}

class RoundingCastTest : public ::testing::TestWithParam<Target> {
 protected:
  NDArray Cast(const std::function<Expr(const Expr&)>& body) const {
    const auto& [from, to, features] = GetParam();
    const auto n = static_cast<std::int64_t>(kValues.size());
    const NDArray x = NDArray::Empty({n}, from), y = NDArray::Zeros({n}, to);
    for (std::int64_t i = 0; i < n; ++i) {
      const double value = kValues[static_cast<std::size_t>(i)];
      if (from == Float32) {
        x.data<float>()[i] = static_cast<float>(value);
      } else {
        x.data<double>()[i] = value;
      }
    }
    const Kernel kernel =
        Elementwise(n, {from}, [&](const std::vector<Expr>& e) { return te::Cast(to, body(e[0])); },
                    "kernel", {.target = HostTarget(features)});
    EXPECT_TRUE(kernel(x, y).ok());
    return y;
  }
  double ValueAt(std::size_t i) const {
    return GetParam().from == Float32 ? static_cast<float>(kValues[i]) : kValues[i];
  }
  double Saturated(double value) const {
    const DataType to = GetParam().to;
    if (std::isnan(value)) return 0;
    const double low = to.is_int() ? -std::ldexp(1, to.bits() - 1) : 0;
    return std::clamp(value, low, std::ldexp(1, to.bits() - (to.is_int() ? 1 : 0)) - 1);
  }
  static double At(const NDArray& y, std::size_t i) {
    if (y.dtype() == Int8) return y.data<std::int8_t>()[i];
    if (y.dtype() == UInt8) return y.data<std::uint8_t>()[i];
    if (y.dtype() == Int16) return y.data<std::int16_t>()[i];
    if (y.dtype() == UInt16) return y.data<std::uint16_t>()[i];
    return y.data<std::int32_t>()[i];
  }
};

Expr Rounded(const Expr& e) { return loop::Call(loop::Intrinsic::kNearbyint, {e}); }

TEST_P(RoundingCastTest, HalvesGoToTheEvenNumber) {
  const NDArray y = Cast(Rounded);
  for (std::size_t i = 0; i < kValues.size(); ++i)
    EXPECT_EQ(At(y, i), Saturated(std::nearbyint(ValueAt(i)))) << kValues[i];
}

TEST_P(RoundingCastTest, WholeBoundsAreKept) {
  const NDArray y = Cast([](const Expr& e) {
    const Expr low = loop::Constant(e.dtype(), 3), high = loop::Constant(e.dtype(), 100);
    return te::Max(te::Min(Rounded(e), high), low);
  });
  for (std::size_t i = 0; i < kValues.size(); ++i) {
    const double value = ValueAt(i);
    EXPECT_EQ(At(y, i), std::isnan(value) ? 0 : std::clamp(std::nearbyint(value), 3.0, 100.0))
        << kValues[i];
  }
}

// Rounded first, 2.6 is above the bound and the cast cuts its fraction off.
TEST_P(RoundingCastTest, OtherBoundsComeBehindTheRounding) {
  const NDArray y =
      Cast([](const Expr& e) { return te::Min(Rounded(e), loop::Constant(e.dtype(), 2.6)); });
  for (std::size_t i = 0; i < kValues.size(); ++i) {
    const double value = ValueAt(i);
    EXPECT_EQ(At(y, i),
              std::isnan(value) ? 0 : Saturated(std::trunc(std::min(std::nearbyint(value), 2.6))))
        << kValues[i];
  }
}

std::vector<Target> Targets() {
  std::vector<Target> targets;
  for (const char* features : {"", "-avx512f", "-avx512f,-avx2,-avx"}) {
    for (const DataType from : {Float32, Float64}) {
      for (const DataType to : {Int8, UInt8, Int16, UInt16, Int32})
        targets.push_back({from, to, features});
    }
  }
  return targets;
}
INSTANTIATE_TEST_SUITE_P(Targets, RoundingCastTest, ::testing::ValuesIn(Targets()));

TEST(RoundingCastCodeTest, RoundsAndConvertsInOneInstruction) {
  const Kernel kernel = Elementwise(64, {Float32}, [](const std::vector<Expr>& e) {
    return te::Cast(UInt8, te::Max(te::Min(Rounded(e[0]), Expr(255.0F)), Expr(0.0F)));
  });
  EXPECT_THAT(kernel.LlvmIr(), ::testing::HasSubstr("llvm.lrint"));
  EXPECT_THAT(kernel.LlvmIr(), ::testing::Not(::testing::HasSubstr("llvm.nearbyint")));
}

// By the instructions that each kind of CPU has for it.
TEST(HalfCastTest, IntegersBecomeTheNearestHalf) {
  constexpr std::int64_t kNumbers[] = {0, 1, 3, 2047, 2049, 65504, 65519, 65520, INT32_MAX};
  const auto n = static_cast<std::int64_t>(std::size(kNumbers) * 4);
  for (const char* features : {"", "-avx512f", "-avx2", "-avx2,-f16c", "-avx"}) {
    for (const DataType from : {Int32, UInt32}) {
      const NDArray x = NDArray::Empty({n}, from), y = NDArray::Zeros({n}, Float32);
      const auto number = [&](std::int64_t i) {
        return kNumbers[static_cast<std::size_t>(i) % std::size(kNumbers)];
      };
      for (std::int64_t i = 0; i < n; ++i)
        static_cast<std::uint32_t*>(x.raw())[i] = static_cast<std::uint32_t>(number(i));
      const Kernel kernel = Elementwise(
          n, {from},
          [](const std::vector<Expr>& e) { return te::Cast(Float32, te::Cast(Float16, e[0])); },
          "kernel", {.target = HostTarget(features)});
      ASSERT_TRUE(kernel(x, y).ok());
      for (std::int64_t i = 0; i < n; ++i)
        EXPECT_EQ(y.data<float>()[i], static_cast<float>(static_cast<_Float16>(number(i))))
            << from.ToString() << " " << number(i) << " with " << features;
    }
  }
}

}  // namespace
}  // namespace tenon::jit
