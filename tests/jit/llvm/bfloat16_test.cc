// bfloat16 is rounded to nearest with ties to even, on every CPU and from every type.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tenon/jit/kernel.h"

namespace tenon::jit {
namespace {

using loop::Buffer;
using loop::Var;

// The nearest bfloat16 of a number, which long double holds, by comparing the two around it.
std::uint16_t Nearest(long double value) {
  if (std::isnan(value)) return 0x7fc0;
  const bool negative = std::signbit(value);
  const long double magnitude = std::fabs(value);
  const auto number = [](std::uint32_t bits) {
    return static_cast<double>(std::bit_cast<float>(bits << 16));
  };
  std::uint32_t below = 0, above = 0x7f80;  // infinity
  while (above - below > 1) {
    const std::uint32_t middle = (below + above) / 2;
    (number(middle) <= magnitude ? below : above) = middle;
  }
  // Infinity stands for the number that would follow the largest.
  const double next = above == 0x7f80 ? std::ldexp(1.0, 128) : number(above);
  const long double down = magnitude - number(below), up = next - magnitude;
  std::uint32_t chosen = down < up || (down == up && below % 2 == 0) ? below : above;
  if (std::isinf(value)) chosen = 0x7f80;
  return static_cast<std::uint16_t>(chosen | (negative ? 0x8000U : 0U));
}

class Bfloat16Test : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Features, Bfloat16Test,
                         ::testing::Values("", "-avx512bf16", "-avx512f", "-avx512f,-avx2,-avx"));

template <typename T>
void ExpectNearest(const std::vector<T>& values, const std::string& features) {
  const auto count = static_cast<std::int64_t>(values.size());
  const DataType type = DataTypeOf<T>();
  const Buffer in = Buffer::Make("in", type, {count}), out = Buffer::Make("out", BFloat16, {count});
  const Var i("i");
  const loop::Function function{
      .name = "narrow",
      .buffers = {in, out},
      .body = loop::For(i, 0, count, loop::ForKind::kSerial,
                        loop::Store(out, loop::Cast(BFloat16, loop::Load(in, {i})), {i}))};
  const absl::StatusOr<Kernel> kernel = Compile(function, {.target = HostTarget(features)});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  const NDArray x = NDArray::FromVector<T>({count}, values), y = NDArray::Zeros({count}, BFloat16);
  ASSERT_TRUE((*kernel)(x, y).ok());
  const auto* bits = static_cast<const std::uint16_t*>(y.raw());
  for (std::size_t k = 0; k < values.size(); ++k) {
    const long double value = values[k];
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(std::bit_cast<float>(static_cast<std::uint32_t>(bits[k]) << 16)));
    } else {
      EXPECT_EQ(bits[k], Nearest(value)) << value << " at " << k;
    }
  }
}

TEST_P(Bfloat16Test, Float32GoesToTheNearest) {
  std::vector<float> values = {0.0F, -0.0F, 1.0F, NAN, INFINITY, -INFINITY};
  values.push_back(std::numeric_limits<float>::max());
  std::mt19937 generator(7);
  for (int count = 0; count < 3000; ++count) {
    // Normal numbers: kernels flush the others. Every second one is a tie.
    const auto sign = static_cast<std::uint32_t>(generator() & 1);
    const auto exponent = static_cast<std::uint32_t>(1 + generator() % 253);
    const auto random = static_cast<std::uint32_t>(generator());
    const std::uint32_t fraction =
        count % 2 == 0 ? random & 0x7fffff : (random & 0x7f0000) | 0x8000;
    values.push_back(std::bit_cast<float>(sign << 31 | exponent << 23 | fraction));
  }
  ExpectNearest(values, GetParam());
}

// Just above and below a tie, closer than float32 can tell.
TEST_P(Bfloat16Test, Float64IsRoundedOnce) {
  std::vector<double> values = {0.0, -0.0, 1.0, NAN, INFINITY, -INFINITY, 1e300, -1e300};
  std::mt19937 generator(8);
  for (int count = 0; count < 1000; ++count) {
    const double tie =
        std::ldexp(257.0 + 2 * (generator() % 128), static_cast<int>(generator() % 200) - 100);
    for (const double value : {tie, std::nextafter(tie, 1e308), std::nextafter(tie, 0.0)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  ExpectNearest(values, GetParam());
}

TEST_P(Bfloat16Test, IntegersAreRoundedOnce) {
  std::vector<std::int32_t> values = {0, 1, -1, 255, 257, -257, 16842752, 16842753, 2147483647};
  std::mt19937 generator(9);
  for (int count = 0; count < 1000; ++count)
    values.push_back(static_cast<std::int32_t>(generator()));
  ExpectNearest(values, GetParam());
}

// float64 does not hold what lies next to a tie beyond 53 bits.
TEST_P(Bfloat16Test, LargeIntegersAreRoundedOnce) {
  const std::int64_t tie = (std::int64_t{1} << 61) + (std::int64_t{1} << 53);
  std::vector<std::int64_t> values = {INT64_MIN, INT64_MAX, std::int64_t{1} << 53};
  for (const std::int64_t value : {tie - 1, tie, tie + 1}) {
    values.push_back(value);
    values.push_back(-value);
  }
  ExpectNearest(values, GetParam());
}

// LLVM knows the lanes that are not loaded, and takes vectors apart for functions of single
// numbers.
TEST_P(Bfloat16Test, LanesThatAreLeftOutMayBeTakenApart) {
  constexpr std::int64_t kCount = 65;
  constexpr int kLanes = 64;
  const Buffer in = Buffer::Make("in", Int32, {kCount});
  const Buffer out = Buffer::Make("out", BFloat16, {kCount});
  const loop::Expr last = loop::Ramp(loop::Expr(kCount - 1), 1, kLanes);
  const loop::Expr mask = last < loop::Broadcast(loop::Expr(kCount), kLanes);
  const auto all = [](DataType type, double value) {
    return loop::Broadcast(loop::Constant(type, value), kLanes);
  };
  const loop::Expr number =
      loop::Cast(Float32.WithLanes(kLanes), loop::Load(in, {last}, nullptr, mask));
  const loop::Expr x = loop::Cast(BFloat16.WithLanes(kLanes), number * all(Float32, 0.5));
  const loop::Expr angle =
      loop::Call(loop::Intrinsic::kAtan2,
                 {all(BFloat16, 2), loop::Call(loop::Intrinsic::kAbs, {x}) + all(BFloat16, 1)});
  const loop::Function function{
      .name = "angle",
      .buffers = {in, out},
      .body = loop::Store(out, angle - x, {last}, loop::StoreKind::kPlain, mask)};
  const absl::StatusOr<Kernel> kernel = Compile(function, {.target = HostTarget(GetParam())});
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  NDArray numbers = NDArray::Zeros({kCount}, Int32), angles = NDArray::Zeros({kCount}, BFloat16);
  numbers.data<std::int32_t>()[kCount - 1] = 6;
  ASSERT_TRUE((*kernel)(numbers, angles).ok());
  const auto* bits = static_cast<const std::uint16_t*>(angles.raw());
  EXPECT_EQ(bits[0], 0);
  EXPECT_NEAR(std::bit_cast<float>(std::uint32_t{bits[kCount - 1]} << 16), std::atan2(2, 4) - 3,
              0.02);
}

}  // namespace
}  // namespace tenon::jit
