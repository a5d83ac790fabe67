#include "tenon/passes/name_run_time_extents.h"

#include <gtest/gtest.h>

#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/inline.h"

namespace tenon::passes {
namespace {

ir::Module Parse(const std::string& text) {
  return ir::ParseModule(text, ops::OpRegistry::Global().Resolver()).value();
}
std::string Named(const ir::Module& module) {
  return ir::PrintModule(InferType(NameRunTimeExtents(module)));
}

TEST(NameRunTimeExtentsTest, CutsWithoutAVariableGetTheirOwn) {
  EXPECT_EQ(Named(Parse("def @main(%x: Tensor[(9, 4), float32], %n: Tensor[(1), int64]) { "
                        "(exp(take_first(%x, %n)), take_first(%x, %n, axis=1), "
                        "take_first(%x, %n, extent=\"#k\")) }")),
            R"(#[version = "0.0.5"]
def @main(%x: Tensor[(9, 4), float32], %n: Tensor[(1), int64]) -> (Tensor[(#k_1, 4), float32], Tensor[(9, #k_2), float32], Tensor[(#k, 4), float32]) {
  %0 = take_first(%x, %n, extent="#k_1") /* ty=Tensor[(#k_1, 4), float32] */;
  %1 = exp(%0) /* ty=Tensor[(#k_1, 4), float32] */;
  %2 = take_first(%x, %n, axis=1, extent="#k_2") /* ty=Tensor[(9, #k_2), float32] */;
  %3 = take_first(%x, %n, extent="#k") /* ty=Tensor[(#k, 4), float32] */;
  (%1, %2, %3)
}
)");
}

TEST(NameRunTimeExtentsTest, NumbersHaveTheVariableOfACutByTheirCount) {
  EXPECT_EQ(Named(Parse("def @main(%x: Tensor[(9), int64], %n: Tensor[(1), int64]) { "
                        "(count_up(%n), count_up(%n, extent=\"#k\"), take_first(%x, %n, "
                        "extent=\"#k\")) }")),
            R"(#[version = "0.0.5"]
def @main(%x: Tensor[(9), int64], %n: Tensor[(1), int64]) -> (Tensor[(#k_1), int64], Tensor[(#k), int64], Tensor[(#k), int64]) {
  %0 = count_up(%n, extent="#k_1") /* ty=Tensor[(#k_1), int64] */;
  %1 = count_up(%n, extent="#k") /* ty=Tensor[(#k), int64] */;
  %2 = take_first(%x, %n, extent="#k") /* ty=Tensor[(#k), int64] */;
  (%0, %1, %2)
}
)");
}

TEST(NameRunTimeExtentsTest, AFunctionThatIsPutIntoTwoPlacesHasTwo) {
  const ir::Module module = Parse(R"(
def @first(%x: Tensor[(6), float32], %n: Tensor[(1), int64]) { take_first(%x, %n, extent="#k") }
def @main(%x: Tensor[(6), float32], %n: Tensor[(1), int64], %m: Tensor[(1), int64]) {
  concatenate((@first(%x, %n), @first(%x, %m), @first(exp(%x), %n)))
})");
  EXPECT_EQ(Named(Inline(module, InlineRule::kAll)), R"(#[version = "0.0.5"]
def @main(%x: Tensor[(6), float32], %n: Tensor[(1), int64], %m: Tensor[(1), int64]) -> Tensor[(2*#k + #k_1), float32] {
  %0 = exp(%x) /* ty=Tensor[(6), float32] */;
  %1 = take_first(%x, %n, extent="#k") /* ty=Tensor[(#k), float32] */;
  %2 = take_first(%x, %m, extent="#k_1") /* ty=Tensor[(#k_1), float32] */;
  %3 = take_first(%0, %n, extent="#k") /* ty=Tensor[(#k), float32] */;
  %4 = (%1, %2, %3);
  concatenate(%4) /* ty=Tensor[(2*#k + #k_1), float32] */
}
)");
}

TEST(NameRunTimeExtentsTest, AModuleWithoutCutsStaysTheSame) {
  const ir::Module module = Parse("def @main(%x: Tensor[(9), float32]) { exp(%x) }");
  EXPECT_TRUE(NameRunTimeExtents(module) == module);
}

TEST(RunTimeExtentNamesTest, EqualCountsOfEqualExtentsShareAName) {
  const ir::Expr n = ir::Var::MakeChecked("n", ir::TensorTypeOf({1}, Int64), {});
  const ir::Expr m = ir::Var::MakeChecked("m", ir::TensorTypeOf({1}, Int64), {});
  RunTimeExtentNames names;
  EXPECT_EQ(names.NameFor(n, 5, "NonZero"), "#NonZero");
  EXPECT_EQ(names.NameFor(m, 5, "NonZero"), "#NonZero_1");
  EXPECT_EQ(names.NameFor(n, 6, "NonZero"), "#NonZero_2");
  EXPECT_EQ(names.NameFor(n, 5, "Unique"), "#NonZero");
}

}  // namespace
}  // namespace tenon::passes
