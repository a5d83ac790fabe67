#include "tenon/passes/bind_params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/passes/infer_type.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::passes {
namespace {

using ir::Module;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Module Sum() {
  return Parse(R"(#[version = "0.0.5"]
def @main(%data: Tensor[(2), float32], %bias: Tensor[(2), float32]) { add(%data, %bias) })");
}
NDArray Bias() { return NDArray::FromVector<float>({2}, {3, 5}); }

// By name and by variable; the given module does not change.
TEST(BindParamsTest, S000_03_BoundParametersBecomeConstantsAndLeaveTheSignature) {
  const Module module = Sum();
  const std::string before = Print(module);
  const std::vector<ParamKey> keys = {std::string("bias"), ir::Var(module.Main().params[1])};
  for (const ParamKey& key : keys) {
    const Module bound = InferType(BindParams(module, "main", {{key, Bias()}}));
    ASSERT_EQ(bound.Main().params.size(), 1U);
    EXPECT_EQ(ir::Var(bound.Main().params[0]).name(), "data");
    const auto* constant = bound.Main().body.As<ir::CallNode>()->args[1].As<ir::ConstantNode>();
    ASSERT_NE(constant, nullptr);
    EXPECT_THAT(constant->data.ToVector<float>(), ElementsAre(3, 5));
  }
  EXPECT_EQ(Print(module), before);
}

// Constants print as numbered references, whose bytes are left out when asked.
TEST(BindParamsTest, S003_02_S003_11_BoundParametersPrintAsReferencesWithoutTheirBytes) {
  const Module bound = InferType(BindParams(Sum(), "main", {{"bias", Bias()}}));
  const std::string text = ir::PrintModule(bound, {.metadata = false});
  EXPECT_THAT(text, HasSubstr("add(%data, meta[relay.Constant][0]"));
  EXPECT_EQ(text.find("#[metadata]"), std::string::npos);
  const std::string whole = ir::PrintModule(bound);
  EXPECT_THAT(whole, HasSubstr("#[metadata]"));
  const Module again = Parse(whole);
  EXPECT_THAT(
      again.Main().body.As<ir::CallNode>()->args[1].As<ir::ConstantNode>()->data.ToVector<float>(),
      ElementsAre(3, 5));
}

TEST(BindParamsTest, S000_03_AnUnknownNameIsRefusedNamingThoseThereAre) {
  const Error error = ErrorOf([] { BindParams(Sum(), "main", {{"biass", Bias()}}); });
  EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(error.message(), HasSubstr("@main has no parameter %biass; it has %data, %bias"));
}

TEST(BindParamsTest, ANameOfTwoParametersIsRefused) {
  const ir::Var a = ir::Var::Make("x", ir::TensorType({2}, Float32));
  const ir::Var b = ir::Var::Make("x", ir::TensorType({2}, Float32));
  const Module module = Module().With("main", ir::Function::Make({a, b}, ir::Tuple::Make({a, b})));
  const Error error = ErrorOf([&] { BindParams(module, "main", {{"x", Bias()}}); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(), "2 parameters of @main are named %x; bind them by variable");
  EXPECT_EQ(BindParams(module, "main", {{b, Bias()}}).Main().params.size(), 1U);
}

TEST(BindParamsTest, AValueOfAnotherTypeIsRefused) {
  for (const NDArray& value :
       {NDArray::FromVector<float>({3}, {1, 2, 3}), NDArray::FromVector<std::int32_t>({2}, {1, 2}),
        NDArray::FromVector<float>({1, 2}, {1, 2})}) {
    const Error error = ErrorOf([&] { BindParams(Sum(), "main", {{"bias", value}}); });
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.message(),
                HasSubstr("the parameter %bias is Tensor[(2), float32], but the value is "));
  }
  EXPECT_EQ(ErrorOf([] {
              BindParams(Sum(), "main", {{"bias", NDArray()}});
            }).code(),
            absl::StatusCode::kInvalidArgument);
}

Module SumOfVariables(const std::string& attrs = "") {
  return Parse(
      "#[version = \"0.0.5\"]\ndef @main(%x: Tensor[(n), float32], %y: Tensor[(n), "
      "float32], %z: Tensor[(2*n, m), float32]" +
      attrs + ") { let %s: Tensor[(n), float32] = add(%x, %y); (%s, %z) }");
}

// As (3), y still has the extent of x.
TEST(BindParamsTest, AVariableBecomesTheNumberOfTheValueEverywhere) {
  const Module module = SumOfVariables(", limits=\"n <= 4, n <= m\"");
  for (const Module& given : {module, InferType(module)}) {
    const Module bound =
        InferType(BindParams(given, "main", {{"x", NDArray::FromVector<float>({3}, {1, 2, 3})}}));
    ASSERT_EQ(bound.Main().params.size(), 2U);
    EXPECT_EQ(ir::ToString(bound.Main().params[0].checked_type()), "Tensor[(3), float32]");
    EXPECT_EQ(ir::ToString(bound.Main().params[1].checked_type()), "Tensor[(6, m), float32]");
    EXPECT_EQ(bound.Main().attrs.at("limits"), attrs::Value(std::string("3 <= m")));
  }
}

TEST(BindParamsTest, AMultipleShowsItsVariable) {
  const auto bound = [](const Shape& z) {
    return InferType(BindParams(SumOfVariables(), "main", {{"z", NDArray::Zeros(z, Float32)}}));
  };
  const Module module = bound({4, 5});
  for (const ir::Expr& param : module.Main().params)
    EXPECT_EQ(ir::ToString(param.checked_type()), "Tensor[(2), float32]");
  EXPECT_EQ(ErrorOf([&] {
              bound({3, 5});
            }).message(),
            "the value of %z has 3 elements where its type has 2*n");
}

TEST(BindParamsTest, ValuesThatSayDifferentNumbersAreRefused) {
  const NDArray three = NDArray::FromVector<float>({3}, {1, 2, 3});
  const auto message = [&](const Module& module, const char* name, const NDArray& value) {
    return ErrorOf([&] { BindParams(module, "main", {{"x", three}, {name, value}}); }).message();
  };
  EXPECT_THAT(message(SumOfVariables(), "y", NDArray::Zeros({1}, Float32)),
              HasSubstr("where its type has n, which is "));
  EXPECT_THAT(message(SumOfVariables(), "z", NDArray::Zeros({4, 5}, Float32)),
              HasSubstr("the value of %z has 4 elements where its type has 2*n, which is 6"));
  EXPECT_THAT(message(SumOfVariables(", limits=\"n <= 2\""), "y", NDArray::Zeros({3}, Float32)),
              HasSubstr("the values are beyond the limits of @main: n <= 2"));
}

TEST(BindParamsTest, AParameterThatIsGivenTwiceIsRefused) {
  const Error error = ErrorOf([] {
    BindParams(Sum(), "main", {{"bias", Bias()}, {"bias", Bias()}});
  });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(error.message(), "%bias is given two values");
}

}  // namespace
}  // namespace tenon::passes
