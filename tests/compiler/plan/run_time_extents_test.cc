#include <string>

#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using testing_graphs::Outcome;
using testing_graphs::Parsed;

NDArray Numbers(const Shape& shape) {
  NDArray array = NDArray::Empty(shape, Float32);
  for (std::int64_t i = 0; i < array.size(); ++i) array.data<float>()[i] = static_cast<float>(i);
  return array;
}

TEST(RunTimeExtentsTest, ARunCutsResultsToTheirCounts) {
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(3, 4), float32], %n: Tensor[(1), int64]) { (take_first(negative(%x), "
      "%n, axis=1), %x, take_first(%x, %n)) }");
  for (const std::int64_t n : {0, 1, 2, 3}) {
    const std::vector<NDArray> got = Outcome(
        module, {{"x", Numbers({3, 4})}, {"n", NDArray::FromVector<std::int64_t>({1}, {n})}});
    ASSERT_EQ(got.size(), 3U);
    EXPECT_EQ(got[0].shape(), (Shape{3, n}));
    EXPECT_EQ(got[1].shape(), (Shape{3, 4}));
    EXPECT_EQ(got[2].shape(), (Shape{n, 4}));
    for (std::int64_t i = 0; i < 3 * n; ++i)
      EXPECT_EQ(got[0].data<float>()[i], -static_cast<float>(i / n * 4 + i % n));
    for (std::int64_t i = 0; i < n * 4; ++i)
      EXPECT_EQ(got[2].data<float>()[i], static_cast<float>(i));
  }
}

TEST(RunTimeExtentsTest, ACountOutOfRangeTakesAllOrNothing) {
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(3), float32], %n: Tensor[(1), int64]) { take_first(%x, %n) }");
  for (const auto& [n, extent] : {std::pair(-1, 0), std::pair(9, 3)}) {
    const std::vector<NDArray> got =
        Outcome(module, {{"x", Numbers({3})}, {"n", NDArray::FromVector<std::int64_t>({1}, {n})}});
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].shape(), Shape{extent});
  }
}

TEST(RunTimeExtentsTest, AnAxisBeyondTheRankIsRefused) {
  const auto compiled = Compile(Parsed(
      "def @main(%x: Tensor[(4), float32], %n: Tensor[(1), int64]) { take_first(%x, %n, axis=7) "
      "}"));
  EXPECT_EQ(compiled.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(compiled.status().message()), HasSubstr("take_first"));
}

TEST(RunTimeExtentsTest, ACountOfAnotherTypeOrShapeIsRefused) {
  for (const char* type : {"Tensor[(0), int64]", "Tensor[(2), int64]", "Tensor[(1), int32]"}) {
    const auto compiled = Compile(Parsed(
        StrCat("def @main(%x: Tensor[(4), float32], %n: ", type, ") { take_first(%x, %n) }")));
    EXPECT_THAT(std::string(compiled.status().message()),
                HasSubstr("the count must be one element of int64"));
  }
}

// Each tensor of a nested tuple is a result of its own.
TEST(RunTimeExtentsTest, ResultsOfNestedTuplesAreCountedOneByOne) {
  const ir::Module module = Parsed(
      "def @main(%a: Tensor[(3), float32], %n: Tensor[(1), int64]) { ((%a, %a), take_first(%a, "
      "%n), (take_first(%a, %n), %a)) }");
  const std::vector<NDArray> got =
      Outcome(module, {{"a", Numbers({3})}, {"n", NDArray::FromVector<std::int64_t>({1}, {2})}});
  ASSERT_EQ(got.size(), 5U);
  for (const std::size_t whole : {0U, 1U, 4U}) EXPECT_EQ(got[whole].shape(), Shape{3});
  for (const std::size_t cut : {2U, 3U}) EXPECT_EQ(got[cut].shape(), Shape{2});
}

}  // namespace
}  // namespace tenon
