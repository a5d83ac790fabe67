// External functions and dot products in compiled loops.
#include "tenon/te/extern.h"

#include <cmath>
#include <cstring>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/jit/host_target.h"
#include "tenon/jit/kernel.h"
#include "tenon/schedule/lower.h"
#include "tenon/te/interpret.h"

namespace tenon::jit {
namespace {

using loop::Effect;
using loop::Expr;
using loop::ExternFunction;
using schedule::Lower;
using schedule::Schedule;
using te::CallIntrinsic;
using te::Placeholder;
using te::Tensor;
using te::Var;
using ::testing::HasSubstr;

std::int16_t Mixed(std::int8_t a, std::uint8_t b, bool c) {
  return static_cast<std::int16_t>(c ? a - b : a + b);
}
float Larger(float x) { return x + 1; }
float Smaller(float x) { return x - 1; }

// `body` of the elements of a, in vectors of 16.
template <typename Body>
absl::StatusOr<Kernel> Elementwise(const Tensor& a, const Body& body) {
  const Tensor out = te::Compute(
      a.shape(), [&](const Var& i) { return body(a(i)); }, "out");
  Schedule s(out);
  s[out].Vectorize(s[out].Split(out.axis(0), 16).second);
  return Compile(Lower(s, {a, out}, "kernel"));
}

class ExternCallTest : public ::testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(OddSizes, ExternCallTest, ::testing::Values(0, 1, 15, 16, 17, 63, 65));

TEST_P(ExternCallTest, AVectorisedLoopCallsAPureFunctionOnceALane) {
  const ExternFunction hypot = ExternFunction::Named<float(float, float)>("hypotf", Effect::kPure);
  const Tensor a = Placeholder({GetParam()}, Float32, "a");
  const absl::StatusOr<Kernel> kernel = Elementwise(a, [&](const Expr& x) {
    return CallIntrinsic(hypot, {x, 3.0F}) * 2.0F;
  });
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  NDArray in = NDArray::Empty({GetParam()}, Float32), out = NDArray::Empty({GetParam()}, Float32);
  for (std::int64_t i = 0; i < in.size(); ++i) in.data<float>()[i] = static_cast<float>(i) - 7.5F;
  ASSERT_TRUE((*kernel)(in, out).ok());
  for (std::int64_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out.data<float>()[i], std::hypot(in.data<float>()[i], 3.0F) * 2.0F) << i;
  if (GetParam() > 16) {
    EXPECT_THAT(kernel->LlvmIr(false), HasSubstr("fmul contract <16 x float>"));
  }
}

TEST_P(ExternCallTest, SmallIntegersAndBoolsGoThroughTheCallingConvention) {
  const ExternFunction mixed = ExternFunction::At("mixed", &Mixed, Effect::kPure);
  const std::int64_t n = GetParam();
  const Tensor a = Placeholder({n}, Int8, "a"), b = Placeholder({n}, UInt8, "b");
  const Tensor out = te::Compute(
      {n},
      [&](const Var& i) {
        return CallIntrinsic(mixed, {a(i), b(i), a(i) < loop::IntImm(Int8, 0)});
      },
      "out");
  Schedule s(out);
  s[out].Vectorize(s[out].Split(out.axis(0), 16).second);
  const absl::StatusOr<Kernel> kernel = Compile(Lower(s, {a, b, out}, "kernel"));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  NDArray x = NDArray::Empty({n}, Int8), y = NDArray::Empty({n}, UInt8);
  NDArray result = NDArray::Empty({n}, Int16);
  for (std::int64_t i = 0; i < n; ++i) {
    x.data<std::int8_t>()[i] = static_cast<std::int8_t>(i * 37 - 128);
    y.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(255 - i * 11);
  }
  ASSERT_TRUE((*kernel)(x, y, result).ok());
  const NDArray expected = te::Interpret({out}, {{a, x}, {b, y}})[0];
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int8_t left = x.data<std::int8_t>()[i];
    EXPECT_EQ(result.data<std::int16_t>()[i], Mixed(left, y.data<std::uint8_t>()[i], left < 0));
    EXPECT_EQ(expected.data<std::int16_t>()[i], result.data<std::int16_t>()[i]);
  }
}

TEST(ExternCallErrorTest, AnUnknownSymbolIsNamed) {
  const ExternFunction missing = ExternFunction::Named<float(float)>("tenon_none", Effect::kPure);
  const absl::StatusOr<Kernel> kernel = Elementwise(
      Placeholder({4}, Float32, "a"), [&](const Expr& x) { return CallIntrinsic(missing, {x}); });
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(
      std::string(kernel.status().message()),
      HasSubstr("calls the external function tenon_none, which this process does not have"));
}

TEST(ExternCallErrorTest, TwoFunctionsOfOneNameAreRefused) {
  const ExternFunction one = ExternFunction::At("f", &Larger, Effect::kPure),
                       two = ExternFunction::At("f", &Smaller, Effect::kPure);
  const absl::StatusOr<Kernel> kernel =
      Elementwise(Placeholder({4}, Float32, "a"),
                  [&](const Expr& x) { return CallIntrinsic(one, {x}) * CallIntrinsic(two, {x}); });
  EXPECT_EQ(kernel.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(kernel.status().message()), HasSubstr("calls two functions named f"));
}

TEST(ExternCallErrorTest, OneSymbolHasOneSignature) {
  const absl::StatusOr<Kernel> kernel =
      Elementwise(Placeholder({4}, Float32, "a"), [&](const Expr& x) {
        return loop::ExternCall(Float32, "fabsf", {x}) + loop::ExternCall(Float32, "fabsf", {x, x});
      });
  EXPECT_THAT(std::string(kernel.status().message()), HasSubstr("fabsf with two signatures"));
}

TEST(ExternCallTest, AFunctionMayHaveTheNameOfALibraryFunction) {
  const ExternFunction mine = ExternFunction::At("expf", &Larger, Effect::kPure);
  const absl::StatusOr<Kernel> kernel =
      Elementwise(Placeholder({4}, Float32, "a"), [&](const Expr& x) {
        return CallIntrinsic(mine, {x}) - loop::Call(loop::Intrinsic::kExp, {x});
      });
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  NDArray in = NDArray::FromVector<float>({4}, {0, 0, 0, 0}), out = NDArray::Empty({4}, Float32);
  ASSERT_TRUE((*kernel)(in, out).ok());
  EXPECT_EQ(out.data<float>()[2], 0.0F);
}

// --- dot products within lanes

// out[l] = c[l] + a dot b, with one call of `dot` on whole vectors.
loop::Function DotFunction(loop::Intrinsic dot, int lanes) {
  const bool bytes = dot == loop::Intrinsic::kDotU8S8;
  const int wide = (bytes ? 4 : 2) * lanes;
  const auto buffer = [](const char* name, DataType type, int size) {
    return loop::Buffer::Make(name, type, {size});
  };
  loop::Function f;
  f.name = "dot";
  f.buffers = {
      buffer("c", bytes ? Int32 : Float32, lanes), buffer("a", bytes ? UInt8 : BFloat16, wide),
      buffer("b", bytes ? Int8 : BFloat16, wide), buffer("out", bytes ? Int32 : Float32, lanes)};
  const auto all = [](const loop::Buffer& b, int size) {
    return loop::Load(b, {loop::Ramp(0, 1, size)});
  };
  f.body = loop::Store(
      f.buffers[3],
      loop::Call(dot, {all(f.buffers[0], lanes), all(f.buffers[1], wide), all(f.buffers[2], wide)}),
      {loop::Ramp(0, 1, lanes)});
  return f;
}

class DotTest : public ::testing::TestWithParam<std::tuple<int, std::string>> {};
INSTANTIATE_TEST_SUITE_P(LanesAndFeatures, DotTest,
                         ::testing::Combine(::testing::Values(1, 4, 8, 16, 24, 32, 64),
                                            ::testing::Values("", "-avx512vl",
                                                              "-avx512vnni,-avx512bf16", "-avx512f",
                                                              "-avx2", "-avx", "-sse3")));

// The host's features that `wanted` may switch off.
CompileOptions Without(const std::string& wanted) { return {.target = HostTarget(wanted)}; }

TEST_P(DotTest, BytesMultiplyExactlyAndSumsWrapAround) {
  const auto [lanes, features] = GetParam();
  const absl::StatusOr<Kernel> kernel =
      Compile(DotFunction(loop::Intrinsic::kDotU8S8, lanes), Without(features));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(static_cast<unsigned>(lanes));
  NDArray c = NDArray::Empty({lanes}, Int32), out = NDArray::Empty({lanes}, Int32);
  NDArray a = NDArray::Empty({4 * lanes}, UInt8), b = NDArray::Empty({4 * lanes}, Int8);
  for (int i = 0; i < 4 * lanes; ++i) {
    a.data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i < 4 ? 255 : random());
    b.data<std::int8_t>()[i] = static_cast<std::int8_t>(i < 4 ? 127 : random());
  }
  for (int l = 0; l < lanes; ++l)
    c.data<std::int32_t>()[l] = l == 0 ? INT32_MAX : static_cast<std::int32_t>(random());
  ASSERT_TRUE((*kernel)(c, a, b, out).ok());
  for (int l = 0; l < lanes; ++l) {
    std::uint32_t sum = static_cast<std::uint32_t>(c.data<std::int32_t>()[l]);
    for (int j = 4 * l; j < 4 * l + 4; ++j)
      sum += static_cast<std::uint32_t>(a.data<std::uint8_t>()[j] * b.data<std::int8_t>()[j]);
    EXPECT_EQ(out.data<std::int32_t>()[l], static_cast<std::int32_t>(sum)) << l;
  }
}

TEST_P(DotTest, BfloatPairsAreAddedFromTheLast) {
  const auto [lanes, features] = GetParam();
  const absl::StatusOr<Kernel> kernel =
      Compile(DotFunction(loop::Intrinsic::kDotBF16, lanes), Without(features));
  ASSERT_TRUE(kernel.ok()) << kernel.status();
  std::mt19937 random(static_cast<unsigned>(lanes));
  std::normal_distribution<float> values;
  NDArray c = NDArray::Empty({lanes}, Float32), out = NDArray::Empty({lanes}, Float32);
  NDArray a = NDArray::Empty({2 * lanes}, BFloat16), b = NDArray::Empty({2 * lanes}, BFloat16);
  const auto set = [&](NDArray& array, int i) {
    const float value = values(random);
    std::memcpy(static_cast<char*>(array.raw()) + 2 * i, reinterpret_cast<const char*>(&value) + 2,
                2);
  };
  const auto get = [](const NDArray& array, int i) {
    float value = 0;
    std::memcpy(reinterpret_cast<char*>(&value) + 2, static_cast<const char*>(array.raw()) + 2 * i,
                2);
    return value;
  };
  for (int i = 0; i < 2 * lanes; ++i) {
    set(a, i);
    set(b, i);
  }
  for (int l = 0; l < lanes; ++l) c.data<float>()[l] = values(random);
  ASSERT_TRUE((*kernel)(c, a, b, out).ok());
  for (int l = 0; l < lanes; ++l) {
    const float one = c.data<float>()[l] + get(a, 2 * l + 1) * get(b, 2 * l + 1);
    EXPECT_EQ(out.data<float>()[l], one + get(a, 2 * l) * get(b, 2 * l)) << l;
  }
}

TEST(DotInstructionTest, TheHostsInstructionsAreUsed) {
  const Target host = HostTarget();
  if (host.Has("avx512vnni")) {
    EXPECT_THAT(Compile(DotFunction(loop::Intrinsic::kDotU8S8, 16))->Assembly(),
                HasSubstr("vpdpbusd"));
  }
  if (host.Has("avx512bf16")) {
    EXPECT_THAT(Compile(DotFunction(loop::Intrinsic::kDotBF16, 16))->Assembly(),
                HasSubstr("vdpbf16ps"));
  }
}

TEST(DotInstructionTest, ReproducibleCodeRoundsEachSumOfBfloats) {
  const loop::Function function = DotFunction(loop::Intrinsic::kDotBF16, 16);
  const std::string assembly = Compile(function, {.reproducible = true})->Assembly();
  EXPECT_THAT(assembly, ::testing::Not(HasSubstr("vdpbf16ps")));
}

}  // namespace
}  // namespace tenon::jit
