#include "tenon/passes/inline.h"

#include <gtest/gtest.h>

#include "tenon/ir/structural.h"
#include "tenon/ir/text_format.h"
#include "tenon/ir/verify.h"
#include "tenon/ops/registry.h"

namespace tenon::passes {
namespace {

ir::Module Parse(const std::string& text) {
  return ir::ParseModule(text, ops::OpRegistry::Global().Resolver()).value();
}

struct Case {
  const char* rule;
  const char* before;
  const char* after;
};

class InlineTest : public testing::TestWithParam<Case> {};

TEST_P(InlineTest, GivesTheExpectedModule) {
  const ir::Module inlined = Inline(Parse(GetParam().before));
  ir::VerifyModule(inlined);
  EXPECT_TRUE(ir::StructuralEqual(inlined, Parse(GetParam().after))) << ir::PrintModule(inlined);
}

constexpr Case kCases[] = {
    {"S001_13_14_MarkedOnly",
     "def @g1(%x1: Tensor[(1, 10), float32], Inline=1) { %x1 }\n"
     "def @g2(%x2: Tensor[(1, 10), float32]) { %x2 }\n"
     "def @main(%p0: Tensor[(1, 10), float32]) { %0 = @g1(%p0); %1 = @g2(%p0); add(%0, %1) }",
     "def @g2(%x2: Tensor[(1, 10), float32]) { %x2 }\n"
     "def @main(%p0: Tensor[(1, 10), float32]) { %0 = @g2(%p0); add(%p0, %0) }"},
    {"AChainOfMarkedFunctions",
     "def @a(%x: Tensor[(2), float32], Inline=1) { exp(%x) }\n"
     "def @b(%x: Tensor[(2), float32], Inline=1) { tanh(@a(%x)) }\n"
     "def @main(%x: Tensor[(2), float32]) { @b(@b(%x)) }",
     "def @main(%x: Tensor[(2), float32]) { tanh(exp(tanh(exp(%x)))) }"},
    {"S001_12_NotARecursiveFunction",
     "def @a(%x: Tensor[(2), float32], Inline=1) { @a(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @a(%x) }",
     "def @a(%x: Tensor[(2), float32], Inline=1) { @a(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @a(%x) }"},
    {"S001_12_NotACallerOfAnUnmarkedFunction",
     "def @a(%x: Tensor[(2), float32]) { exp(%x) }\n"
     "def @b(%x: Tensor[(2), float32], Inline=1) { @a(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @b(%x) }",
     "def @a(%x: Tensor[(2), float32]) { exp(%x) }\n"
     "def @b(%x: Tensor[(2), float32], Inline=1) { @a(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @b(%x) }"},
    {"NotAFunctionWithoutTheMark",
     "def @a(%x: Tensor[(2), float32], Inline=0) { exp(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @a(%x) }",
     "def @a(%x: Tensor[(2), float32], Inline=0) { exp(%x) }\n"
     "def @main(%x: Tensor[(2), float32]) { @a(%x) }"},
};
INSTANTIATE_TEST_SUITE_P(Rules, InlineTest, testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.rule; });

TEST(InlineAllTest, EveryUseHasVariablesOfItsOwn) {
  const ir::Module inlined =
      Inline(Parse("def @a(%x: Tensor[(2), float32]) { let %y = exp(%x); add(%y, %y) }\n"
                   "def @main(%x: Tensor[(2), float32]) { add(@a(%x), @a(tanh(%x))) }"),
             InlineRule::kAll);
  ir::VerifyModule(inlined);
  EXPECT_EQ(inlined.functions().size(), 1U);
}

}  // namespace
}  // namespace tenon::passes
