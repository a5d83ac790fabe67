// Which functions have one skeleton, and that a function for all of them is each of them.
#include "tenon/loop/skeleton.h"

#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

struct Numbers {
  std::int64_t rows = 40, stride = 64, offset = 128, factor = 7, steps = 1, rounds = 3;
  double term = 0.5, scale = 1;
  std::int64_t temporary = 8;
  ForKind kind = ForKind::kSerial;
};

// out[64 * i + 128 + ramp] = in[7 * i + r] * scale + term for all rows i, in a loop of few rounds
// r.
Function Made(const Numbers& numbers) {
  const Var n("n"), i("i"), r("r");
  const Buffer in = Buffer::Make("in", Float32, {n, numbers.stride});
  const Buffer out = Buffer::Make("out", Float32, {n, numbers.stride});
  const Buffer temporary = Buffer::Make("temporary", Float32, {numbers.temporary});
  const Expr loaded = Load(in, {Ramp(i * numbers.factor + r, numbers.steps, 4)});
  const Expr value = loaded * Broadcast(Constant(Float32, numbers.scale), 4) +
                     Broadcast(Constant(Float32, numbers.term), 4);
  const Stmt store = Store(out, value, {Ramp(i * numbers.stride + numbers.offset, 1, 4)});
  const Stmt rounds = For(r, 0, numbers.rounds, ForKind::kSerial, store);
  return {.name = "f",
          .buffers = {in, out},
          .scalars = {n},
          .body = Allocate(temporary, For(i, 0, numbers.rows, numbers.kind, rounds)),
          .origin = "of f"};
}

std::string BytesOf(const Numbers& numbers) { return SkeletonOf(Made(numbers)).bytes; }

// The general function with these numbers in place of its new scalars.
std::string TextWith(const Generalized& made, std::size_t member) {
  ExprMap values;
  const std::size_t first = made.function.scalars.size() - made.numbers[member].size();
  for (std::size_t k = 0; k < made.numbers[member].size(); ++k)
    values.emplace(made.function.scalars[first + k], IntImm(Int64, made.numbers[member][k]));
  return Print(Substitute(made.function.body.stmt(), values));
}

TEST(SkeletonTest, ExtentsFactorsOffsetsAndTermsAreLeftOut) {
  const std::string bytes = BytesOf({});
  EXPECT_EQ(BytesOf({.rows = 50}), bytes);
  EXPECT_EQ(BytesOf({.stride = 96}), bytes);
  EXPECT_EQ(BytesOf({.offset = 3}), bytes);
  EXPECT_EQ(BytesOf({.factor = 9}), bytes);
  EXPECT_EQ(BytesOf({.term = 0.25}), bytes);
}

TEST(SkeletonTest, WhatShapesTheCodeIsNotLeftOut) {
  const std::string bytes = BytesOf({});
  EXPECT_NE(BytesOf({.offset = 1}), bytes) << "a small offset";
  EXPECT_NE(BytesOf({.offset = std::int64_t{1} << 62}), bytes) << "a number that is no index";
  EXPECT_NE(BytesOf({.steps = 5}), bytes) << "the step of a vector";
  EXPECT_NE(BytesOf({.rounds = 5}), bytes) << "a loop of few rounds";
  EXPECT_NE(BytesOf({.term = 0}), bytes) << "a term that changes little";
  EXPECT_NE(BytesOf({.scale = 2}), bytes) << "a factor that changes nothing";
  EXPECT_NE(BytesOf({.temporary = 9}), bytes) << "memory of constant size";
  EXPECT_NE(BytesOf({.kind = ForKind::kParallel}), bytes) << "the kind of a loop";
  EXPECT_NE(BytesOf({.kind = ForKind::kUnrolled}),
            BytesOf({.rows = 50, .kind = ForKind::kUnrolled}))
      << "the extent of an unrolled loop";
}

TEST(SkeletonTest, AFunctionForAllIsEachOfThemWithItsNumbers) {
  const Numbers all[] = {{},
                         {.rows = 50, .stride = 96, .offset = 192},
                         {.rows = 40, .stride = 3, .offset = 999999999999, .factor = 12}};
  std::vector<Function> functions;
  std::vector<Skeleton> skeletons;
  for (const Numbers& numbers : all) {
    functions.push_back(Made(numbers));
    skeletons.push_back(SkeletonOf(functions.back()));
  }
  const Generalized made = Generalize(
      functions[0], std::vector<const Skeleton*>{&skeletons[0], &skeletons[1], &skeletons[2]});
  EXPECT_TRUE(made.function.origin.empty());
  for (std::size_t i = 0; i < functions.size(); ++i)
    EXPECT_EQ(TextWith(made, i), Print(functions[i].body.stmt()));
}

TEST(SkeletonTest, NumbersThatAreEqualInEachFunctionAreOneScalar) {
  const Function first = Made({.rows = 64}), second = Made({.rows = 96, .stride = 96});
  const Skeleton a = SkeletonOf(first), b = SkeletonOf(second);
  const Generalized made = Generalize(first, std::vector<const Skeleton*>{&a, &b});
  EXPECT_EQ(made.numbers, (std::vector<std::vector<std::int64_t>>{{64}, {96}}));
  EXPECT_EQ(made.function.scalars.size(), 2U);
}

TEST(SkeletonTest, TheShapesOfBuffersAreThoseOfEachFunction) {
  const Function first = Made({}), second = Made({.stride = 96});
  const Skeleton a = SkeletonOf(first), b = SkeletonOf(second);
  const Generalized made = Generalize(first, std::vector<const Skeleton*>{&a, &b});
  EXPECT_TRUE(made.function.buffers[0]->shape[1].same_as(made.function.scalars[1]));
  EXPECT_FALSE(made.function.buffers[0] == first.buffers[0]);
}

TEST(SkeletonTest, FloatingNumbersArePassedByTheirBits) {
  const Function first = Made({}), second = Made({.term = 0.25});
  const Skeleton a = SkeletonOf(first), b = SkeletonOf(second);
  const Generalized made = Generalize(first, std::vector<const Skeleton*>{&a, &b});
  EXPECT_EQ(made.numbers, (std::vector<std::vector<std::int64_t>>{{0x3f000000}, {0x3e800000}}));
}

}  // namespace
}  // namespace tenon::loop
