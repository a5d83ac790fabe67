// Constant arguments in the form that kernels read: packed once, when the kernel is made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/ops/builders.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Random;

const CompileOptions kTeOnly = {.library = LibraryChoice::kTe, .winograd = false};

ir::Var Image() { return ir::Var::Make("x", ir::TensorType({1, 16, 9, 11}, Float32)); }
NDArray Weight(int seed) { return Random({40, 16, 3, 3}, seed); }

// The same graph with what was constant as an input, by the interpreter.
void ExpectAsInterpreted(const Lowered& lowered, const NDArray& x, const ir::Module& of_variables,
                         runtime::Inputs inputs) {
  const auto results = ValueOrThrow(ValueOrThrow(Link(lowered)).Run({{"x", x}}));
  inputs["x"] = x;
  ExpectClose(results, Interpreted(of_variables, inputs));
}

TEST(PreparedTest, AConstantWeightIsPackedOutsideTheKernel) {
  const ir::Var x = Image();
  const ir::Var w = ir::Var::Make("w", ir::TensorType({40, 16, 3, 3}, Float32));
  const auto graph = [&](const ir::Expr& weight) {
    return ir::Module::FromExpr(ops::Conv2D(x, weight, {.padding = {1, 1}}));
  };
  const ir::Module module = graph(ir::Constant::Make(Weight(1)));
  const Lowered lowered = ValueOrThrow(Lower(module, kTeOnly));
  ASSERT_EQ(lowered.kernels.size(), 1U);
  const strategies::Built& built = lowered.kernels[0].choice.built;
  ASSERT_EQ(built.prepared.size(), 1U);
  EXPECT_EQ(built.prepared[0].arguments, std::vector<int>{1});
  EXPECT_EQ(built.arguments, std::vector<int>{0}) << "the weight as it was is not read";
  EXPECT_THAT(loop::Print(std::get<loop::Function>(built.kernel)),
              Not(HasSubstr("allocate packed")));
  ASSERT_EQ(lowered.constants.size(), 1U) << "the weight as it was is not kept";
  // Whole vectors of filters, and whole tiles of them.
  const std::int64_t lanes = Target::Host().Lanes(sizeof(float));
  EXPECT_EQ(lowered.constants[0].shape(), (Shape{48 / lanes, 16, 3, 3, lanes}));
  ExpectAsInterpreted(lowered, Random({1, 16, 9, 11}, 4), graph(w), {{"w", Weight(1)}});
}

TEST(PreparedTest, AModuleGivenAwayLetsItsWeightsGo) {
  const NDArray values = Weight(1);
  auto owner = std::make_shared<NDArray>(values);
  const std::weak_ptr<NDArray> is_held = owner;
  const auto graph = [](const ir::Expr& weight) {
    return ir::Module::FromExpr(ops::Conv2D(Image(), weight, {.padding = {1, 1}}));
  };
  ir::Module module = graph(ir::Constant::Make(
      NDArray::View(values.shape(), values.dtype(), values.raw(), std::exchange(owner, nullptr))));
  const Executable keeps = ValueOrThrow(Compile(module, kTeOnly));
  EXPECT_FALSE(is_held.expired());
  const Executable exe = ValueOrThrow(Compile(std::move(module), kTeOnly));
  EXPECT_TRUE(is_held.expired()) << "the packed form alone is kept";

  const runtime::Inputs inputs = {{"x", Random({1, 16, 9, 11}, 4)}};
  const auto results = ValueOrThrow(exe.Run(inputs));
  EXPECT_TRUE(results[0].SameBytes(ValueOrThrow(keeps.Run(inputs))[0]));
  const ir::Var w = ir::Var::Make("w", ir::TensorType({40, 16, 3, 3}, Float32));
  ExpectClose(results, Interpreted(graph(w), {{"x", inputs.at("x")}, {"w", values}}));
}

// Such a module stays with the compiled model, but not what passes replaced.
TEST(PreparedTest, AModuleWithVariablesLetsWeightsGoThatScalesWereFoldedInto) {
  const NDArray values = Weight(1);
  auto owner = std::make_shared<NDArray>(values);
  const std::weak_ptr<NDArray> is_held = owner;
  const auto graph = [](const Dim& batch, const ir::Expr& weight) {
    const ir::Var x = ir::Var::Make("x", ir::TensorType({batch, 16, 9, 11}, Float32));
    return ir::Module::FromExpr(
        ops::Multiply(ops::Conv2D(x, weight, {.padding = {1, 1}}), ops::Scalar(3.0)));
  };
  ir::Module module =
      graph(Dim::Symbol("n"),
            ir::Constant::Make(NDArray::View(values.shape(), values.dtype(), values.raw(),
                                             std::exchange(owner, nullptr))));
  const Executable exe = ValueOrThrow(Compile(std::move(module), kTeOnly));
  EXPECT_TRUE(is_held.expired());
  const NDArray x = Random({2, 16, 9, 11}, 4);
  const ir::Var w = ir::Var::Make("w", ir::TensorType({40, 16, 3, 3}, Float32));
  ExpectClose(ValueOrThrow(exe.Run({{"x", x}})),
              Interpreted(graph(2, w), {{"x", x}, {"w", values}}));
}

TEST(PreparedTest, AVariableWeightIsPackedAtEachRun) {
  const ir::Var x = Image();
  const ir::Var w = ir::Var::Make("w", ir::TensorType({40, 16, 3, 3}, Float32));
  const Lowered lowered =
      ValueOrThrow(Lower(ir::Module::FromExpr(ops::Conv2D(x, w, {.padding = {1, 1}})), kTeOnly));
  const strategies::Built& built = lowered.kernels[0].choice.built;
  EXPECT_TRUE(built.prepared.empty());
  EXPECT_EQ(built.arguments, (std::vector<int>{0, 1}));
  EXPECT_THAT(loop::Print(std::get<loop::Function>(built.kernel)), HasSubstr("allocate packed"));
}

TEST(PreparedTest, EqualLayersShareTheKernelAndEqualWeightsTheirPackedForm) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({8, 32}, Float32));
  const NDArray first = Random({32, 32}, 1), second = Random({32, 32}, 2);
  const auto graph = [&](const ir::Expr& shared, const ir::Expr& other) {
    return ir::Module::FromExpr(ops::Dense(ops::Dense(ops::Dense(x, shared), other), shared));
  };
  const ir::Module module = graph(ir::Constant::Make(first), ir::Constant::Make(second));
  const Lowered lowered = ValueOrThrow(Lower(module, kTeOnly));
  EXPECT_EQ(lowered.kernels.size(), 1U);
  EXPECT_EQ(lowered.constants.size(), 2U) << "two weights, each packed once";
  const ir::Var a = ir::Var::Make("a", ir::TensorType({32, 32}, Float32));
  const ir::Var b = ir::Var::Make("b", ir::TensorType({32, 32}, Float32));
  ExpectAsInterpreted(lowered, Random({8, 32}, 3), graph(a, b), {{"a", first}, {"b", second}});
}

TEST(PreparedTest, AKernelOfAConstantIsNotTakenForAVariable) {
  const ir::Var x = ir::Var::Make("x", ir::TensorType({8, 32}, Float32));
  const ir::Var w = ir::Var::Make("w", ir::TensorType({32, 32}, Float32));
  const ir::Var v = ir::Var::Make("v", ir::TensorType({32, 32}, Float32));
  const NDArray first = Random({32, 32}, 1), second = Random({32, 32}, 5);
  const auto graph = [&](const ir::Expr& weight) {
    return ir::Module::FromExpr(ops::Dense(ops::Dense(x, weight), w));
  };
  const Lowered lowered = ValueOrThrow(Lower(graph(ir::Constant::Make(first)), kTeOnly));
  EXPECT_EQ(lowered.kernels.size(), 2U);
  const NDArray data = Random({8, 32}, 3);
  ExpectClose(ValueOrThrow(ValueOrThrow(Link(lowered)).Run({{"x", data}, {"w", second}})),
              Interpreted(graph(v), {{"x", data}, {"v", first}, {"w", second}}));
}

}  // namespace
}  // namespace tenon
