// What Compile and Lower refuse, and in which words.
#include "tenon/compiler/compile.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Parsed;

absl::Status ErrorOf(const std::string& text) { return Compile(Parsed(text)).status(); }

TEST(CompileErrorTest, ThreadsAreNotNegative) {
  const absl::Status status =
      Compile(Parsed("def @main(%x: Tensor[(3), float32]) { exp(%x) }"), {.threads = -1}).status();
  EXPECT_EQ(status.message(), "threads is -1; it must be 1 to 1024, or 0 for all cores");
}

TEST(CompileTest, WithoutFusionTheErrorNamesThePass) {
  for (const char* type : {"Tensor[(4), float32]", "Tensor[(n), float32]"}) {
    const absl::Status status = Lower(Parsed(StrCat("def @main(%x: ", type, ") { exp(%x) }")),
                                      {.disabled_passes = {"FuseOps"}})
                                    .status();
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("the call of exp is in no fused function"), HasSubstr("FuseOps")));
  }
}

TEST(CompileErrorTest, FunctionsThatAreResultsAreRefused) {
  const absl::Status status = ErrorOf(
      "def @main(%x: Tensor[(4), float32]) {\n"
      "  %0 = fn (%a: Tensor[(4), float32]) { exp(%a) };\n  (%0, %0(%x))\n}");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("a function that is a result, or that a run chooses, cannot be compiled"));
}

TEST(CompileErrorTest, ATypeErrorNamesTheOperatorAndTheRule) {
  const absl::Status status = ErrorOf(
      "def @main(%x: Tensor[(3, 4), float32], %w: Tensor[(5, 7), float32]) { nn.dense(%x, %w) }");
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("nn.dense"), HasSubstr("inner extents 4 and 7")));
}

TEST(CompileErrorTest, AModuleWithoutMainIsRefused) {
  EXPECT_EQ(ErrorOf("def @other(%x: Tensor[(4), float32]) { exp(%x) }").code(),
            absl::StatusCode::kNotFound);
}

TEST(CompileTest, AnElementTypeThatAComputeRefusesIsNamedWithTheCallAndItsPlace) {
  const auto exe = Compile(
      Parsed("def @main(%x: Tensor[(4), int32]) {\n  %0 = add(%x, %x);\n  nn.softmax(%0)\n}"));
  EXPECT_THAT(std::string(exe.status().message()),
              AllOf(HasSubstr("nn.softmax: exp does not take int32"), HasSubstr(":3:3: ")));
}

TEST(CompileTest, AKernelOfWhatIsNotItsParametersIsRefusedInWords) {
  for (const char* body : {"let %b = negative(%a); add(%b, %b)", "add(%a, %c)"}) {
    const auto exe = Compile(Parsed(StrCat(
        "def @main(%x: Tensor[(4), float32], %c: Tensor[(4), float32]) { %0 = fn (%a: Tensor[(4), "
        "float32], Primitive=1) -> Tensor[(4), float32] { ",
        body, " }; %0(%x) }")));
    EXPECT_THAT(std::string(exe.status().message()), HasSubstr("holds operator calls only"));
  }
}

}  // namespace
}  // namespace tenon
