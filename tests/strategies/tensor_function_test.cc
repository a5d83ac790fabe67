// Tensor expressions as functions of modules and as operators.
#include "tenon/strategies/tensor_function.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/compiler/compile.h"
#include "tenon/ops/builders.h"
#include "tenon/passes/infer_type.h"
#include "tenon/strategies/register_op.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/testing/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Outcome;
using testing_graphs::Random;

template <typename Body>
std::string Refusal(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument) << error.what();
    return std::string(error.message());
  }
  return "no error";
}

ir::Var Floats(const char* name, std::vector<ir::Dim> shape) {
  return ir::Var::Make(name, ir::TensorType(std::move(shape), Float32));
}

// y[i] = a[i] * b[i] + 1, for any length.
struct Fma {
  te::Var n{"n"};
  te::Tensor a = te::Placeholder({n}, Float32, "A"), b = te::Placeholder({n}, Float32, "B");
  te::Tensor y = te::Compute(
      {n}, [&](te::Var i) { return a(i) * b(i) + 1.0F; }, "Y");
};

// The rows of a matrix, each times its sum.
struct Rows {
  te::Var n{"n"}, m{"m"};
  te::Tensor a = te::Placeholder({n, m}, Float32, "A");
  te::IterVar k = te::ReduceAxis(0, m);
  te::Tensor sums = te::Compute(
      {n}, [&](te::Var i) { return te::Sum(a(i, k.var), {k}); }, "sums");
  te::Tensor y = te::Compute(
      {n, m}, [&](te::Var i, te::Var j) { return a(i, j) * sums(i); }, "Y");
};

NDArray TimesItsSum(const NDArray& a) {
  NDArray y = NDArray::Empty(a.shape(), Float32);
  const std::int64_t columns = a.shape()[1];
  for (std::int64_t i = 0; i < a.shape()[0]; ++i) {
    float sum = 0;
    for (std::int64_t j = 0; j < columns; ++j) sum += a.data<float>()[i * columns + j];
    for (std::int64_t j = 0; j < columns; ++j)
      y.data<float>()[i * columns + j] = a.data<float>()[i * columns + j] * sum;
  }
  return y;
}

TEST(TensorFunctionTest, GraphsCallItAsAFunctionOfTheModule) {
  const te::Tensor a = te::Placeholder({5}, Float32, "A"), b = te::Placeholder({5}, Float32, "B");
  const te::Tensor c = te::Compute(
      {5}, [&](te::Var i) { return a(i) * b(i) + 1.0F; }, "C");
  const ir::Var x = Floats("x", {5}), y = Floats("y", {5});
  const ir::Expr f = ir::GlobalVar::Make("fma");
  const ir::Expr once = ir::Call::Make(f, {ops::Exp(x), y});
  const ir::Module module = ir::Module::FromExpr(ops::Negative(ir::Call::Make(f, {once, once})))
                                .With("fma", TensorFunction("fma", {a, b}, {c}));
  const runtime::Inputs inputs = {{"x", NDArray::FromVector<float>({5}, {0, 0, 0, 0, 0})},
                                  {"y", NDArray::FromVector<float>({5}, {1, 2, 3, 0, -1})}};
  EXPECT_THAT(Outcome(module, inputs)[0].ToVector<float>(), ElementsAre(-5, -10, -17, -2, -1));
  // Elementwise work is one kernel with its neighbours.
  EXPECT_EQ(Compile(module).value().num_kernel_calls(), 1);
}

TEST(TensorFunctionTest, TypesFlowThroughItBothWays) {
  const Fma f;
  const ir::Expr op = TensorOperator("fma", {f.a, f.b}, {f.y});
  const ir::Var x = Floats("x", {7}), y = ir::Var::Make("y");
  const ir::Module module = passes::InferType(ir::Module::FromExpr(ir::Call::Make(op, {x, y})));
  EXPECT_EQ(ir::ToString(module.Main().params[1].checked_type()), "Tensor[(7), float32]");
  EXPECT_EQ(ir::ToString(module.Main().ret_type), "Tensor[(7), float32]");
}

TEST(TensorFunctionTest, OneOperatorServesSeveralShapes) {
  const Rows rows;
  const ir::Expr op = TensorOperator("rows", {rows.a}, {rows.y});
  for (const auto& [n, m] : {std::pair(1, 1), {3, 17}, {8, 64}, {2, 0}}) {
    const ir::Module module =
        ir::Module::FromExpr(ir::Call::Make(op, {ops::Tanh(Floats("x", {n, m}))}));
    const NDArray x = Random({n, m}, 3);
    const NDArray tanh =
        Outcome(ir::Module::FromExpr(ops::Tanh(Floats("x", {n, m}))), {{"x", x}})[0];
    ExpectClose(Outcome(module, {{"x", x}})[0], TimesItsSum(tanh));
  }
}

TEST(TensorFunctionTest, ExtentsMayBeVariables) {
  const Rows rows;
  const ir::Expr op = TensorOperator("rows", {rows.a}, {rows.y});
  const ir::Module module =
      ir::Module::FromExpr(ir::Call::Make(op, {Floats("x", {ir::Dim::Symbol("batch"), 6})}));
  EXPECT_EQ(ir::ToString(passes::InferType(module).Main().ret_type), "Tensor[(batch, 6), float32]");
  const Executable exe = Compile(module).value();
  for (const std::int64_t batch : {1, 5, 9}) {
    const NDArray x = Random({batch, 6}, 2);
    ExpectClose(exe.Run({{"x", x}}).value()[0], TimesItsSum(x));
  }
}

TEST(TensorFunctionTest, ExtentsOfResultsAreNotNegative) {
  const te::Var n("n");
  const te::Tensor a = te::Placeholder({n}, Float32, "A");
  const te::Tensor y = te::Compute(
      {n - 2}, [&](te::Var i) { return a(i + 2); }, "Y");
  const ir::Expr op = TensorOperator("shorter", {a}, {y});
  const auto called = [&](const ir::Dim& extent) {
    return passes::InferType(ir::Module::FromExpr(ir::Call::Make(op, {Floats("x", {extent})})));
  };
  const std::vector<ExtentCondition> conditions =
      passes::ConditionsOf(called(ir::Dim::Symbol("rows")).Main().body);
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0].ToString(), "0 <= rows - 2, for shorter");
  EXPECT_EQ(ir::ToString(called(2).Main().ret_type), "Tensor[(0), float32]");
  EXPECT_THAT(Refusal([&] { called(1); }), HasSubstr("the negative extent -1"));
}

TEST(TensorFunctionTest, SeveralResultsAreATuple) {
  const Rows rows;
  const ir::Expr op = TensorOperator("rows", {rows.a}, {rows.y, rows.sums});
  const ir::Expr both = ir::Call::Make(op, {Floats("x", {2, 2})});
  const ir::Module module = ir::Module::FromExpr(ir::Tuple::Make(
      {ir::TupleGetItem::Make(both, 1), ops::Negative(ir::TupleGetItem::Make(both, 0))}));
  const auto out = Outcome(module, {{"x", NDArray::FromVector<float>({2, 2}, {1, 2, 3, 4})}});
  EXPECT_THAT(out[0].ToVector<float>(), ElementsAre(3, 7));
  EXPECT_THAT(out[1].ToVector<float>(), ElementsAre(-3, -6, -21, -28));
}

TEST(TensorFunctionTest, ItsOwnScheduleMakesItsKernel) {
  const Rows rows;
  schedule::Schedule s(rows.y);
  const auto [outer, inner] = s[rows.y].Split(rows.y.axis(0), 4);
  s[rows.sums].ComputeAt(s[rows.y], inner);
  s[rows.y].Parallel(outer);
  const ir::Expr op = ScheduledOperator("rows", {rows.a}, s);
  const ir::Module module =
      ir::Module::FromExpr(ops::Tanh(ir::Call::Make(op, {Floats("x", {13, 5})})));
  const NDArray x = Random({13, 5}, 5);
  const ir::Module plain = ir::Module::FromExpr(ops::Tanh(
      ir::Call::Make(TensorOperator("rows", {rows.a}, {rows.y}), {Floats("x", {13, 5})})));
  ExpectClose(Outcome(module, {{"x", x}})[0], Outcome(plain, {{"x", x}})[0]);
  const Executable exe = Compile(module).value();
  ASSERT_EQ(exe.num_kernel_calls(), 2);
  EXPECT_THAT(exe.kernels()[0]->Text(jit::KernelText::kSchedule),
              AllOf(HasSubstr("Split(Y.axis(0), 4)"), HasSubstr("ComputeAt(s[Y]")));
  // One value for two inputs.
  const Fma f;
  schedule::Schedule of_fma(f.y);
  of_fma[f.y].Vectorize(of_fma[f.y].Split(f.y.axis(0), 8).second);
  const ir::Var v = Floats("v", {3});
  const ir::Module twice =
      ir::Module::FromExpr(ir::Call::Make(ScheduledOperator("fma", {f.a, f.b}, of_fma), {v, v}));
  EXPECT_THAT(
      Outcome(twice, {{"v", NDArray::FromVector<float>({3}, {1, 2, 3})}})[0].ToVector<float>(),
      ElementsAre(2, 5, 10));
}

// Equal names and types do not make functions equal.
TEST(TensorFunctionTest, FunctionsOfOneNameDoNotMeet) {
  const te::Tensor a = te::Placeholder({3}, Float32, "A");
  const auto times = [&](float factor) {
    return TensorOperator("f", {a},
                          {te::Compute(
                              {3}, [&](te::Var i) { return a(i) * factor; }, "Y")});
  };
  const ir::Var x = Floats("x", {3});
  const ir::Module module = ir::Module::FromExpr(
      ir::Tuple::Make({ir::Call::Make(times(2), {x}), ir::Call::Make(times(3), {x})}));
  for (const int opt_level : {0, 3}) {
    const auto out = Outcome(module, {{"x", NDArray::FromVector<float>({3}, {1, 2, 3})}},
                             {.opt_level = opt_level});
    EXPECT_THAT(out[0].ToVector<float>(), ElementsAre(2, 4, 6));
    EXPECT_THAT(out[1].ToVector<float>(), ElementsAre(3, 6, 9));
  }
}

TEST(TensorFunctionTest, TextsReadWhatIsRegistered) {
  static const Fma f;
  OpRegistration("test.fma").Describe("a * b + 1").Tensors({f.a, f.b}, {f.y});
  const ir::Module module = testing_graphs::Parsed(
      "def @main(%x: Tensor[(4), float32]) { nn.relu(test.fma(%x, exp(%x))) }");
  EXPECT_THAT(ir::PrintModule(module), HasSubstr("test.fma(%x, %0)"));
  EXPECT_THAT(
      Outcome(module, {{"x", NDArray::FromVector<float>({4}, {0, -8, 0, 0})}})[0].ToVector<float>(),
      ElementsAre(1, testing::FloatNear(0.99731636F, 1e-6F), 1, 1));
}

TEST(TensorFunctionErrorTest, WrongTensorsAndCallsAreRefusedInWords) {
  const Fma f;
  const auto make = [&](const std::vector<te::Tensor>& inputs,
                        const std::vector<te::Tensor>& results) {
    return Refusal([&] { TensorOperator("g", inputs, results); });
  };
  EXPECT_THAT(make({f.a}, {f.y}), HasSubstr("the placeholder B is read, but not given"));
  EXPECT_THAT(make({f.a, f.b, f.a}, {f.y}), HasSubstr("input A is given twice"));
  EXPECT_THAT(make({f.a, f.y}, {f.y}), HasSubstr("input Y is computed"));
  EXPECT_THAT(make({f.a}, {f.a}), HasSubstr("result A is a placeholder"));
  EXPECT_THAT(make({f.a, f.b}, {}), HasSubstr("there is no result"));
  const te::Var other("other");
  const te::Tensor loose = te::Compute(
      {other}, [&](te::Var i) { return f.a(i); }, "loose");
  EXPECT_THAT(make({f.a}, {loose}),
              HasSubstr("the extent other of loose uses other, which is no extent of an input"));
  const ir::Expr op = TensorOperator("fma", {f.a, f.b}, {f.y});
  const auto call = [&](const std::vector<ir::Expr>& args) {
    return Refusal([&] { passes::InferType(ir::Module::FromExpr(ir::Call::Make(op, args))); });
  };
  EXPECT_THAT(call({Floats("x", {4})}), HasSubstr("fma takes 2 arguments, not 1"));
  EXPECT_THAT(call({Floats("x", {4}), Floats("y", {5})}),
              HasSubstr("fma: extent n is 4 and, of B, 5"));
  EXPECT_THAT(call({Floats("x", {4, 1}), Floats("y", {4})}),
              HasSubstr("fma: A is float32 of 1 dimensions"));
}

}  // namespace
}  // namespace tenon::strategies
