// argwhere and sparse_fill_empty_rows: compiled once, against loops over the elements.
#include "tenon/passes/expand_run_time_ops.h"

#include <algorithm>
#include <map>

#include "tenon/compiler/compile.h"
#include "tenon/compiler/lower_program.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::passes {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Parsed;

using Integers = std::vector<std::int64_t>;

Executable Compiled(const std::string& text) {
  return ValueOrThrow(Compile(Parsed(text), {.verify = true, .check_bounds = true}));
}

std::string RefusalOf(const std::string& text) {
  return std::string(Compile(Parsed(text)).status().message());
}

// Every `period`-th element is not 0; 0: none is.
NDArray Sparse(const Shape& shape, std::int64_t period) {
  NDArray x = NDArray::Empty(shape, Float32);
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data<float>()[i] = period != 0 && i % period == 0 ? -0.5F : 0.0F;
  return x;
}

// Rows of coordinates.
std::vector<std::int32_t> Found(const NDArray& x) {
  std::vector<std::int32_t> rows;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    if (x.data<float>()[i] == 0) continue;
    std::vector<std::int32_t> at;
    std::int64_t rest = i;
    for (std::size_t axis = x.shape().size(); axis-- > 0;) {
      at.insert(at.begin(), static_cast<std::int32_t>(rest % x.shape()[axis]));
      rest /= x.shape()[axis];
    }
    rows.insert(rows.end(), at.begin(), at.end());
  }
  return rows;
}

TEST(ArgWhereTest, CoordinatesAreThoseOfElementsThatAreNotZero) {
  for (const Shape& shape : {Shape{17}, Shape{3, 5}, Shape{2, 1, 3, 7}}) {
    const Executable exe =
        Compiled(StrCat("def @main(%x: Tensor[(", StrJoin(shape, ", "),
                        shape.size() == 1 ? "," : "", "), float32]) { argwhere(%x) }"));
    for (const std::int64_t period : {0, 1, 2, 3, 100}) {
      SCOPED_TRACE(StrCat(ShapeToString(shape), " ", period));
      const NDArray x = Sparse(shape, period);
      const NDArray rows = ValueOrThrow(exe.Run({{"x", x}})).at(0);
      const std::vector<std::int32_t> expected = Found(x);
      const auto rank = static_cast<std::int64_t>(shape.size());
      EXPECT_EQ(rows.shape(), (Shape{static_cast<std::int64_t>(expected.size()) / rank, rank}));
      EXPECT_EQ(rows.ToVector<std::int32_t>(), expected);
    }
  }
}

TEST(ArgWhereTest, WhatFollowsIsCompiledForAnyNumber) {
  const Executable exe = Compiled(
      "def @main(%x: Tensor[(n, 4), float32]) { gather_nd(%x, transpose(argwhere(%x)), "
      "index_rank=2) }");
  for (const std::int64_t rows : {1, 3, 9}) {
    for (const std::int64_t period : {0, 1, 3}) {
      const NDArray x = Sparse({rows, 4}, period);
      const NDArray found = ValueOrThrow(exe.Run({{"x", x}})).at(0);
      EXPECT_EQ(found.ToVector<float>(), std::vector<float>(Found(x).size() / 2, -0.5F));
    }
  }
}

TEST(ArgWhereTest, FlagsAndIntegersAreConditions) {
  const Executable exe =
      Compiled("def @main(%x: Tensor[(5), int64]) { (argwhere(%x), argwhere(less(%x, 1i64))) }");
  const auto found =
      ValueOrThrow(exe.Run({{"x", NDArray::FromVector<std::int64_t>({5}, {0, 7, -1, 0, 2})}}));
  EXPECT_EQ(found[0].ToVector<std::int32_t>(), (std::vector<std::int32_t>{1, 2, 4}));
  EXPECT_EQ(found[1].ToVector<std::int32_t>(), (std::vector<std::int32_t>{0, 2, 3}));
}

TEST(ArgWhereTest, NothingIsFoundAmongNoElements) {
  const auto found =
      ValueOrThrow(Compiled("def @main(%x: Tensor[(0, 3), float32]) { argwhere(%x) }")
                       .Run({{"x", NDArray::Empty({0, 3}, Float32)}}));
  EXPECT_EQ(found[0].shape(), (Shape{0, 2}));
}

TEST(ArgWhereTest, AScalarHasNoCoordinates) {
  EXPECT_THAT(RefusalOf("def @main(%x: Tensor[(), float32]) { argwhere(%x) }"),
              AllOf(HasSubstr("argwhere"), HasSubstr("a rank of at least 1")));
}

struct Entry {
  std::int64_t row, column;
  float value;
};

TEST(SparseFillEmptyRowsTest, EachRowHasAnEntry) {
  const Executable exe = Compiled(
      "def @main(%i: Tensor[(n, 2), int64], %v: Tensor[(n,), float32], %s: Tensor[(2), int64], "
      "%d: Tensor[(), float32]) { sparse_fill_empty_rows(%i, %v, %s, %d) }");
  const std::vector<std::vector<Entry>> all = {
      {{0, 1, 1}, {0, 3, 2}, {2, 0, 3}, {3, 1, 4}}, {{3, 1, 1}, {1, 2, 2}, {3, 0, 3}}, {{5, 4, 1}}};
  for (const std::vector<Entry>& entries : all) {
    for (const std::int64_t rows : {6, 7, 13}) {
      NDArray indices = NDArray::Empty({static_cast<std::int64_t>(entries.size()), 2}, Int64);
      std::vector<float> values;
      for (std::size_t i = 0; i < entries.size(); ++i) {
        indices.data<std::int64_t>()[2 * i] = entries[i].row;
        indices.data<std::int64_t>()[2 * i + 1] = entries[i].column;
        values.push_back(entries[i].value);
      }
      Integers expected_indices;
      std::vector<float> expected_values;
      std::vector<std::uint8_t> empty;
      for (std::int64_t row = 0; row < rows; ++row) {
        bool is_empty = true;
        for (const Entry& entry : entries) {
          if (entry.row != row) continue;
          is_empty = false;
          expected_indices.insert(expected_indices.end(), {row, entry.column});
          expected_values.push_back(entry.value);
        }
        empty.push_back(is_empty ? 1 : 0);
        if (!is_empty) continue;
        expected_indices.insert(expected_indices.end(), {row, 0});
        expected_values.push_back(-9);
      }
      const auto results = ValueOrThrow(
          exe.Run({{"i", indices},
                   {"v", NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values)},
                   {"s", NDArray::FromVector<std::int64_t>({2}, {rows, 5})},
                   {"d", NDArray::Scalar<float>(-9)}}));
      EXPECT_EQ(results[0].ToVector<std::int64_t>(), expected_indices);
      EXPECT_EQ(results[1].ToVector<float>(), expected_values);
      const auto* flags = static_cast<const std::uint8_t*>(results[2].raw());
      EXPECT_EQ(std::vector<std::uint8_t>(flags, flags + results[2].size()), empty);
    }
  }
}

TEST(SparseFillEmptyRowsTest, ShapesThatDoNotFitAreRefused) {
  EXPECT_THAT(RefusalOf("def @main(%i: Tensor[(3, 2), int64], %v: Tensor[(4,), float32], "
                        "%s: Tensor[(2), int64], %d: Tensor[(), float32]) { "
                        "sparse_fill_empty_rows(%i, %v, %s, %d) }"),
              HasSubstr("one value for each row of indices"));
}

TEST(ExpandRunTimeOpsTest, AModuleWithoutThemStaysTheSame) {
  const ir::Module module = Parsed("def @main(%x: Tensor[(3), float32]) { exp(%x) }");
  EXPECT_TRUE(ExpandRunTimeOps(module) == module);
}

TEST(ExpandRunTimeOpsTest, ACallInTheMiddleMakesAProgram) {
  EXPECT_TRUE(IsProgram(Parsed(
      "def @main(%x: Tensor[(3, 4), float32]) { exp(cast(argwhere(%x), dtype=\"float32\")) }")));
}

}  // namespace
}  // namespace tenon::passes
