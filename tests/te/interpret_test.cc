#include "tenon/te/interpret.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::te {
namespace {

using ::testing::HasSubstr;

template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(InterpretTest, BlocksCoverEverySize) {
  for (const std::int64_t size : {0, 1, 1023, 1024, 1025, 3000}) {
    const Tensor a = Placeholder({size}, Float32, "a");
    const Tensor b = Compute(
        {size}, [&](const Var& i) { return a(i) + 1.0F; }, "b");
    NDArray value = NDArray::Empty({size}, Float32);
    for (std::int64_t i = 0; i < size; ++i) value.data<float>()[i] = static_cast<float>(i);
    const NDArray result = Interpret({b}, {{a, value}})[0];
    for (std::int64_t i = 0; i < size; ++i)
      ASSERT_EQ(result.data<float>()[i], static_cast<float>(i + 1)) << size;
  }
}

TEST(InterpretTest, SymbolicExtentsComeFromTheInputs) {
  const Var n("n");
  const Tensor a = Placeholder({n}, Int32, "a");
  const IterVar k = ReduceAxis(0, n);
  const Tensor s = Compute(
      {}, [&](const std::vector<Var>&) { return Sum(a(k.var), {k}); }, "s");
  EXPECT_EQ(*Interpret({s}, {{a, NDArray::FromVector<std::int32_t>({4}, {1, 2, 3, 4})}})[0]
                 .data<std::int32_t>(),
            10);
}

TEST(InterpretTest, AxesOfNegativeExtentsHaveNoTerms) {
  const Var n("n");
  const Tensor a = Placeholder({n}, Int32, "a");
  const IterVar k = ReduceAxis(0, n - 4), l = ReduceAxis(0, n - 3);
  const Tensor s = Compute(
      {},
      [&](const std::vector<Var>&) {
        return Sum(a(k.var) + a(l.var), {k, l});
      },
      "s");
  const NDArray two = NDArray::FromVector<std::int32_t>({2}, {5, 7});
  EXPECT_EQ(*Interpret({s}, {{a, two}})[0].data<std::int32_t>(), 0);
}

TEST(InterpretTest, FloatsAreRoundedAfterEachOperation) {
  const Tensor a = Placeholder({1}, Float32, "a");
  const Tensor b = Compute(
      {1}, [&](const Var& i) { return (a(i) + 1.0F) - a(i); }, "b");
  const NDArray big = NDArray::FromVector<float>({1}, {16777216.0F});
  EXPECT_EQ(*Interpret({b}, {{a, big}})[0].data<float>(), 16777216.0F + 1.0F - 16777216.0F);
}

// As in kernels: 1 / 0.1F is 10 in float32 and less in float64, and 2^70 mod 3 is 1.
TEST(InterpretTest, QuotientsAndRemaindersOfFloatsAreThoseOfRegisters) {
  const Tensor a = Placeholder({5}, Float32, "a"), b = Placeholder({5}, Float32, "b");
  const Tensor quotient = Compute(
      {5}, [&](const Var& i) { return loop::Binary(loop::BinaryOp::kFloorDiv, a(i), b(i)); }, "q");
  const Tensor rest = Compute(
      {5}, [&](const Var& i) { return loop::Binary(loop::BinaryOp::kFloorMod, a(i), b(i)); }, "r");
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const NDArray x = NDArray::FromVector<float>({5}, {1, 0x1p70F, 5, -5, -7}),
                y = NDArray::FromVector<float>({5}, {0.1F, 3, kInfinity, kInfinity, 4});
  const std::vector<NDArray> results = Interpret({quotient, rest}, {{a, x}, {b, y}});
  EXPECT_EQ(results[0].data<float>()[0], 10);
  EXPECT_EQ(results[0].data<float>()[4], -2);
  const float* rests = results[1].data<float>();
  EXPECT_EQ(rests[1], 1);
  EXPECT_EQ(rests[2], 5);
  EXPECT_EQ(rests[3], kInfinity);
  EXPECT_EQ(rests[4], 1);
}

// Half a place of bfloat16 and a little, which float32 would round away first.
TEST(InterpretTest, ConversionsToFloatsRoundOnce) {
  const Tensor a = Placeholder({1}, Float64, "a"), b = Placeholder({1}, Int64, "b");
  const auto cast = [](const Tensor& x, const NDArray& value, DataType type) {
    const Tensor y = Compute(
        {1}, [&](const Var& i) { return Cast(Float32, Cast(type, x(i))); }, "y");
    return *Interpret({y}, {{x, value}})[0].data<float>();
  };
  EXPECT_EQ(cast(a, NDArray::FromVector<double>({1}, {1.00390625093132257}), BFloat16), 1.0078125F);
  EXPECT_EQ(cast(a, NDArray::FromVector<double>({1}, {1.00390625}), BFloat16), 1.0F);
  const std::int64_t tie = (std::int64_t{1} << 61) + (std::int64_t{1} << 53);
  EXPECT_EQ(cast(b, NDArray::FromVector<std::int64_t>({1}, {tie}), BFloat16), 0x1p61F);
  EXPECT_EQ(cast(b, NDArray::FromVector<std::int64_t>({1}, {tie + 1}), BFloat16), 0x1.02p61F);
  EXPECT_EQ(cast(b, NDArray::FromVector<std::int64_t>({1}, {-tie - 1}), BFloat16), -0x1.02p61F);
  const std::int64_t of_float = (std::int64_t{1} << 61) + (std::int64_t{1} << 37);
  EXPECT_EQ(cast(b, NDArray::FromVector<std::int64_t>({1}, {of_float + 1}), Float32),
            static_cast<float>(of_float + 1));
}

// A bool that a file gives may be any byte.
TEST(InterpretTest, EveryBoolButZeroIsTrue) {
  const Tensor a = Placeholder({2}, Bool, "a"), b = Placeholder({2}, Bool, "b");
  const Tensor both = Compute(
      {2}, [&](const Var& i) { return a(i) && b(i); }, "both");
  const Tensor equal = Compute(
      {2}, [&](const Var& i) { return a(i) == b(i); }, "equal");
  const auto bools = [](std::uint8_t x, std::uint8_t y) {
    NDArray array = NDArray::Empty({2}, Bool);
    static_cast<std::uint8_t*>(array.raw())[0] = x;
    static_cast<std::uint8_t*>(array.raw())[1] = y;
    return array;
  };
  const auto results = Interpret({both, equal}, {{a, bools(2, 0)}, {b, bools(1, 0)}});
  EXPECT_EQ(results[0].ToVector<bool>(), (std::vector<bool>{true, false}));
  EXPECT_EQ(results[1].ToVector<bool>(), (std::vector<bool>{true, true}));
}

TEST(InterpretTest, TheLowestInt64IsItsOwnAbsoluteValue) {
  const Tensor a = Placeholder({2}, Int64, "a");
  const Tensor b = Compute(
      {2}, [&](const Var& i) { return loop::Call(loop::Intrinsic::kAbs, {a(i)}); }, "b");
  const NDArray x = NDArray::FromVector<std::int64_t>({2}, {INT64_MIN, -7});
  EXPECT_EQ(Interpret({b}, {{a, x}})[0].ToVector<std::int64_t>(),
            (std::vector<std::int64_t>{INT64_MIN, 7}));
}

TEST(InterpretTest, FloatsThatAnIntegerCannotHoldAreSaturated) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Tensor a = Placeholder({7}, Float64, "a");
  const NDArray values =
      NDArray::FromVector<double>({7}, {-2.9, 254.9, 1e19, -1e19, kNan, kInfinity, -kInfinity});
  const auto cast_to = [&](DataType type) {
    return Interpret({Compute(
                         {7}, [&](const Var& i) { return loop::Cast(type, a(i)); }, "b")},
                     {{a, values}})[0];
  };
  const auto elements = [](const NDArray& array, auto zero) {
    const auto* data = array.data<decltype(zero)>();
    return std::vector<decltype(zero)>(data, data + array.size());
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(elements(cast_to(UInt8), std::uint8_t{}), ElementsAre(0, 254, 255, 0, 0, 255, 0));
  EXPECT_THAT(elements(cast_to(Int8), std::int8_t{}),
              ElementsAre(-2, 127, 127, -128, 0, 127, -128));
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  EXPECT_THAT(elements(cast_to(Int64), std::int64_t{}),
              ElementsAre(-2, 254, ~kMin, kMin, 0, ~kMin, kMin));
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(elements(cast_to(UInt64), std::uint64_t{}),
              ElementsAre(0, 254, 10000000000000000000U, 0, 0, kMax, 0));
}

TEST(InterpretTest, ADistanceOfAShiftCountsModuloTheWidth) {
  const Tensor a = Placeholder({3}, Int8, "a");
  const NDArray distances = NDArray::FromVector<std::int8_t>({3}, {1, 9, -7});
  for (const loop::BinaryOp op : {loop::BinaryOp::kShl, loop::BinaryOp::kShr}) {
    const Tensor b = Compute(
        {3}, [&](const Var& i) { return loop::Binary(op, Cast(Int8, 6), a(i)); }, "b");
    const NDArray result = Interpret({b}, {{a, distances}})[0];
    for (int i = 0; i < 3; ++i)
      EXPECT_EQ(result.data<std::int8_t>()[i], op == loop::BinaryOp::kShl ? 12 : 3) << i;
  }
}

TEST(InterpretTest, IntegersWrapToTheirType) {
  const Tensor a = Placeholder({1}, Int8, "a");
  const Tensor b = Compute(
      {1}, [&](const Var& i) { return a(i) + a(i); }, "b");
  EXPECT_EQ(
      *Interpret({b}, {{a, NDArray::FromVector<std::int8_t>({1}, {100})}})[0].data<std::int8_t>(),
      static_cast<std::int8_t>(200));
}

TEST(InterpretTest, AGuardKeepsLoadsInside) {
  const Tensor a = Placeholder({3}, Float32, "a");
  const Tensor b = Compute(
      {5},
      [&](const Var& i) {
        return IfThenElse(i >= Expr(1) && i < Expr(4), a(i - 1), Cast(Float32, 0));
      },
      "b");
  const NDArray result = Interpret({b}, {{a, NDArray::FromVector<float>({3}, {1, 2, 3})}})[0];
  EXPECT_EQ(result.ToVector<float>(), (std::vector<float>{0, 1, 2, 3, 0}));
}

TEST(InterpretTest, MaximaKeepNaN) {
  const Tensor a = Placeholder({2}, Float32, "a");
  const Tensor b = Compute(
      {2}, [&](const Var& i) { return Max(a(i), Cast(Float32, 0)); }, "b");
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const NDArray result = Interpret({b}, {{a, NDArray::FromVector<float>({2}, {nan, -1})}})[0];
  EXPECT_TRUE(std::isnan(result.data<float>()[0]));
  EXPECT_EQ(result.data<float>()[1], 0);
}

TEST(InterpretTest, TheLastOfAllLeastValuesHasAnUnsignedIndex) {
  const Tensor a = Placeholder({5}, UInt8, "a");
  const IterVar k = ReduceAxis(0, 5);
  for (const bool last : {false, true}) {
    const std::vector<Tensor> best = ReduceTuple(
        {1},
        [&](const std::vector<Var>&) { return ArgMax(Cast(UInt32, k.var), a(k.var), {k}, last); },
        "best");
    const NDArray index = Interpret(best, {{a, NDArray::Zeros({5}, UInt8)}})[0];
    EXPECT_EQ(index.data<std::uint32_t>()[0], last ? 4U : 0U);
  }
}

TEST(InterpretErrorTest, InputsAreChecked) {
  const Tensor a = Placeholder({3}, Float32, "a");
  const Tensor b = Compute(
      {3}, [&](const Var& i) { return a(i); }, "b");
  EXPECT_THAT(Refusal([&] { Interpret({b}, {}); }), HasSubstr("the tensor a has no value"));
  EXPECT_THAT(Refusal([&] {
                Interpret({b}, {{a, NDArray::Zeros({4}, Float32)}});
              }),
              HasSubstr("the extent 4 in dimension 0; 3 is needed"));
  EXPECT_THAT(Refusal([&] {
                Interpret({b}, {{a, NDArray::Zeros({3}, Int32)}});
              }),
              HasSubstr("float32 of rank 1 is needed"));
}

TEST(InterpretErrorTest, AnIndexOutsideIsNamed) {
  const Tensor a = Placeholder({3}, Float32, "a");
  const Tensor b = Compute(
      {3}, [&](const Var& i) { return a(i + 1); }, "b");
  EXPECT_THAT(Refusal([&] {
                Interpret({b}, {{a, NDArray::Zeros({3}, Float32)}});
              }),
              HasSubstr("index 3 of dimension 0 of a, whose extent is 3"));
}

TEST(InterpretErrorTest, ExternalFunctionsWithoutASignatureAreRefused) {
  const Tensor b = Compute(
      {1}, [&](const Var&) { return loop::ExternCall(Float32, "f", {}); }, "b");
  EXPECT_THAT(Refusal([&] { Interpret({b}, {}); }), HasSubstr("cannot call f"));
}

}  // namespace
}  // namespace tenon::te
