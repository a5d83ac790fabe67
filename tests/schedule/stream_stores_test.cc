// Non-temporal stores: where they are made, that they store the same, and what is refused.
#include <algorithm>
#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/build.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/schedule/schedule_testing.h"

namespace tenon::schedule {
namespace {

using te::Compute;
using te::Placeholder;
using te::Var;
using ::testing::HasSubstr;
using ::testing::Not;

// A product of matrices' elements by 2, in vectors of 16 floats, whose loops of rows are parallel.
class StreamStoresTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  static constexpr std::int64_t kRows = 5;

  explicit StreamStoresTest(std::int64_t columns = GetParam()) : columns_(columns) {
    const auto [outer, inner] = s[b].Split(b.axis(1), 16);
    s[b].Parallel(b.axis(0));
    s[b].Vectorize(inner);
    s[b].StreamStores();
  }
  jit::Kernel Kernel() { return ValueOrThrow(jit::Build(s, {a, b}, "doubled")); }

  std::int64_t columns_;
  Tensor a = Placeholder({kRows, columns_}, Float32, "A");
  Tensor b = Compute(
      {kRows, columns_}, [this](const Var& i, const Var& j) { return a(i, j) * 2.0F; }, "B");
  Schedule s{b};
};

// Rows of whole vectors, rows that begin and end in the middle of a line, of which the shortest may
// hold no whole one, and rows shorter than a vector.
INSTANTIATE_TEST_SUITE_P(Columns, StreamStoresTest,
                         ::testing::Values(16, 48, 100, 40, 33, 31, 30, 17, 7));

TEST_P(StreamStoresTest, StoresTheSameWhereverTheMemoryStarts) {
  const jit::Kernel kernel = Kernel();
  const std::int64_t count = kRows * columns_;
  NDArray in = NDArray::Zeros({kRows, columns_}, Float32);
  for (std::int64_t i = 0; i < count; ++i) in.data<float>()[i] = static_cast<float>(i + 1);
  for (const std::int64_t offset : {0, 1, 8, 16}) {
    constexpr std::int64_t kBeyond = 16;
    NDArray memory = NDArray::Zeros({count + offset + kBeyond}, Float32);
    std::fill_n(memory.data<float>(), memory.size(), -1.0F);
    NDArray out = NDArray::View({kRows, columns_}, Float32, memory.data<float>() + offset,
                                std::make_shared<NDArray>(memory));
    ASSERT_TRUE(kernel(in, out).ok());
    for (std::int64_t i = 0; i < memory.size(); ++i) {
      const bool is_result = i >= offset && i < offset + count;
      const float expected = is_result ? 2 * static_cast<float>(i - offset + 1) : -1;
      ASSERT_EQ(memory.data<float>()[i], expected) << "element " << i << ", offset " << offset;
    }
  }
}

TEST_P(StreamStoresTest, GoPastTheCachesWhereRowsHoldWholeLines) {
  const std::string ir = Kernel().LlvmIr();
  if (columns_ % 16 == 0 || columns_ >= 31) {
    EXPECT_THAT(ir, HasSubstr("!nontemporal"));
    EXPECT_THAT(ir, HasSubstr("sfence"));
  } else {
    EXPECT_THAT(ir, Not(HasSubstr("!nontemporal")));
    EXPECT_THAT(ir, Not(HasSubstr("in_lines")));
  }
}

class StreamedRowsTest : public StreamStoresTest {
 protected:
  StreamedRowsTest() : StreamStoresTest(32) {}
};

TEST_F(StreamedRowsTest, AreSeenInTheLoops) {
  EXPECT_THAT(LoopsOf(s, {a, b}), HasSubstr(" non-temporal\n"));
}

TEST_F(StreamedRowsTest, AreRecorded) {
  EXPECT_THAT(PrintRecord(s), HasSubstr("s[B].StreamStores();"));
  Schedule fresh(b);
  Replay(s.record(), fresh);
  EXPECT_EQ(LoopsOf(fresh, {a, b}), LoopsOf(s, {a, b}));
}

TEST_F(StreamedRowsTest, AreRefusedWhereTheCallerDoesNotReadThem) {
  EXPECT_THAT(Refusal([&] { s[a].StreamStores(); }),
              HasSubstr("stream_stores: stage A: it is no compute whose result goes to the "
                        "caller's memory"));
  const te::IterVar k = te::ReduceAxis(0, 32, "k");
  const Tensor sum = Compute(
      {kRows}, [&](const Var& i) { return te::Sum(b(i, k.var), {k}); }, "sum");
  Schedule sums(sum);
  EXPECT_THAT(Refusal([&] { sums[b].StreamStores(); }),
              HasSubstr("stage B: it is no compute whose result goes to the caller's memory"));
  EXPECT_THAT(Refusal([&] { sums[sum].StreamStores(); }),
              HasSubstr("a reduction reads what it has stored; call cache_write before"));
}

TEST(StreamedResultsTest, LargeOutputsAreStreamedUnlessTheCallerSaysNo) {
  const std::vector<te::Expr> shape = {4096, 4096};
  const Tensor a = Placeholder(shape, Float32, "A");
  const Tensor b = Compute(
      shape, [&](const Var& i, const Var& j) { return a(i, j) * 2.0F; }, "B");
  Schedule s(b);
  s[b].Vectorize(s[b].Split(b.axis(1), 16).second);
  const auto loops = [&](const LowerOptions& options) {
    return loop::Print(Lower(s, {a, b}, "doubled", options));
  };
  EXPECT_THAT(loops({}), HasSubstr(" non-temporal\n"));
  EXPECT_THAT(loops({.stream_results = false}), Not(HasSubstr(" non-temporal\n")));
}

}  // namespace
}  // namespace tenon::schedule
