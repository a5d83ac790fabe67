// Every qnn.* call is replaced by ordinary operators. Numbers are proved in
// tests/compiler/qnn_numbers_test.cc.
#include "tenon/passes/quantize/canonicalize_qnn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/legalize.h"
#include "tenon/passes/pipeline.h"
#include "tenon/passes/simplify/fold_constant.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

Module Typed(const std::string& text) { return InferType(Parse(text)); }

struct Rewrite {
  const char* name;
  const char* before;
  const char* after;
  friend void PrintTo(const Rewrite& r, std::ostream* out) { *out << r.name; }
};
class CanonicalizeQnnTest : public ::testing::TestWithParam<Rewrite> {};

TEST_P(CanonicalizeQnnTest, S001_01_RewritesToOrdinaryOperators) {
  EXPECT_EQ(Print(CanonicalizeQnn(Typed(GetParam().before))),
            std::string(kVersion) + GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(
    Rewrites, CanonicalizeQnnTest,
    ::testing::Values(
        Rewrite{"Quantize",
                "def @main(%x: Tensor[(2), float32]) { qnn.quantize(%x, 0.5f, 3, "
                "out_dtype=\"uint8\") }",
                R"(def @main(%x: Tensor[(2), float32]) -> Tensor[(2), uint8] {
  %0 = divide(%x, 0.5f /* ty=float32 */) /* ty=Tensor[(2), float32] */;
  %1 = nearbyint(%0) /* ty=Tensor[(2), float32] */;
  %2 = add(%1, 3f /* ty=float32 */) /* ty=Tensor[(2), float32] */;
  %3 = clip(%2, a_min=0f, a_max=255f) /* ty=Tensor[(2), float32] */;
  cast(%3, dtype="uint8") /* ty=Tensor[(2), uint8] */
}
)"},
        // float32 does not hold the bounds of int32.
        Rewrite{"QuantizeToInt32",
                "def @main(%x: Tensor[(2), float32]) { qnn.quantize(%x, 0.5f, 0, "
                "out_dtype=\"int32\") }",
                R"(def @main(%x: Tensor[(2), float32]) -> Tensor[(2), int32] {
  %0 = divide(%x, 0.5f /* ty=float32 */) /* ty=Tensor[(2), float32] */;
  %1 = nearbyint(%0) /* ty=Tensor[(2), float32] */;
  %2 = cast(%1, dtype="float64") /* ty=Tensor[(2), float64] */;
  %3 = clip(%2, a_min=-2147483648f, a_max=2147483647f) /* ty=Tensor[(2), float64] */;
  cast(%3, dtype="int32") /* ty=Tensor[(2), int32] */
}
)"},
        Rewrite{
            "DequantizeByChannel",
            "def @main(%x: Tensor[(2, 3, 5), int8], %s: Tensor[(3), float32], %z: Tensor[(3), "
            "int32]) { qnn.dequantize(%x, %s, %z, axis=1) }",
            R"(def @main(%x: Tensor[(2, 3, 5), int8], %s: Tensor[(3), float32], %z: Tensor[(3), int32]) -> Tensor[(2, 3, 5), float32] {
  %0 = cast(%x, dtype="int32") /* ty=Tensor[(2, 3, 5), int32] */;
  %1 = expand_dims(%z, axis=1) /* ty=Tensor[(3, 1), int32] */;
  %2 = subtract(%0, %1) /* ty=Tensor[(2, 3, 5), int32] */;
  %3 = cast(%2, dtype="float32") /* ty=Tensor[(2, 3, 5), float32] */;
  %4 = expand_dims(%s, axis=1) /* ty=Tensor[(3, 1), float32] */;
  multiply(%3, %4) /* ty=Tensor[(2, 3, 5), float32] */
}
)"},
        Rewrite{"Requantize",
                "def @main(%x: Tensor[(2), int32]) { qnn.requantize(%x, 0.5f, 0, 2f, 1) }",
                R"(def @main(%x: Tensor[(2), int32]) -> Tensor[(2), int8] {
  %0 = divide(0.5f /* ty=float32 */, 2f /* ty=float32 */) /* ty=float32 */;
  %1 = cast(%x, dtype="float64") /* ty=Tensor[(2), float64] */;
  %2 = cast(%0, dtype="float64") /* ty=float64 */;
  %3 = multiply(%1, %2) /* ty=Tensor[(2), float64] */;
  %4 = add(%3, 1f64 /* ty=float64 */) /* ty=Tensor[(2), float64] */;
  %5 = nearbyint(%4) /* ty=Tensor[(2), float64] */;
  %6 = clip(%5, a_min=-128f, a_max=127f) /* ty=Tensor[(2), float64] */;
  cast(%6, dtype="int8") /* ty=Tensor[(2), int8] */
}
)"},
        Rewrite{"RequantizeToTheSame",
                "def @main(%x: Tensor[(2), int8]) { qnn.requantize(%x, 0.5f, 3, 0.5f, 3) }",
                R"(def @main(%x: Tensor[(2), int8]) -> Tensor[(2), int8] {
  %x
}
)"},
        // Unsigned by signed bytes, which meet as they are.
        Rewrite{
            "ProductOfBytesWithoutZeroPoints",
            "def @main(%x: Tensor[(2, 3), uint8], %w: Tensor[(5, 3), int8]) { qnn.dense(%x, %w, "
            "0, 0, 0.5f, 0.5f, units=5) }",
            R"(def @main(%x: Tensor[(2, 3), uint8], %w: Tensor[(5, 3), int8]) -> Tensor[(2, 5), int32] {
  nn.dense(%x, %w, units=5, out_dtype="int32") /* ty=Tensor[(2, 5), int32] */
}
)"},
        Rewrite{
            "ProductOfSignedBytes",
            "def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(5, 3), int8]) { qnn.dense(%x, %w, "
            "0, 0, 0.5f, 0.5f, units=5) }",
            R"(def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(5, 3), int8]) -> Tensor[(2, 5), int32] {
  %0 = cast(%x, dtype="int16") /* ty=Tensor[(2, 3), int16] */;
  %1 = add(%0, 128i16 /* ty=int16 */) /* ty=Tensor[(2, 3), int16] */;
  %2 = cast(%1, dtype="uint8") /* ty=Tensor[(2, 3), uint8] */;
  %3 = cast(%w, dtype="int32") /* ty=Tensor[(5, 3), int32] */;
  %4 = sum(%3, axis=[1], keepdims=True) /* ty=Tensor[(5, 1), int32] */;
  %5 = reshape(%4, newshape=[-1]) /* ty=Tensor[(5), int32] */;
  %6 = nn.dense(%2, %w, units=5, out_dtype="int32") /* ty=Tensor[(2, 5), int32] */;
  %7 = multiply(128 /* ty=int32 */, %5) /* ty=Tensor[(5), int32] */;
  subtract(%6, %7) /* ty=Tensor[(2, 5), int32] */
}
)"},
        Rewrite{
            "ConvolutionOfBytes",
            "def @main(%x: Tensor[(1, 1, 3, 3), uint8], %w: Tensor[(1, 1, 3, 3), int8]) { "
            "qnn.conv2d(%x, %w, 7, 0, 0.5f, 0.5f, padding=[1, 1, 1, 1], out_dtype=\"int32\") }",
            R"(def @main(%x: Tensor[(1, 1, 3, 3), uint8], %w: Tensor[(1, 1, 3, 3), int8]) -> Tensor[(1, 1, 3, 3), int32] {
  %0 = nn.pad(%x, meta[relay.Constant][0] /* ty=uint8 */, pad_width=[[0, 0], [0, 0], [1, 1], [1, 1]]) /* ty=Tensor[(1, 1, 5, 5), uint8] */;
  %1 = cast(%w, dtype="int32") /* ty=Tensor[(1, 1, 3, 3), int32] */;
  %2 = sum(%1, axis=[0], exclude=True) /* ty=Tensor[(1), int32] */;
  %3 = expand_dims(%2, axis=1, num_newaxis=2) /* ty=Tensor[(1, 1, 1), int32] */;
  %4 = nn.conv2d(%0, %w, padding=[0, 0, 0, 0], out_dtype="int32") /* ty=Tensor[(1, 1, 3, 3), int32] */;
  %5 = multiply(7 /* ty=int32 */, %3) /* ty=Tensor[(1, 1, 1), int32] */;
  subtract(%4, %5) /* ty=Tensor[(1, 1, 3, 3), int32] */
}
)"},
        Rewrite{
            "ConvolutionOfDifferences",
            "def @main(%x: Tensor[(1, 1, 3, 3), uint8], %w: Tensor[(1, 1, 3, 3), int8]) { "
            "qnn.conv2d(%x, %w, 7, 3, 0.5f, 0.5f, padding=[1, 1, 1, 1], out_dtype=\"int32\") }",
            R"(def @main(%x: Tensor[(1, 1, 3, 3), uint8], %w: Tensor[(1, 1, 3, 3), int8]) -> Tensor[(1, 1, 3, 3), int32] {
  %0 = cast(%x, dtype="int16") /* ty=Tensor[(1, 1, 3, 3), int16] */;
  %1 = cast(%w, dtype="int16") /* ty=Tensor[(1, 1, 3, 3), int16] */;
  %2 = subtract(%0, 7i16 /* ty=int16 */) /* ty=Tensor[(1, 1, 3, 3), int16] */;
  %3 = subtract(%1, 3i16 /* ty=int16 */) /* ty=Tensor[(1, 1, 3, 3), int16] */;
  nn.conv2d(%2, %3, padding=[1, 1, 1, 1], out_dtype="int32") /* ty=Tensor[(1, 1, 3, 3), int32] */
}
)"}),
    [](const auto& info) { return info.param.name; });

class CanonicalizeQnnCoversTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(CanonicalizeQnnCoversTest, S001_01_NoQuantisedOperatorIsLeft) {
  const Module typed = Typed(std::string("def @main(%x: Tensor[(2, 3), int8], %y: Tensor[(1, 3), "
                                         "int8]) { ") +
                             GetParam().text + " }");
  const Module canonical = CanonicalizeQnn(typed);
  EXPECT_THAT(Print(canonical), Not(HasSubstr("qnn.")));
  EXPECT_EQ(ir::ToString(canonical.Main().body.checked_type()),
            ir::ToString(typed.Main().body.checked_type()));
  EXPECT_EQ(InferType(canonical), canonical);
}

INSTANTIATE_TEST_SUITE_P(
    Operators, CanonicalizeQnnCoversTest,
    ::testing::Values(
        NamedText{"Add", "qnn.add(%x, %y, 0.5f, 1, 0.25f, 2, 1f, 3)"},
        NamedText{"Subtract", "qnn.subtract(%x, %y, 0.5f, 1, 0.25f, 2, 1f, 3)"},
        NamedText{"Mul", "qnn.mul(%x, %y, 0.5f, 1, 0.25f, 2, 1f, 3)"},
        NamedText{"Concatenate", "qnn.concatenate((%x, %y), (0.5f, 0.25f), (1, 2), 1f, 3)"},
        NamedText{"ConcatenateOfATuple",
                  "let %t = (%x, %y); qnn.concatenate(%t, (0.5f, 0.25f), (1, 2), 1f, 3)"},
        NamedText{"BatchMatmul",
                  "qnn.batch_matmul(expand_dims(%x, axis=0), expand_dims(%y, axis=0), 1, 2, 0.5f, "
                  "0.5f, transpose_b=True)"},
        NamedText{"Dense", "qnn.dense(%x, %y, 1, 2, 0.5f, 0.5f, units=1)"},
        NamedText{"Conv2DTranspose",
                  "qnn.conv2d_transpose(reshape(%x, newshape=[1, 3, 1, 2]), reshape(%y, "
                  "newshape=[1, 3, 1, 1]), 1, 2, 0.5f, 0.5f, kernel_layout=\"OIHW\")"},
        NamedText{"AvgPool2D",
                  "qnn.avg_pool2d(reshape(%x, newshape=[1, 1, 2, 3]), 0.5f, 1, 0.25f, 2, "
                  "pool_size=[2, 2])"},
        NamedText{"AvgPool2DOfTheSameParameters",
                  "qnn.avg_pool2d(reshape(%x, newshape=[1, 1, 2, 3]), 0.5f, 1, 0.5f, 1, "
                  "pool_size=[2, 2])"},
        NamedText{"Abs", "qnn.abs(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"Erf", "qnn.erf(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"Exp", "qnn.exp(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"Hardswish", "qnn.hardswish(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"LeakyRelu", "qnn.leaky_relu(%x, 0.5f, 1, 0.25f, 2, alpha=0.1f)"},
        NamedText{"Log", "qnn.log(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"Rsqrt", "qnn.rsqrt(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"Sigmoid", "qnn.sigmoid(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"Softmax", "qnn.softmax(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"Sqrt", "qnn.sqrt(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"Tanh", "qnn.tanh(%x, 0.5f, 1, 0.25f, 2)"},
        NamedText{"InAChain",
                  "nn.relu(qnn.dequantize(qnn.requantize(%x, 0.5f, 1, 0.25f, 2), "
                  "0.25f, 2))"}),
    [](const auto& info) { return info.param.name; });

class CanonicalizeQnnLeavesTest : public ::testing::TestWithParam<NamedText> {};

TEST_P(CanonicalizeQnnLeavesTest, TheSameNodes) {
  const Module typed = Typed(GetParam().text);
  EXPECT_EQ(CanonicalizeQnn(typed), typed);
}

INSTANTIATE_TEST_SUITE_P(
    NoChange, CanonicalizeQnnLeavesTest,
    ::testing::Values(
        NamedText{"Floats", "def @main(%x: Tensor[(2), float32]) { nn.relu(exp(%x)) }"},
        NamedText{"PlainIntegers",
                  "def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(5, 3), int8]) { nn.dense(%x, "
                  "%w, out_dtype=\"int32\") }"},
        NamedText{"RoundingByHand",
                  "def @main(%x: Tensor[(2), float32]) { "
                  "cast(clip(nearbyint(%x), a_min=0f, a_max=255f), "
                  "dtype=\"uint8\") }"}),
    [](const auto& info) { return info.param.name; });

// Takes the column away at the end: other tests share the registry.
class QnnLegalizationTest : public ::testing::Test {
 protected:
  using Legalize = decltype(QnnLegalization::legalize);
  static void Fill(Legalize legalize) {
    ops::OpRegistry::Global()
        .Definition("qnn.dense")
        .SetColumn(QnnLegalization{std::move(legalize)});
  }
  void TearDown() override {
    Fill([](const ir::CallNode&, const std::vector<ir::Expr>&, const Target&) {
      return ir::Expr();
    });
  }
  const Module typed_ = Typed(
      "def @main(%x: Tensor[(2, 3), int8], %w: Tensor[(5, 3), int8]) { "
      "qnn.dense(%x, %w, 1, 2, 0.5f, 0.5f, units=5) }");
};

// The first round makes a quantised operator, too, which the second one lowers.
TEST_F(QnnLegalizationTest, S001_01_AColumnOfTheOperatorComesFirst) {
  const std::string general = Print(CanonicalizeQnn(typed_));
  std::vector<std::string> asked;
  Fill([&](const ir::CallNode& call, const std::vector<ir::Expr>& args, const Target& target) {
    asked.push_back(ir::ToString(call.args[1].checked_type()));
    EXPECT_EQ(target.cpu, "mine");
    const ir::Expr copy = ops::Negative(ops::Negative(args[0]));
    std::vector<ir::Expr> others = args;
    others[0] = copy;
    return asked.size() > 1 ? ir::Expr() : ir::Call::Make(call.callee, others, call.attrs);
  });
  const Target target{.cpu = "mine"};
  const Module legal = LegalizeQnn(typed_, target);
  EXPECT_THAT(Print(legal), HasSubstr("negative(%x)"));
  EXPECT_THAT(Print(legal), HasSubstr("qnn.dense"));
  asked.clear();
  const Module canonical = CanonicalizeQnn(typed_, target);
  EXPECT_THAT(Print(canonical), HasSubstr("negative(%x)"));
  EXPECT_THAT(Print(canonical), Not(HasSubstr("qnn.")));
  EXPECT_THAT(asked, ::testing::ElementsAre("Tensor[(5, 3), int8]"));
  TearDown();
  EXPECT_EQ(Print(CanonicalizeQnn(typed_)), general);
}

TEST_F(QnnLegalizationTest, AColumnThatChangesTheTypeIsRefusedByName) {
  Fill([](const ir::CallNode&, const std::vector<ir::Expr>& args, const Target&) {
    return args[0];
  });
  const Error error = ErrorOf([&] { LegalizeQnn(typed_, Target()); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(error.notes(), ::testing::Contains("in what QnnLegalization made of qnn.dense"));
}

// Arithmetic would broadcast a parameter of one element, and data of one channel.
TEST(CanonicalizeQnnTest, ParametersUnderAnotherVariableKeepThatExtentsAreEqual) {
  for (const char* call :
       {"qnn.quantize(%x, %s, 0, out_dtype=\"int8\", axis=1)", "qnn.dequantize(%q, %s, 0, axis=1)",
        "qnn.requantize(%q, %s, 0, 0.5f, 0, axis=1)",
        "qnn.add(%q, %q, %s, 0, 0.5f, 0, 0.5f, 0, lhs_axis=1)"}) {
    const Module before =
        Typed(StrCat("def @main(%x: Tensor[(2, n, 3), float32], %q: Tensor[(2, n, 3), int8], "
                     "%s: Tensor[(m), float32]) { ",
                     call, " }"));
    const Module after = CanonicalizeQnn(before);
    EXPECT_THAT(Print(after), HasSubstr("reshape_to_extents(%s, ")) << call;
    EXPECT_EQ(ir::ToString(after.Main().body.checked_type()),
              ir::ToString(before.Main().body.checked_type()));
  }
}

TEST(CanonicalizeQnnTest, FoldConstantLeavesQuantisedOperators) {
  const Module typed = Typed("def @main() { qnn.quantize(0.5f, 0.25f, 3, out_dtype=\"int8\") }");
  const auto fail = [](const ir::CallNode&, ops::FoldingBudget*) -> std::vector<NDArray> {
    ADD_FAILURE() << "a quantised operator is evaluated";
    return {};
  };
  EXPECT_EQ(FoldConstant(typed, fail), typed);
}

TEST(CanonicalizeQnnTest, StandsInThePipelineAtEveryLevelBeforeFusion) {
  const Pipeline pipeline = DefaultPipeline(nullptr, 0);
  std::size_t canonicalize = pipeline.size();
  std::size_t fuse = 0;
  for (std::size_t i = 0; i < pipeline.size(); ++i) {
    if (pipeline[i].name == "CanonicalizeQnn") canonicalize = i;
    if (pipeline[i].name == "FuseOps") fuse = i;
  }
  ASSERT_LT(canonicalize, fuse);
  EXPECT_EQ(pipeline[canonicalize].min_opt_level, 0);
}

}  // namespace
}  // namespace tenon::passes
