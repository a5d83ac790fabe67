// Reductions with a condition, initial values and computed targets, against plain loops.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/te/content.h"
#include "tenon/te/interpret.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/te/scan.h"

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

std::vector<std::int32_t> RandomInts(std::int64_t count, std::int32_t low, std::int32_t high) {
  std::mt19937 generator(7);
  std::uniform_int_distribution<std::int32_t> values(low, high);
  std::vector<std::int32_t> ints(static_cast<std::size_t>(count));
  for (std::int32_t& value : ints) value = values(generator);
  return ints;
}

// Indices below 0 and past the end count nowhere.
TEST(UpdateTest, AHistogramCountsWhatIsInside) {
  constexpr std::int64_t kBins = 13;
  for (const std::int64_t size : {0, 1, 2, 97, 1025}) {
    const Tensor x = Placeholder({size}, Int32, "x");
    const IterVar r = ReduceAxis(0, size, "r");
    const Tensor histogram = Compute(
        {kBins}, [&](const Var&) { return Into(Sum(Cast(Int32, 1), {r}), {x(r.var)}); }, "h");
    const std::vector<std::int32_t> values = RandomInts(size, -3, kBins + 2);
    std::vector<std::int32_t> expected(kBins, 0);
    for (const std::int32_t value : values) {
      if (value >= 0 && value < kBins) ++expected[static_cast<std::size_t>(value)];
    }
    const NDArray result =
        Interpret({histogram}, {{x, NDArray::FromVector<std::int32_t>({size}, values)}})[0];
    for (std::int64_t i = 0; i < kBins; ++i)
      EXPECT_EQ(result.data<std::int32_t>()[i], expected[static_cast<std::size_t>(i)]) << size;
  }
}

// y(b, x(b, r)) += v(b, r) on top of what z holds.
TEST(UpdateTest, AScatterAddStartsAtOtherValues) {
  const Tensor x = Placeholder({3, 17}, Int32, "x"), v = Placeholder({3, 17}, Float32, "v"),
               z = Placeholder({3, 5}, Float32, "z");
  const IterVar r = ReduceAxis(0, 17, "r");
  const Tensor y = Compute(
      {3, 5},
      [&](const Var& b, const Var& j) {
        return StartingAt(Into(Sum(v(b, r.var), {r}), {b, x(b, r.var)}), {z(b, j)});
      },
      "y");
  const std::vector<std::int32_t> to = RandomInts(3 * 17, -1, 5);
  std::vector<float> terms, start;
  for (int i = 0; i < 3 * 17; ++i) terms.push_back(static_cast<float>(i) * 0.5F);
  for (int i = 0; i < 3 * 5; ++i) start.push_back(static_cast<float>(-i));
  std::vector<float> expected = start;
  for (std::size_t b = 0; b < 3; ++b) {
    for (std::size_t k = 0; k < 17; ++k) {
      const std::int32_t j = to[b * 17 + k];
      if (j >= 0 && j < 5) expected[b * 5 + static_cast<std::size_t>(j)] += terms[b * 17 + k];
    }
  }
  const NDArray result = Interpret({y}, {{x, NDArray::FromVector<std::int32_t>({3, 17}, to)},
                                         {v, NDArray::FromVector<float>({3, 17}, terms)},
                                         {z, NDArray::FromVector<float>({3, 5}, start)}})[0];
  for (std::int64_t i = 0; i < 15; ++i)
    EXPECT_EQ(result.data<float>()[i], expected[static_cast<std::size_t>(i)]) << i;
}

// The last term wins: the order is that of the reduce axes.
TEST(UpdateTest, TermsComeOneAfterTheOther) {
  const Combiner last = MakeCombiner(
      "last", {Int32},
      [](const std::vector<Var>&, const std::vector<Var>& b) { return std::vector<Expr>{b[0]}; },
      {Cast(Int32, -1)}, /*is_commutative=*/false);
  const IterVar r = ReduceAxis(0, 10, "r");
  const Tensor y = Compute(
      {4},
      [&](const Var&) {
        return Into(Reduce(last, {Cast(Int32, r.var)}, {r}), {FloorMod(r.var, 3)});
      },
      "y");
  const NDArray result = Interpret({y}, {})[0];
  EXPECT_EQ(std::vector<std::int32_t>(result.data<std::int32_t>(), result.data<std::int32_t>() + 4),
            (std::vector<std::int32_t>{9, 7, 8, -1}));
}

// What the condition leaves out is not read: index 8 of 5 would be an error.
TEST(UpdateTest, AConditionLeavesTermsOutUnread) {
  const Tensor a = Placeholder({5}, Float32, "a");
  const IterVar k = ReduceAxis(0, 9, "k");
  const Tensor most = Compute(
      {2},
      [&](const Var& i) { return Where(Max(a(k.var), {k}), k.var < 5 && FloorMod(k.var, 2) == i); },
      "most");
  const NDArray result =
      Interpret({most}, {{a, NDArray::FromVector<float>({5}, {1, 7, NAN, 5, 2})}})[0];
  EXPECT_TRUE(std::isnan(result.data<float>()[0]));
  EXPECT_EQ(result.data<float>()[1], 7);
}

TEST(UpdateTest, IsPrintedAndIsContent) {
  const Tensor x = Placeholder({9}, Int32, "x");
  const auto make = [&](bool is_masked) {
    const IterVar r = ReduceAxis(0, 9, "r");
    return Compute(
        {4},
        [&](const Var& i) {
          Reduction sum = StartingAt(Into(Sum(Cast(Int32, 1), {r}), {x(r.var)}), {Cast(Int32, i)});
          return is_masked ? Where(sum, r.var > 2) : sum;
        },
        "h");
  };
  EXPECT_THAT(Print({make(true)}),
              HasSubstr("sum(1i32, r in [0, 9)) where (r > 2) into [int64(x[r])] starting at "
                        "int32(ax0)"));
  EXPECT_NE(ContentOf({make(true)}, {x}), ContentOf({make(false)}, {x}));
}

TEST(UpdateTest, MisuseIsRefusedInWords) {
  const Tensor x = Placeholder({9}, Int32, "x"), f = Placeholder({9}, Float32, "f");
  const IterVar r = ReduceAxis(0, 9, "r");
  const Reduction sum = Sum(f(r.var), {r});
  const auto compute = [](const auto& body) { Compute({4, 3}, body, "h"); };
  EXPECT_THAT(
      Refusal([&] { compute([&](const Var&, const Var&) { return Into(sum, {x(r.var)}); }); }),
      HasSubstr("reduction h: its terms go to 1 indices; the tensor has 2 dimensions"));
  EXPECT_THAT(Refusal([&] {
                compute([&](const Var& i, const Var&) { return Into(sum, {i, f(r.var)}); });
              }),
              HasSubstr("index 1 of where its terms go is float32; it must be an integer"));
  EXPECT_THAT(Refusal([&] {
                compute([&](const Var& i, const Var& j) {
                  return Into(Sum(f(r.var) * Cast(Float32, j), {r}), {i, x(r.var)});
                });
              }),
              HasSubstr("terms go to a computed index of dimension 1, so that they have no place "
                        "along ax1"));
  EXPECT_THAT(
      Refusal([&] {
        compute([&](const Var&, const Var&) { return StartingAt(sum, {Cast(Float32, r.var)}); });
      }),
      HasSubstr("initial value 0 uses the reduce axis r; it may use data axes alone"));
  EXPECT_THAT(Refusal([&] { StartingAt(sum, {}); }),
              HasSubstr("reducer sum joins 1 values; 0 initial ones are given"));
  EXPECT_THAT(Refusal([&] { StartingAt(sum, {Cast(Int32, 1)}); }),
              HasSubstr("initial value 0 is int32; it must be float32"));
  EXPECT_THAT(Refusal([&] { Where(sum, f(r.var)); }),
              HasSubstr("the condition of its terms is float32; it must be bool"));
  EXPECT_THAT(Refusal([&] { Into(sum, {}); }), HasSubstr("there is no index"));
  EXPECT_THAT(Refusal([&] { Into(sum, {Expr()}); }), HasSubstr("where its terms go is null"));
  const Tensor state = Placeholder({9, 4}, Float32, "state");
  const Tensor first = Compute({1, 4}, [&](const Var&, const Var&) { return Expr(0.0F); });
  const Tensor next = Compute(
      {9, 4},
      [&](const Var& t, const Var&) {
        return Into(Sum(state(t - 1, FloorMod(r.var, 4)), {r}), {t, x(r.var)});
      },
      "next");
  EXPECT_THAT(Refusal([&] { Scan({first}, {next}, {state}); }),
              HasSubstr("next, which depends on a state, computes where its terms go"));
}

}  // namespace
}  // namespace tenon::te
