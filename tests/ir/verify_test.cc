// Modules that no pass and no front end may make.
#include "tenon/ir/verify.h"

#include <functional>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/tests/testing/relay_text.h"

namespace tenon::ir {
namespace {

using ::testing::HasSubstr;

Module MainOf(std::vector<Expr> params, const Expr& body) {
  return Module().With("main", Function::Make(std::move(params), body));
}

struct Case {
  const char* name;
  std::function<Module()> make;
  const char* rule;
  friend void PrintTo(const Case& t, std::ostream* out) { *out << t.name; }
};
class VerifyTest : public ::testing::TestWithParam<Case> {};

TEST_P(VerifyTest, RefusesNamingFunctionAndRule) {
  const Module module = GetParam().make();
  const Error error = ErrorOf([&] { VerifyModule(module); });
  EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(error.message(), HasSubstr("ill-formed module, in @main: "));
  EXPECT_THAT(error.message(), HasSubstr(GetParam().rule));
}

INSTANTIATE_TEST_SUITE_P(
    Rules, VerifyTest,
    ::testing::Values(Case{"AVariableIsBound", [] { return MainOf({}, ops::Exp(Var::Make("x"))); },
                           "the variable %x is used but bound nowhere"},
                      Case{"AParameterIsBoundOnce",
                           [] {
                             const Var x = Var::Make("x");
                             return MainOf({x, x}, x);
                           },
                           "the variable %x is bound twice"},
                      Case{"AParameterOfOneFunctionOnly",
                           [] {
                             const Var x = Var::Make("x");
                             return MainOf({x}, Function::Make({x}, x));
                           },
                           "the variable %x is bound twice"},
                      Case{"ALetBindsANewVariable",
                           [] {
                             const Var x = Var::Make("x");
                             return MainOf({x}, Let::Make(x, ops::Scalar(1), x));
                           },
                           "the variable %x is bound twice"},
                      Case{"ALetIsNotItself",
                           [] {
                             const Var y = Var::Make("y");
                             return MainOf({}, Let::Make(y, y, y));
                           },
                           "let %y is defined by itself"},
                      Case{"ALetDoesNotUseItselfInside",
                           [] {
                             const Var y = Var::Make("y");
                             return MainOf({}, Let::Make(y, ops::Exp(ops::Exp(y)), y));
                           },
                           "%y"},
                      Case{"AVariableIsUsedInItsFunction",
                           [] {
                             const Var y = Var::Make("y");
                             return MainOf({}, Tuple::Make({Function::Make({y}, y), ops::Exp(y)}));
                           },
                           "%y"},
                      Case{"AVariableIsUsedBelowItsLet",
                           [] {
                             const Var y = Var::Make("y");
                             return MainOf({},
                                           ops::Add(ops::Exp(y), Let::Make(y, ops::Scalar(1), y)));
                           },
                           "%y"},
                      Case{"AGlobalIsDefined",
                           [] { return MainOf({}, Call::Make(GlobalVar::Make("f"), {})); },
                           "@f is used but not defined"},
                      Case{"AnOperatorGetsItsArguments",
                           [] {
                             const Var x = Var::Make("x");
                             return MainOf({x}, Call::Make(ops::Known().add, {x}));
                           },
                           "add takes 2 arguments and is called with 1"},
                      Case{"AnOperatorGetsItsAttributes",
                           [] {
                             const Var x = Var::Make("x");
                             return MainOf({x}, Call::Make(ops::Known().softmax, {x}));
                           },
                           "nn.softmax is called without attributes"},
                      Case{"AProjectionIsWithinItsTuple",
                           [] {
                             const Var t =
                                 Var::MakeChecked("t", TupleType({TensorType({}, Int32)}), {});
                             return MainOf({t}, TupleGetItem::Make(t, 1));
                           },
                           "field 1 of a tuple of 1"}),
    [](const auto& info) { return info.param.name; });

TEST(VerifyTest, TheFunctionIsNamed) {
  const Module module =
      Parse("def @main(%x) { %x }").With("helper", Function::Make({}, Var::Make("y")));
  EXPECT_THAT(ErrorOf([&] { VerifyModule(module); }).message(), HasSubstr("in @helper: "));
}

class WellFormedTest : public ::testing::TestWithParam<NamedText> {};
TEST_P(WellFormedTest, Passes) {
  EXPECT_EQ(ErrorOf([] { VerifyModule(Parse(GetParam().text)); }).message(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Modules, WellFormedTest,
    ::testing::Values(
        NamedText{"Sharing", "def @main(%x) { %0 = exp(%x); (%0, add(%0, %0)) }"},
        NamedText{"ALetUsedInALiteral",
                  "def @main(%x) { let %y = exp(%x); fn (%z) { add(%y, %z) } }"},
        NamedText{"LetsOfOneName", "def @main(%x) { let %x = exp(%x); let %x = exp(%x); %x }"},
        NamedText{"NestedLets", "def @main(%x) { let %a = (let %b = exp(%x); %b); %a }"},
        NamedText{"Recursion", "def @main(%x) { @main(%x) }"},
        NamedText{"OneNameInTwoFunctions", "def @f(%x) { %x } def @main(%x) { @f(%x) }"}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::ir
