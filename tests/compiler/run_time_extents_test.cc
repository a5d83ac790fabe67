#include <string>

#include "tenon/tests/strategies/graph_testing.h"

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

TEST(RunTimeExtentsTest, NothingReadsWhatIsCut) {
  const auto compiled = Compile(Parsed(
      "def @main(%x: Tensor[(3), float32], %n: Tensor[(1), int64]) { exp(take_first(%x, %n)) }"));
  EXPECT_EQ(compiled.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(compiled.status().message()),
              HasSubstr("the extent is known at run time only"));
}

}  // namespace
}  // namespace tenon
