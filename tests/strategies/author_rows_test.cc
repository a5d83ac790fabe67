// Rows that users add to operators: which are taken, and which are refused.
#include "tenon/strategies/author_rows.h"

#include "tenon/strategies/register_op.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/tests/strategies/graph_testing.h"

namespace tenon::strategies {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

// The message of the registrations' errors, which are forgotten by that; "" when there are none.
std::string StartupErrors() {
  const absl::Status status = CatchErrors([] { ops::OpRegistry::Global().ThrowStartupErrors(); });
  return std::string(status.message());
}

std::vector<te::Tensor> Doubled(const TeCall& call, double factor) {
  return {te::Compute(call.te_shape(), [&](const std::vector<te::Var>& i) {
    return call.input(0)[ToExprs(i)] * loop::Constant(call.dtype(), factor);
  })};
}

// An operator of the test with one compute, "twice".
void RegisterTwice(const std::string& name) {
  OpRegistration(name)
      .Argument("data", "Tensor", "input")
      .TypeRelation(ops::Identity)
      .Pattern(ops::OpPattern::kElemWise)
      .Compute([](const TeCall& call) { return Doubled(call, 2); });
}

// Which row the only kernel of a module takes, and what becomes of the others.
Choice ChoiceFor(const std::string& op, std::int64_t rows) {
  const ir::Module module =
      Parsed(StrCat("def @main(%x: Tensor[(", rows, ", 3), float32]) { ", op, "(%x) }"));
  return ValueOrThrow(Lower(module)).kernels.at(0).choice;
}

TEST(AuthorRowsTest, ARowIsTakenWhereItsConditionHolds) {
  RegisterTwice("my.rows_twice");
  OpExtension("my.rows_twice")
      .Form({.name = "twice.of_pairs",
             .refusal = [](const TeCall& call) -> std::optional<std::string> {
               if (call.shape()[0] == 2) return std::nullopt;
               return "it has no two rows";
             },
             .make = [](const TeCall& call) { return Doubled(call, 2); }});
  EXPECT_EQ(StartupErrors(), "");
  EXPECT_EQ(ChoiceFor("my.rows_twice", 2).implementation, "te.twice.of_pairs");
  const Choice choice = ChoiceFor("my.rows_twice", 5);
  EXPECT_EQ(choice.implementation, "te.plain");
  EXPECT_THAT(ToText(choice.candidates, choice.chosen), HasSubstr("it has no two rows"));
}

TEST(AuthorRowsTest, ARowOfABuiltInOperatorComputesWhatTheOthersDo) {
  OpExtension("nn.leaky_relu")
      .Form({.name = "leaky_relu.by_select",
             .refusal = [](const TeCall& call) -> std::optional<std::string> {
               if (call.shape() == Shape{7, 7, 7}) return std::nullopt;
               return "it is a row of a test";
             },
             .make =
                 [](const TeCall& call) {
                   return std::vector<te::Tensor>{
                       te::Compute(call.te_shape(), [&](const std::vector<te::Var>& i) {
                         const te::Expr x = call.input(0)[ToExprs(i)];
                         return loop::Select(x > loop::Constant(call.dtype(), 0), x,
                                             x * loop::Constant(call.dtype(), 0.25));
                       })};
                 }});
  EXPECT_EQ(StartupErrors(), "");
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(7, 7, 7), float32]) { nn.leaky_relu(%x, alpha=0.25f) }");
  const runtime::Inputs inputs = RandomInputs(module, 1);
  const Lowered lowered = ValueOrThrow(Lower(module));
  EXPECT_EQ(lowered.kernels.at(0).choice.implementation, "te.leaky_relu.by_select");
  ExpectClose(ValueOrThrow(ValueOrThrow(Link(lowered)).Run(inputs)), Interpreted(module, inputs));
}

TEST(AuthorRowsTest, WhatARowMakesIsCheckedAndItsErrorsNameIt) {
  RegisterTwice("my.rows_wrong");
  OpExtension("my.rows_wrong").Form({.name = "wrong", .make = [](const TeCall& call) {
                                       std::vector<te::Tensor> two = Doubled(call, 2);
                                       two.push_back(two[0]);
                                       return two;
                                     }});
  EXPECT_EQ(StartupErrors(), "");
  const ir::Module module = Parsed("def @main(%x: Tensor[(4), float32]) { my.rows_wrong(%x) }");
  const absl::Status status = Compile(module).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(status.ToString(), AllOf(HasSubstr("my.rows_wrong"), HasSubstr("its row wrong"),
                                       HasSubstr("author_rows_test.cc")));
}

TEST(AuthorRowsTest, RowsThatCannotBeUsedAreErrorsOfTheRegistration) {
  RegisterTwice("my.rows_bad");
  const TeMake make = [](const TeCall& call) { return Doubled(call, 2); };
  OpExtension("my.rows_bad").Form({.name = "", .make = make});
  EXPECT_THAT(StartupErrors(), AllOf(HasSubstr("my.rows_bad"), HasSubstr("a row needs a name")));
  OpExtension("my.rows_bad").Form({.name = "empty", .make = nullptr});
  EXPECT_THAT(StartupErrors(), HasSubstr("the row empty needs a function that makes it"));
  OpExtension("my.rows_bad")
      .Form({.name = "one", .make = make})
      .Form({.name = "one", .make = make});
  EXPECT_THAT(StartupErrors(), HasSubstr("there is a row one already"));
  OpExtension("my.rows_of_nothing").Form({.name = "one", .make = make});
  EXPECT_THAT(StartupErrors(), HasSubstr("my.rows_of_nothing"));
}

}  // namespace
}  // namespace tenon::strategies
