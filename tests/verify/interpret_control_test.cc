// The interpreter of modules with control flow, and random modules that have it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/relay_text.h"
#include "tenon/verify/draw/add_control_flow.h"
#include "tenon/verify/interpret.h"

namespace tenon::verify {
namespace {

using ::testing::HasSubstr;

std::int64_t Integer(const ir::Module& module, std::int64_t n) {
  return *Interpret(module, {NDArray::Scalar(n)}).at(0).data<std::int64_t>();
}

TEST(InterpretTest, ATailCallTakesNoDepth) {
  const ir::Module module = passes::InferType(Parse(R"(
def @count(%i: int64, %n: int64) -> int64 {
  if (less(%i, %n)) { @count(add(%i, 1i64), %n) } else { %i }
}
def @main(%n: int64) { @count(0i64, %n) })"));
  for (const std::int64_t n : {0, 1, 3000}) EXPECT_EQ(Integer(module, n), n);
}

TEST(InterpretTest, AMarkOfADeviceMayHoldATuple) {
  const ir::Module module = passes::InferType(Parse(R"(
def @main(%n: int64) {
  %0 = on_device((add(%n, 1i64), %n), virtual_device="cpu:1");
  subtract(multiply(%0.0, %0.0), %0.1)
})"));
  EXPECT_EQ(Integer(module, 4), 21);
}

TEST(InterpretTest, OtherCallsHaveALimit) {
  const ir::Module module = passes::InferType(Parse(R"(
def @count(%n: int64) -> int64 {
  if (equal(%n, 0i64)) { 0i64 } else { add(1i64, @count(subtract(%n, 1i64))) }
}
def @main(%n: int64) { @count(%n) })"));
  EXPECT_EQ(Integer(module, 400), 400);
  EXPECT_THAT(ErrorOf([&] { Integer(module, 100000); }).message(),
              HasSubstr("functions call each other more than 500 deep"));
}

TEST(AddControlFlowTest, ModulesGetIfsAndLoopsAndKeepTheirResults) {
  int ifs = 0, loops = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomModule given = MakeRandomModule(seed);
    Random random(seed);
    const RandomModule made = AddControlFlow(given, random);
    for (const auto& [name, function] : made.module.functions()) {
      ir::VisitPostOrder(function,
                         [&](const ir::Expr& e) { ifs += e.kind() == ir::ExprKind::kIf ? 1 : 0; });
    }
    loops += made.module.functions().size() > 1 ? 1 : 0;
    const std::vector<NDArray> expected = Interpret(given.module, given.inputs);
    const std::vector<NDArray> results = Interpret(made.module, made.inputs);
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i)
      EXPECT_TRUE(results[i].SameBytes(expected[i])) << Print(made.module);
  }
  EXPECT_GT(ifs, 30);
  EXPECT_GT(loops, 5);
}

}  // namespace
}  // namespace tenon::verify
