#include "tenon/support/dim_program.h"

#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"

namespace tenon {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
const Dim n = Dim::Symbol("n"), w = Dim::Symbol("w");

TEST(DimProgramTest, GivesTheValuesOfExpressions) {
  const std::vector<Dim> dims = {
      7,         n, n * w * 3 - 5, FloorDiv(w - 7, 4) + 1, Max(n, FloorDiv(w, 2)), Min(n * n, w),
      n * n - n, w};
  DimProgram program({"n", "w"});
  std::vector<int> places;
  for (const Dim& dim : dims) places.push_back(program.Add(dim));
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t a = random() % 50 + 1, b = random() % 50 + 1;
    const auto values = program.Evaluate({a, b});
    ASSERT_TRUE(values);
    for (std::size_t d = 0; d < dims.size(); ++d)
      EXPECT_EQ((*values)[places[d]], dims[d].Evaluate({{"n", a}, {"w", b}})) << dims[d].ToString();
  }
}

TEST(DimProgramTest, EqualSubexpressionsAreOneOperation) {
  DimProgram program({"n"});
  EXPECT_EQ(program.Add(n), 0);
  const int half = program.Add(FloorDiv(n, 2));
  const std::size_t size = program.operations().size();
  EXPECT_EQ(program.Add(FloorDiv(n, 2)), half);
  EXPECT_EQ(program.operations().size(), size);
  program.Add(FloorDiv(n, 2) + n);
  EXPECT_EQ(program.operations().size(), size + 1);
}

TEST(DimProgramTest, ResultsThatDoNotFitAreNone) {
  DimProgram program({"n"});
  program.Add(n * n + 1);
  EXPECT_TRUE(program.Evaluate({3'000'000'000}));
  EXPECT_FALSE(program.Evaluate({4'000'000'000}));
  DimProgram sum({"n"});
  sum.Add(n + 1);
  EXPECT_FALSE(sum.Evaluate({kMax}));
}

TEST(DimProgramTest, RefusesWhatIsNotKnown) {
  DimProgram program({"n"});
  EXPECT_THROW(program.Add(Dim()), Error);
  EXPECT_THROW(program.Add(n + w), Error);
}

}  // namespace
}  // namespace tenon
