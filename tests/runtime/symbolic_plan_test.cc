#include "tenon/runtime/symbolic_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/runtime/verify_plan.h"
#include "tenon/support/error.h"
#include "tenon/tests/runtime/symbolic_example.h"

namespace tenon::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Refusal(const SymbolicPlan& plan, std::int64_t n) {
  try {
    plan.At({{"n", n}});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    return std::string(error.message());
  }
  return "";
}

TEST(SymbolicPlanTest, NumbersTakeThePlaceOfExpressions) {
  const SymbolicPlan symbolic(SymbolicExample());
  const PlanAtValues at = symbolic.At({{"n", 7}});
  const Plan& plan = at.plan;
  EXPECT_THAT(plan.symbols, IsEmpty());
  EXPECT_THAT(plan.conditions, IsEmpty());
  EXPECT_EQ(plan.nodes[0].outputs[0].shape, Shape({7, 4}));
  EXPECT_EQ(plan.nodes[2].outputs[0].shape, Shape({8, 4}));
  EXPECT_EQ(plan.nodes[4].outputs[0].shape, Shape({8, 4}));
  EXPECT_THAT(plan.nodes[3].offsets, ElementsAre(112));
  EXPECT_EQ(plan.entry({1, 1}).offset, 112);
  EXPECT_EQ(plan.entry({3, 0}).offset, 112);
  ASSERT_EQ(at.kernels.size(), 2);
  EXPECT_EQ(at.kernels[0].kernel, 0);
  EXPECT_THAT(at.kernels[0].extents, ElementsAre(7));
  EXPECT_THAT(at.kernels[1].extents, ElementsAre(8));
  EXPECT_EQ(plan.nodes[1].kernel, 0);
  EXPECT_EQ(plan.nodes[4].kernel, 1);
  for (const Node& node : plan.nodes) {
    EXPECT_THAT(node.begins, IsEmpty());
    EXPECT_THAT(node.arguments, IsEmpty());
    for (const Entry& output : node.outputs) EXPECT_THAT(output.extents, IsEmpty());
  }
  VerifyPlan(plan, at.kernels.size(), 0);
}

TEST(SymbolicPlanTest, StoragesAreAsLargeAsTheirLargestValue) {
  const SymbolicPlan symbolic(SymbolicExample());
  for (const std::int64_t n : {1, 3, 64}) {
    Plan plan = symbolic.At({{"n", n}}).plan;
    const std::vector<std::size_t> bytes = plan.storage_bytes;
    EXPECT_EQ(bytes[static_cast<std::size_t>(plan.entry({2, 0}).storage_id)], (n + 1) * 16);
    AssignStorage(&plan);
    EXPECT_EQ(plan.storage_bytes, bytes);
  }
}

TEST(SymbolicPlanTest, ValuesThatBreakAConditionAreRefusedInWords) {
  const SymbolicPlan plan(SymbolicExample());
  EXPECT_TRUE(plan.Takes({{"n", 64}}));
  EXPECT_EQ(Refusal(plan, 64), "");
  EXPECT_FALSE(plan.Takes({{"n", 65}}));
  EXPECT_EQ(Refusal(plan, 65), "the model needs n <= 64, for topk; here n = 65");
}

TEST(SymbolicPlanTest, ValuesThatOverflowAreRefused) {
  Plan example = SymbolicExample();
  example.conditions.clear();
  const SymbolicPlan plan(std::move(example));
  EXPECT_FALSE(plan.Takes({{"n", std::int64_t{1} << 62}}));
  EXPECT_THAT(Refusal(plan, std::int64_t{1} << 62), HasSubstr("does not fit 64 bits where n = "));
}

TEST(SymbolicPlanTest, NegativeExtentsAreRefused) {
  Plan example = SymbolicExample();
  example.nodes[4].outputs[0].extents[0] = Dim::Symbol("n") - 2;
  const SymbolicPlan plan(std::move(example));
  EXPECT_EQ(Refusal(plan, 2), "");
  EXPECT_EQ(Refusal(plan, 1), "the extent n - 2 of both1 is -1 where n = 1");
}

TEST(SymbolicPlanTest, AVariableThatIsNoSymbolIsRefused) {
  Plan example = SymbolicExample();
  example.nodes[4].arguments = {Dim::Symbol("m")};
  EXPECT_THROW(SymbolicPlan{std::move(example)}, Error);
}

// As much memory as the file has is all that there is.
TEST(SymbolicPlanTest, AConstantHasNoVariableInItsShape) {
  Plan plan = SymbolicExample();
  plan.nodes.push_back({.kind = NodeKind::kConstant,
                        .name = "p0",
                        .constant = 0,
                        .inputs = {},
                        .outputs = {{.shape = {3}, .dtype = Float32}}});
  VerifyPlan(plan, 1, 1);
  plan.nodes.back().outputs[0].extents = {Dim::Symbol("n")};
  EXPECT_THAT([&] { VerifyPlan(plan, 1, 1); },
              ::testing::ThrowsMessage<Error>(
                  HasSubstr("node 5 (p0): is a constant with a variable in its shape")));
}

TEST(SymbolicPlanTest, GraphJsonShowsExpressions) {
  EXPECT_THAT(ToGraphJson(SymbolicExample()), HasSubstr("\"n + 1\""));
}

}  // namespace
}  // namespace tenon::runtime
