#include "tenon/schedule/input_regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/support/error.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::IterVar;
using te::Placeholder;
using te::ReduceAxis;
using te::Tensor;
using te::Var;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> TextsOf(const std::vector<TensorRegion>& parts) {
  std::vector<std::string> texts;
  for (const TensorRegion& part : parts) texts.push_back(Print(part));
  return texts;
}

// Windows widen what is needed on the way to the input.
TEST(RegionsNeededTest, OfAChainOfWindows) {
  const Tensor a = Placeholder({64, 64}, Float32, "A");
  const IterVar k = ReduceAxis(0, 3, "k"), l = ReduceAxis(0, 5, "l");
  const Tensor b = Compute(
      {62, 64}, [&](const Var& y, const Var& x) { return te::Sum(a(y + k.var, x), {k}); }, "B");
  const Tensor c = Compute(
      {62, 30}, [&](const Var& y, const Var& x) { return te::Max(b(y, x * 2 + l.var), {l}); }, "C");
  EXPECT_THAT(TextsOf(RegionsNeeded(c, {{8, 4}, {0, 10}})),
              ElementsAre("B: [8, 12) x [0, 23)", "A: [8, 14) x [0, 23)"));
  const Var y("y"), x("x");
  EXPECT_THAT(TextsOf(RegionsNeeded(c, {{y, 1}, {x * 4, 4}})),
              ElementsAre("B: [y, (y + 1)) x [(x * 8), ((x * 8) + 11))",
                          "A: [y, (y + 3)) x [(x * 8), ((x * 8) + 11))"));
}

TEST(RegionsNeededTest, JoinsReadersAndCoversWhatIsNotKnown) {
  const Tensor a = Placeholder({40}, Float32, "A"), i = Placeholder({40}, Int64, "I");
  const Tensor b = Compute(
      {40}, [&](const Var& x) { return a(x) * 2.0F; }, "B");
  const Tensor c = Compute(
      {30}, [&](const Var& x) { return b(x) + b(x + 10) + a(i(x)); }, "C");
  EXPECT_THAT(TextsOf(RegionsNeeded(c, {{5, 5}})),
              ElementsAre("I: [5, 10)", "B: [5, 20)", "A: [0, 40)"));
}

TEST(RegionsNeededTest, ARegionHasTheRankOfTheResult) {
  const Tensor a = Placeholder({4}, Float32, "A");
  try {
    RegionsNeeded(a, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("regions needed: A has 1 dimensions; the region has 0"));
  }
}

}  // namespace
}  // namespace tenon::schedule
