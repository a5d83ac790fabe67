// What is declared of the variables of a model's inputs: multiples in their types, and limits. They
// are checked where a run enters, in every form of the model.
#include <cstdint>

#include "tenon/compiler/save_executable.h"
#include "tenon/runtime/saved_executable.h"
#include "tenon/tests/testing/c_library.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Parsed;
using testing_graphs::Random;

// The sums of groups of 8 rows. That a group is whole follows from the type.
constexpr const char* kMultiple = R"(
def @main(%x: Tensor[(8*k, 6), float32]) {
  sum(reshape(%x, newshape=[-4, -1, 8, -2]), axis=[1])
})";

NDArray SumsOf8(const NDArray& x) {
  const std::int64_t groups = x.shape()[0] / 8;
  NDArray sums = NDArray::Zeros({groups, 6}, Float32);
  for (std::int64_t i = 0; i < x.size(); ++i)
    sums.data<float>()[i / 48 * 6 + i % 6] += x.data<float>()[i];
  return sums;
}

// The model in the process and as it was saved.
std::vector<Executable> FormsOf(const std::string& text, const std::string& folder) {
  const Lowered lowered = ValueOrThrow(Lower(Parsed(text), {.library = LibraryChoice::kTe}));
  EXPECT_EQ(SaveExecutable(lowered, folder), absl::OkStatus());
  return {ValueOrThrow(Compile(Parsed(text))),
          ValueOrThrow(runtime::LoadExecutable(folder)).executable};
}

std::string Refusal(const Executable& exe, std::int64_t rows) {
  const auto result = exe.Run({{"x", Random({rows, 6}, 3)}});
  return result.ok() ? "it was taken" : std::string(result.status().message());
}

TEST(DeclaredFactsTest, AnExtentMayBeAMultiple) {
  const jit::ScopedFolder folder;
  for (const Executable& exe : FormsOf(kMultiple, folder / "net")) {
    for (const std::int64_t rows : {8, 24, 128}) {
      const NDArray x = Random({rows, 6}, 3);
      ExpectClose(ValueOrThrow(exe.Run({{"x", x}}))[0], SumsOf8(x));
    }
    for (const std::int64_t rows : {1, 12, 7})
      EXPECT_EQ(Refusal(exe, rows),
                StrCat("input 'x' has ", rows,
                       " elements on axis 0; it must have 8*k, where k is a whole number of at "
                       "least 1"));
  }
  const ir::Module typed = passes::InferType(Parsed(kMultiple));
  EXPECT_EQ(ir::ToString(typed.Main().body.checked_type()), "Tensor[(k, 6), float32]");
}

// Where no extent is the variable alone, one that has it in a sum shows it.
TEST(DeclaredFactsTest, AnExtentMayBeAMultipleAndANumber) {
  const char* text = R"(
def @main(%x: Tensor[(2*k + 3, 6), float32], %y: Tensor[(k, 6), float32]) { (sum(%x, axis=[0]), exp(%y)) })";
  const Executable exe = ValueOrThrow(Compile(Parsed(text)));
  const auto run = [&](std::int64_t rows, std::int64_t k) {
    return exe.Run({{"x", Random({rows, 6}, 3)}, {"y", Random({k, 6}, 4)}});
  };
  EXPECT_EQ(run(13, 5)->at(1).shape(), (Shape{5, 6}));
  EXPECT_THAT(std::string(run(12, 5).status().message()),
              HasSubstr("input 'x' has 12 elements on axis 0; it must have 13, which is 2*k + 3"));
  const Executable alone = ValueOrThrow(
      Compile(Parsed("def @main(%x: Tensor[(2*#k + 3, 6), float32]) { sum(%x, axis=[0]) }")));
  EXPECT_EQ(Refusal(alone, 3), "it was taken");
  EXPECT_EQ(Refusal(alone, 9), "it was taken");
  for (const std::int64_t rows : {1, 4})
    EXPECT_THAT(Refusal(alone, rows),
                HasSubstr("it must have 2*#k + 3, where #k is a whole number of at least 0"));
}

constexpr const char* kLimited = R"(
def @main(%x: Tensor[(n, 6), float32], limits="n <= 40, 4 <= n") { nn.softmax(%x) })";

TEST(DeclaredFactsTest, LimitsAreCheckedWhereARunEnters) {
  const jit::ScopedFolder folder;
  for (const Executable& exe : FormsOf(kLimited, folder / "net")) {
    for (const std::int64_t rows : {4, 17, 40}) EXPECT_EQ(Refusal(exe, rows), "it was taken");
    EXPECT_THAT(Refusal(exe, 41),
                AllOf(HasSubstr("input 'x' has 41 elements on axis 0"),
                      HasSubstr("the model needs n <= 40, for the limits of @main; here n = 41")));
    EXPECT_THAT(Refusal(exe, 3), HasSubstr("the model needs 4 <= n"));
  }
}

TEST(DeclaredFactsTest, LimitsHoldForModelsWithControlFlow) {
  const Executable exe = ValueOrThrow(Compile(Parsed(R"(
def @main(%x: Tensor[(n, 6), float32], limits="n <= 40") {
  if (less(sum(%x), 0f)) { exp(%x) } else { negative(%x) }
})")));
  ASSERT_NE(exe.program(), nullptr);
  EXPECT_EQ(Refusal(exe, 40), "it was taken");
  EXPECT_THAT(Refusal(exe, 41), AllOf(HasSubstr("input 'x' has 41 elements on axis 0"),
                                      HasSubstr("n <= 40, for the limits of @main")));
}

TEST(DeclaredFactsTest, LimitsMayCompareVariables) {
  const Executable exe = ValueOrThrow(Compile(Parsed(R"(
def @main(%x: Tensor[(n, 6), float32], %y: Tensor[(m, 6), float32], limits="n >= floordiv(m, 2), m == 2*n") {
  (sum(%x), sum(%y))
})")));
  const auto run = [&](std::int64_t n, std::int64_t m) {
    return std::string(
        exe.Run({{"x", Random({n, 6}, 3)}, {"y", Random({m, 6}, 4)}}).status().message());
  };
  EXPECT_EQ(run(3, 6), "");
  EXPECT_THAT(run(3, 7), HasSubstr("for the limits of @main"));
}

TEST(DeclaredFactsTest, LimitsAreKeptInText) {
  const ir::Module module = Parsed(kLimited);
  const std::string text = ir::PrintModule(module);
  EXPECT_THAT(text, HasSubstr("limits=\"n <= 40, 4 <= n\""));
  EXPECT_EQ(ir::PrintModule(Parsed(text)), text);
}

TEST(DeclaredFactsTest, WhatIsNoLimitIsRefused) {
  const auto refusal = [](const std::string& limits) {
    return std::string(Compile(Parsed("def @main(%x: Tensor[(n, 6), float32], limits=\"" + limits +
                                      "\") { exp(%x) }"))
                           .status()
                           .message());
  };
  EXPECT_THAT(refusal("m <= 4"), HasSubstr("no input has the variable m; there are: n"));
  EXPECT_THAT(refusal("n"), HasSubstr("\"n\" compares nothing"));
  EXPECT_THAT(refusal("n <= 4,"), HasSubstr("compares nothing"));
  EXPECT_THAT(refusal("n <= )"), HasSubstr("extents"));
}

}  // namespace
}  // namespace tenon
