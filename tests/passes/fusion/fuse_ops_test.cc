// Which operator calls share a kernel, as text before and after.
#include <ostream>

#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/passes/facts.h"
#include "tenon/tests/passes/fused.h"

namespace tenon::passes {
namespace {

using ir::Module;

constexpr char kVersion[] = "#[version = \"0.0.5\"]\n";

struct Case {
  const char* name;
  const char* before;
  const char* after;
  friend void PrintTo(const Case& t, std::ostream* out) { *out << t.name; }
};
std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

class FuseOpsTest : public ::testing::TestWithParam<Case> {};

TEST_P(FuseOpsTest, MakesTheKernels) {
  EXPECT_EQ(Print(Fused(GetParam().before)), kVersion + std::string(GetParam().after));
}

// Whatever level a later run has, kernels that exist stay as they are.
TEST_P(FuseOpsTest, AgainChangesNothing) {
  const Module once = Fused(GetParam().before);
  EXPECT_EQ(FuseOps(once), once);
  EXPECT_EQ(FuseOps(once, {.group = false}), once);
}

TEST_P(FuseOpsTest, KeepsCheckedTypes) {
  const Module once = Fused(GetParam().before);
  EXPECT_EQ(InferType(once), once);
}

// The attribute stands after the parameters and the text reads back.
TEST_P(FuseOpsTest, TextReadsBack) {
  const std::string text = Print(Fused(GetParam().before));
  EXPECT_EQ(Print(InferType(Parse(text))), text);
}

TEST(FuseOpsTextTest, ReferencesStayOutsideOfKernels) {
  const Module fused = Fused(
      "def @main(%x: Tensor[(2), float32]) { let %r = ref(%x); let %b = ref_read(%r); "
      "let %w = ref_write(%r, multiply(%b, %b)); ref_read(%r) }");
  EXPECT_NE(Print(fused).find("Primitive=1"), std::string::npos);
  EXPECT_TRUE(Holds(Fact::kFused, fused));
}

TEST(FuseOpsTextTest, TuplesAndProjectionsAloneMakeNoKernel) {
  const Module fused = Fused(R"(def @main(%x: Tensor[(4), float32]) {
  %0 = topk(%x, k=2);
  %1 = (%0.1, %0.0);
  (sin(%x), %1.1)
})");
  EXPECT_EQ(Kernels(fused).size(), 2U);
  EXPECT_EQ(Print(fused).find("Primitive=0"), std::string::npos) << Print(fused);
}

TEST(FuseOpsTextTest, S001_22_TheChainPrintsBeforeFusion) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({10, 20}, Float32));
  ir::Expr y = x;
  for (int i = 0; i < 5; ++i) y = ops::Add(y, y);
  const std::string text = Print(Module::FromExpr(ops::Exp(y)));
  EXPECT_EQ(text.substr(text.find("def")),
            "def @main(%x: Tensor[(10, 20), float32]) {\n  %0 = add(%x, %x);\n"
            "  %1 = add(%0, %0);\n  %2 = add(%1, %1);\n  %3 = add(%2, %2);\n"
            "  %4 = add(%3, %3);\n  exp(%4)\n}\n");
}

INSTANTIATE_TEST_SUITE_P(
    Change, FuseOpsTest,
    ::testing::Values(
        // A chain is one kernel; numbers go on after the literal.
        Case{"S001_22_S001_32_ChainOfElementwiseWorkIsOneKernel",
             R"(def @main(%x: Tensor[(10, 20), float32]) {
  %0 = add(%x, %x);
  %1 = add(%0, %0);
  %2 = add(%1, %1);
  %3 = add(%2, %2);
  %4 = add(%3, %3);
  exp(%4)
})",
             R"(def @main(%x: Tensor[(10, 20), float32]) -> Tensor[(10, 20), float32] {
  %5 = fn (%p0: Tensor[(10, 20), float32], Primitive=1) -> Tensor[(10, 20), float32] {
    %0 = add(%p0, %p0) /* ty=Tensor[(10, 20), float32] */;
    %1 = add(%0, %0) /* ty=Tensor[(10, 20), float32] */;
    %2 = add(%1, %1) /* ty=Tensor[(10, 20), float32] */;
    %3 = add(%2, %2) /* ty=Tensor[(10, 20), float32] */;
    %4 = add(%3, %3) /* ty=Tensor[(10, 20), float32] */;
    exp(%4) /* ty=Tensor[(10, 20), float32] */
  };
  %5(%x) /* ty=Tensor[(10, 20), float32] */
}
)"},
        // The last addition iterates 20, not 20 x 20.
        Case{"S001_36_S001_37_ReductionTakesItsProducersAndNothingAfterIt",
             R"(def @main(%x: Tensor[(20, 20), float32]) {
  %0 = add(%x, %x);
  %1 = add(%0, %0);
  %2 = sum(%1, axis=[-1]);
  add(%2, %2)
})",
             R"(def @main(%x: Tensor[(20, 20), float32]) -> Tensor[(20), float32] {
  %2 = fn (%p01: Tensor[(20, 20), float32], Primitive=1) -> Tensor[(20), float32] {
    %0 = add(%p01, %p01) /* ty=Tensor[(20, 20), float32] */;
    %1 = add(%0, %0) /* ty=Tensor[(20, 20), float32] */;
    sum(%1, axis=[-1]) /* ty=Tensor[(20), float32] */
  };
  %3 = %2(%x) /* ty=Tensor[(20), float32] */;
  %4 = fn (%p0: Tensor[(20), float32], Primitive=1) -> Tensor[(20), float32] {
    add(%p0, %p0) /* ty=Tensor[(20), float32] */
  };
  %4(%3) /* ty=Tensor[(20), float32] */
}
)"},
        Case{
            "WorkBeforeAConvolutionIsApart",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.relu(%x);
  nn.conv2d(%0, %w, padding=[1, 1, 1, 1])
})",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) -> Tensor[(1, 4, 8, 8), float32] {
  %0 = fn (%p01: Tensor[(1, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    nn.relu(%p01) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %1 = %0(%x) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  %2 = fn (%p0: Tensor[(1, 4, 8, 8), float32], %p1: Tensor[(4, 4, 3, 3), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    nn.conv2d(%p0, %p1, padding=[1, 1, 1, 1]) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %2(%1, %w) /* ty=Tensor[(1, 4, 8, 8), float32] */
}
)"},
        Case{
            "BothUsesThatMeetAgainJoinTheConvolution",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  %2 = tanh(%0);
  add(%1, %2)
})",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) -> Tensor[(1, 4, 8, 8), float32] {
  %3 = fn (%p0: Tensor[(1, 4, 8, 8), float32], %p1: Tensor[(4, 4, 3, 3), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    %0 = nn.conv2d(%p0, %p1, padding=[1, 1, 1, 1]) /* ty=Tensor[(1, 4, 8, 8), float32] */;
    %1 = nn.relu(%0) /* ty=Tensor[(1, 4, 8, 8), float32] */;
    %2 = tanh(%0) /* ty=Tensor[(1, 4, 8, 8), float32] */;
    add(%1, %2) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %3(%x, %w) /* ty=Tensor[(1, 4, 8, 8), float32] */
}
)"},
        Case{
            "UsesThatMeetInATupleStayApart",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  %2 = tanh(%0);
  (%1, %2)
})",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) -> (Tensor[(1, 4, 8, 8), float32], Tensor[(1, 4, 8, 8), float32]) {
  %0 = fn (%p01: Tensor[(1, 4, 8, 8), float32], %p1: Tensor[(4, 4, 3, 3), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    nn.conv2d(%p01, %p1, padding=[1, 1, 1, 1]) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %1 = %0(%x, %w) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  %2 = fn (%p0: Tensor[(1, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    nn.relu(%p0) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %3 = fn (%p02: Tensor[(1, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    tanh(%p02) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %4 = %2(%1) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  %5 = %3(%1) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  (%4, %5)
}
)"},
        Case{
            "OnlyOneConvolutionJoinsAnAddition",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %v: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%x);
  %2 = nn.conv2d(%1, %v, padding=[1, 1, 1, 1]);
  add(%0, %2)
})",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %v: Tensor[(4, 4, 3, 3), float32]) -> Tensor[(1, 4, 8, 8), float32] {
  %1 = fn (%p02: Tensor[(1, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    nn.relu(%p02) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %2 = %1(%x) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  %3 = fn (%p01: Tensor[(1, 4, 8, 8), float32], %p11: Tensor[(4, 4, 3, 3), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    nn.conv2d(%p01, %p11, padding=[1, 1, 1, 1]) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %4 = %3(%2, %v) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  %5 = fn (%p0: Tensor[(1, 4, 8, 8), float32], %p1: Tensor[(4, 4, 3, 3), float32], %p2: Tensor[(1, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    %0 = nn.conv2d(%p0, %p1, padding=[1, 1, 1, 1]) /* ty=Tensor[(1, 4, 8, 8), float32] */;
    add(%0, %p2) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %5(%x, %w, %4) /* ty=Tensor[(1, 4, 8, 8), float32] */
}
)"},
        Case{"WorkAfterSoftmaxJoinsIt", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = nn.softmax(%x);
  exp(%0)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  %1 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    %0 = nn.softmax(%p0) /* ty=Tensor[(4, 8), float32] */;
    exp(%0) /* ty=Tensor[(4, 8), float32] */
  };
  %1(%x) /* ty=Tensor[(4, 8), float32] */
}
)"},
        Case{"InjectiveWorkJoinsElementwiseWorkOnBothSides",
             R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = nn.relu(%x);
  %1 = transpose(%0, axes=[1, 0]);
  nn.relu(%1)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(8, 4), float32] {
  %2 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(8, 4), float32] {
    %0 = nn.relu(%p0) /* ty=Tensor[(4, 8), float32] */;
    %1 = transpose(%0, axes=[1, 0]) /* ty=Tensor[(8, 4), float32] */;
    nn.relu(%1) /* ty=Tensor[(8, 4), float32] */
  };
  %2(%x) /* ty=Tensor[(8, 4), float32] */
}
)"},
        Case{
            "TransposeAfterAConvolutionIsApart",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.relu(%0);
  transpose(%1, axes=[0, 2, 3, 1])
})",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32]) -> Tensor[(1, 8, 8, 4), float32] {
  %1 = fn (%p01: Tensor[(1, 4, 8, 8), float32], %p1: Tensor[(4, 4, 3, 3), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    %0 = nn.conv2d(%p01, %p1, padding=[1, 1, 1, 1]) /* ty=Tensor[(1, 4, 8, 8), float32] */;
    nn.relu(%0) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %2 = %1(%x, %w) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  %3 = fn (%p0: Tensor[(1, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 8, 8, 4), float32] {
    transpose(%p0, axes=[0, 2, 3, 1]) /* ty=Tensor[(1, 8, 8, 4), float32] */
  };
  %3(%2) /* ty=Tensor[(1, 8, 8, 4), float32] */
}
)"},
        // The third sweep fuses the fields of tuples.
        Case{"FieldsOfAConcatenateJoinIt", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = nn.relu(%x);
  %1 = tanh(%x);
  %2 = (%0, %1);
  concatenate(%2, axis=1)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 16), float32] {
  %3 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 16), float32] {
    %0 = nn.relu(%p0) /* ty=Tensor[(4, 8), float32] */;
    %1 = tanh(%p0) /* ty=Tensor[(4, 8), float32] */;
    %2 = (%0, %1);
    concatenate(%2, axis=1) /* ty=Tensor[(4, 16), float32] */
  };
  %3(%x) /* ty=Tensor[(4, 16), float32] */
}
)"},
        Case{"PoolStaysOutOfAConcatenate", R"(def @main(%x: Tensor[(1, 4, 8, 8), float32]) {
  %0 = nn.max_pool2d(%x, pool_size=[3, 3], padding=[1, 1, 1, 1]);
  %1 = tanh(%x);
  %2 = (%0, %1);
  %3 = concatenate(%2, axis=1);
  nn.relu(%3)
})",
             R"(def @main(%x: Tensor[(1, 4, 8, 8), float32]) -> Tensor[(1, 8, 8, 8), float32] {
  %3 = fn (%p01: Tensor[(1, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    nn.max_pool2d(%p01, pool_size=[3, 3], padding=[1, 1, 1, 1]) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %4 = %3(%x) /* ty=Tensor[(1, 4, 8, 8), float32] */;
  %5 = fn (%p0: Tensor[(1, 4, 8, 8), float32], %p1: Tensor[(1, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 8, 8, 8), float32] {
    %0 = tanh(%p1) /* ty=Tensor[(1, 4, 8, 8), float32] */;
    %1 = (%p0, %0);
    %2 = concatenate(%1, axis=1) /* ty=Tensor[(1, 8, 8, 8), float32] */;
    nn.relu(%2) /* ty=Tensor[(1, 8, 8, 8), float32] */
  };
  %5(%4, %x) /* ty=Tensor[(1, 8, 8, 8), float32] */
}
)"},
        Case{"NothingFollowsAReduction", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = exp(%x);
  %1 = sum(%0, axis=[1]);
  exp(%1)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4), float32] {
  %1 = fn (%p01: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4), float32] {
    %0 = exp(%p01) /* ty=Tensor[(4, 8), float32] */;
    sum(%0, axis=[1]) /* ty=Tensor[(4), float32] */
  };
  %2 = %1(%x) /* ty=Tensor[(4), float32] */;
  %3 = fn (%p0: Tensor[(4), float32], Primitive=1) -> Tensor[(4), float32] {
    exp(%p0) /* ty=Tensor[(4), float32] */
  };
  %3(%2) /* ty=Tensor[(4), float32] */
}
)"},
        // a broadcast bias and an activation.
        Case{
            "BiasAndActivationJoinTheConvolution",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %b: Tensor[(4), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1]);
  %1 = nn.bias_add(%0, %b);
  nn.relu(%1)
})",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 3, 3), float32], %b: Tensor[(4), float32]) -> Tensor[(1, 4, 8, 8), float32] {
  %2 = fn (%p0: Tensor[(1, 4, 8, 8), float32], %p1: Tensor[(4, 4, 3, 3), float32], %p2: Tensor[(4), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    %0 = nn.conv2d(%p0, %p1, padding=[1, 1, 1, 1]) /* ty=Tensor[(1, 4, 8, 8), float32] */;
    %1 = nn.bias_add(%0, %p2) /* ty=Tensor[(1, 4, 8, 8), float32] */;
    nn.relu(%1) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %2(%x, %w, %b) /* ty=Tensor[(1, 4, 8, 8), float32] */
}
)"},
        // the edge is Broadcast, not ElemWise.
        Case{
            "ConvolutionThatIsBroadcastUpStaysApart",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 8, 8), float32], %y: Tensor[(1, 4, 8, 8), float32]) {
  %0 = nn.conv2d(%x, %w);
  add(%0, %y)
})",
            R"(def @main(%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(4, 4, 8, 8), float32], %y: Tensor[(1, 4, 8, 8), float32]) -> Tensor[(1, 4, 8, 8), float32] {
  %0 = fn (%p01: Tensor[(1, 4, 8, 8), float32], %p11: Tensor[(4, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 4, 1, 1), float32] {
    nn.conv2d(%p01, %p11) /* ty=Tensor[(1, 4, 1, 1), float32] */
  };
  %1 = %0(%x, %w) /* ty=Tensor[(1, 4, 1, 1), float32] */;
  %2 = fn (%p0: Tensor[(1, 4, 1, 1), float32], %p1: Tensor[(1, 4, 8, 8), float32], Primitive=1) -> Tensor[(1, 4, 8, 8), float32] {
    add(%p0, %p1) /* ty=Tensor[(1, 4, 8, 8), float32] */
  };
  %2(%1, %y) /* ty=Tensor[(1, 4, 8, 8), float32] */
}
)"},
        // projections of a split.
        Case{"ProjectionsJoinASplit", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = split(%x, indices_or_sections=2, axis=1);
  %1 = %0.0;
  %2 = %0.1;
  add(%1, %2)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 4), float32] {
  %3 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 4), float32] {
    %0 = split(%p0, indices_or_sections=2, axis=1) /* ty=(Tensor[(4, 4), float32], Tensor[(4, 4), float32]) */;
    %1 = %0.0;
    %2 = %0.1;
    add(%1, %2) /* ty=Tensor[(4, 4), float32] */
  };
  %3(%x) /* ty=Tensor[(4, 4), float32] */
}
)"},
        // a projection can be what leaves the group.
        Case{"ProjectionIsTheResultOfAKernel", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = split(%x, indices_or_sections=2, axis=1);
  %0.1
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 4), float32] {
  %1 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 4), float32] {
    %0 = split(%p0, indices_or_sections=2, axis=1) /* ty=(Tensor[(4, 4), float32], Tensor[(4, 4), float32]) */;
    %0.1
  };
  %1(%x) /* ty=Tensor[(4, 4), float32] */
}
)"},
        // tuple-typed inputs.
        Case{
            "TupleInputStaysOneParameter",
            R"(def @main(%t: (Tensor[(4, 8), float32], Tensor[(4, 8), float32])) {
  concatenate(%t)
})",
            R"(def @main(%t: (Tensor[(4, 8), float32], Tensor[(4, 8), float32])) -> Tensor[(8, 8), float32] {
  %0 = fn (%p0: (Tensor[(4, 8), float32], Tensor[(4, 8), float32]), Primitive=1) -> Tensor[(8, 8), float32] {
    concatenate(%p0) /* ty=Tensor[(8, 8), float32] */
  };
  %0(%t) /* ty=Tensor[(8, 8), float32] */
}
)"},
        // an isolated projection of another group's tuple.
        Case{"ProjectionOfANestedTupleIsNotWrapped", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = exp(%x);
  %1 = (%0, %x);
  %2 = (%1, %0);
  %3 = %2.0;
  %4 = %3.0;
  exp(%4)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  %1 = fn (%p01: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    exp(%p01) /* ty=Tensor[(4, 8), float32] */
  };
  %2 = %1(%x) /* ty=Tensor[(4, 8), float32] */;
  %3 = (%2, %x);
  %4 = (%3, %2);
  %5 = %4.0;
  %6 = fn (%p0: (Tensor[(4, 8), float32], Tensor[(4, 8), float32]), Primitive=1) -> Tensor[(4, 8), float32] {
    %0 = %p0.0;
    exp(%0) /* ty=Tensor[(4, 8), float32] */
  };
  %6(%5) /* ty=Tensor[(4, 8), float32] */
}
)"},
        // a projection joins what follows, not what makes the tuple.
        Case{
            "ProjectionOfBatchNormJoinsItsUse",
            R"(def @main(%x: Tensor[(4, 8), float32], %g: Tensor[(8), float32], %b: Tensor[(8), float32], %m: Tensor[(8), float32], %v: Tensor[(8), float32]) {
  %0 = nn.batch_norm(%x, %g, %b, %m, %v);
  nn.relu(%0.0)
})",
            R"(def @main(%x: Tensor[(4, 8), float32], %g: Tensor[(8), float32], %b: Tensor[(8), float32], %m: Tensor[(8), float32], %v: Tensor[(8), float32]) -> Tensor[(4, 8), float32] {
  %1 = fn (%p01: Tensor[(4, 8), float32], %p1: Tensor[(8), float32], %p2: Tensor[(8), float32], %p3: Tensor[(8), float32], %p4: Tensor[(8), float32], Primitive=1) -> (Tensor[(4, 8), float32], Tensor[(8), float32], Tensor[(8), float32]) {
    nn.batch_norm(%p01, %p1, %p2, %p3, %p4) /* ty=(Tensor[(4, 8), float32], Tensor[(8), float32], Tensor[(8), float32]) */
  };
  %2 = %1(%x, %g, %b, %m, %v) /* ty=(Tensor[(4, 8), float32], Tensor[(8), float32], Tensor[(8), float32]) */;
  %3 = fn (%p0: (Tensor[(4, 8), float32], Tensor[(8), float32], Tensor[(8), float32]), Primitive=1) -> Tensor[(4, 8), float32] {
    %0 = %p0.0;
    nn.relu(%0) /* ty=Tensor[(4, 8), float32] */
  };
  %3(%2) /* ty=Tensor[(4, 8), float32] */
}
)"},
        // Opaque on both sides.
        Case{"OpaqueOperatorIsAKernelOfItsOwn", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = exp(%x);
  %1 = nn.dropout(%0);
  exp(%1.0)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  %1 = fn (%p02: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    exp(%p02) /* ty=Tensor[(4, 8), float32] */
  };
  %2 = %1(%x) /* ty=Tensor[(4, 8), float32] */;
  %3 = fn (%p01: Tensor[(4, 8), float32], Primitive=1) -> (Tensor[(4, 8), float32], Tensor[(4, 8), float32]) {
    nn.dropout(%p01) /* ty=(Tensor[(4, 8), float32], Tensor[(4, 8), float32]) */
  };
  %4 = %3(%2) /* ty=(Tensor[(4, 8), float32], Tensor[(4, 8), float32]) */;
  %5 = fn (%p0: (Tensor[(4, 8), float32], Tensor[(4, 8), float32]), Primitive=1) -> Tensor[(4, 8), float32] {
    %0 = %p0.0;
    exp(%0) /* ty=Tensor[(4, 8), float32] */
  };
  %5(%4) /* ty=Tensor[(4, 8), float32] */
}
)"},
        // relay.reshape_only.
        Case{"ReshapesAloneAreMarked", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = reshape(%x, newshape=[32]);
  expand_dims(%0, axis=0)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(1, 32), float32] {
  %1 = fn (%p0: Tensor[(4, 8), float32], Primitive=1, relay.reshape_only=1) -> Tensor[(1, 32), float32] {
    %0 = reshape(%p0, newshape=[32]) /* ty=Tensor[(32), float32] */;
    expand_dims(%0, axis=0) /* ty=Tensor[(1, 32), float32] */
  };
  %1(%x) /* ty=Tensor[(1, 32), float32] */
}
)"},
        // the marker disappears.
        Case{"StopFusionSeparatesAndVanishes", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = exp(%x);
  %1 = annotation.stop_fusion(%0);
  exp(%1)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  %0 = fn (%p01: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    exp(%p01) /* ty=Tensor[(4, 8), float32] */
  };
  %1 = %0(%x) /* ty=Tensor[(4, 8), float32] */;
  %2 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    exp(%p0) /* ty=Tensor[(4, 8), float32] */
  };
  %2(%1) /* ty=Tensor[(4, 8), float32] */
}
)"},
        // a let binds what must exist.
        Case{"LetSeparates", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = exp(%x);
  let %y = exp(%0);
  %1 = exp(%y);
  exp(%1)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  %1 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    %0 = exp(%p0) /* ty=Tensor[(4, 8), float32] */;
    exp(%0) /* ty=Tensor[(4, 8), float32] */
  };
  let %y: Tensor[(4, 8), float32] = %1(%x) /* ty=Tensor[(4, 8), float32] */;
  %3 = fn (%p01: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    %2 = exp(%p01) /* ty=Tensor[(4, 8), float32] */;
    exp(%2) /* ty=Tensor[(4, 8), float32] */
  };
  %3(%y) /* ty=Tensor[(4, 8), float32] */
}
)"},
        // rank-0 constants.
        Case{"ScalarConstantStaysInside", R"(def @main(%x: Tensor[(4, 8), float32]) {
  add(%x, 1f)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  %0 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    add(%p0, 1f /* ty=float32 */) /* ty=Tensor[(4, 8), float32] */
  };
  %0(%x) /* ty=Tensor[(4, 8), float32] */
}
)"},
        // function literals that are not primitive are looked into.
        Case{"FunctionLiteralIsFusedInside", R"(def @main(%x: Tensor[(4, 8), float32]) {
  %0 = fn (%y: Tensor[(4, 8), float32]) {
    %1 = exp(%y);
    exp(%1)
  };
  %0(%x)
})",
             R"(def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  %2 = fn (%y: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
    %1 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
      %0 = exp(%p0) /* ty=Tensor[(4, 8), float32] */;
      exp(%0) /* ty=Tensor[(4, 8), float32] */
    };
    %1(%y) /* ty=Tensor[(4, 8), float32] */
  };
  %2(%x) /* ty=Tensor[(4, 8), float32] */
}
)"},
        // each definition for itself.
        Case{"CallOfAGlobalSeparates", R"(def @f(%x: Tensor[(4, 8), float32]) {
  %0 = exp(%x);
  exp(%0)
}

def @main(%x: Tensor[(4, 8), float32]) {
  %0 = exp(%x);
  %1 = @f(%0);
  exp(%1)
})",
             R"(def @f(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  %1 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    %0 = exp(%p0) /* ty=Tensor[(4, 8), float32] */;
    exp(%0) /* ty=Tensor[(4, 8), float32] */
  };
  %1(%x) /* ty=Tensor[(4, 8), float32] */
}

def @main(%x: Tensor[(4, 8), float32]) -> Tensor[(4, 8), float32] {
  %0 = fn (%p01: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    exp(%p01) /* ty=Tensor[(4, 8), float32] */
  };
  %1 = %0(%x) /* ty=Tensor[(4, 8), float32] */;
  %2 = @f(%1) /* ty=Tensor[(4, 8), float32] */;
  %3 = fn (%p0: Tensor[(4, 8), float32], Primitive=1) -> Tensor[(4, 8), float32] {
    exp(%p0) /* ty=Tensor[(4, 8), float32] */
  };
  %3(%2) /* ty=Tensor[(4, 8), float32] */
}
)"}),
    NameOf);

// Without grouping the same operators are one kernel each.
TEST(FuseOpsLevelTest, WithoutGroupingEveryCallIsAKernel) {
  const Module fused = Fused(
      "def @main(%x: Tensor[(10, 20), float32]) { exp(add(add(%x, %x), 1f)) }", {.group = false});
  EXPECT_EQ(Print(fused),
            std::string(kVersion) +
                R"(def @main(%x: Tensor[(10, 20), float32]) -> Tensor[(10, 20), float32] {
  %0 = fn (%p02: Tensor[(10, 20), float32], Primitive=1) -> Tensor[(10, 20), float32] {
    add(%p02, %p02) /* ty=Tensor[(10, 20), float32] */
  };
  %1 = %0(%x) /* ty=Tensor[(10, 20), float32] */;
  %2 = fn (%p01: Tensor[(10, 20), float32], %p1: float32, Primitive=1) -> Tensor[(10, 20), float32] {
    add(%p01, %p1) /* ty=Tensor[(10, 20), float32] */
  };
  %3 = %2(%1, 1f /* ty=float32 */) /* ty=Tensor[(10, 20), float32] */;
  %4 = fn (%p0: Tensor[(10, 20), float32], Primitive=1) -> Tensor[(10, 20), float32] {
    exp(%p0) /* ty=Tensor[(10, 20), float32] */
  };
  %4(%3) /* ty=Tensor[(10, 20), float32] */
}
)");
}

}  // namespace
}  // namespace tenon::passes
