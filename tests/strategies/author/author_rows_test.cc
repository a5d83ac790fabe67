// Rows that users add to operators: which are taken, and which are refused.
#include "tenon/strategies/author/author_rows.h"

#include <cmath>
#include <functional>

#include "tenon/ir/text_format.h"
#include "tenon/ops/layout/layout_rules.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/layout/convert_layout.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/lower_outputs.h"
#include "tenon/strategies/register_op.h"
#include "tenon/support/strings.h"
#include "tenon/te/math.h"
#include "tenon/tests/testing/graph_testing.h"

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

// The same, with a form and a library's kernel that are estimated.
void RegisterEstimated(const std::string& name, double form, double library) {
  RegisterTwice(name);
  OpExtension(name)
      .Form({.name = "form",
             .make = [](const TeCall& call) { return Doubled(call, 2); },
             .cycles = [form](const TeCall&) { return form; }})
      .Implement({.name = "library",
                  .cycles = [library](const Group&) { return library; },
                  .build =
                      [](const Group& group) {
                        const TeFunction function = LowerFunction(*group.function);
                        return Built{.kernel = LowerOutputs(function.params, function.outputs,
                                                            group.name, group.lowering),
                                     .arguments = {0}};
                      }});
  EXPECT_EQ(StartupErrors(), "");
}

TEST(AuthorRowsTest, TheLeastEstimateDecidesBetweenAFormAndALibrary) {
  RegisterEstimated("my.rows_form_first", 50, 100);
  RegisterEstimated("my.rows_library_first", 50, 49);
  EXPECT_EQ(ChoiceFor("my.rows_form_first", 2).implementation, "te.form");
  const Choice choice = ChoiceFor("my.rows_library_first", 2);
  EXPECT_EQ(choice.implementation, "library");
  EXPECT_THAT(choice.Explanation(), AllOf(HasSubstr("library (49 cycles): chosen"),
                                          HasSubstr("te.form (50 cycles): not needed")));
}

TEST(AuthorRowsTest, ALibraryThatIsAskedForNeedNotBeTheFastest) {
  RegisterEstimated("my.rows_library_asked", 50, 100);
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(2, 3), float32]) { my.rows_library_asked(%x) }");
  const Lowered lowered = ValueOrThrow(Lower(module, {.library = LibraryChoice::kLibrary}));
  EXPECT_EQ(lowered.kernels.at(0).choice.implementation, "library");
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

TEST(AuthorRowsTest, AnEstimateIsANumberAndItsErrorsNameTheRow) {
  const auto error_of = [](const std::string& name, const std::function<double()>& estimate) {
    RegisterTwice(name);
    OpExtension(name).Form({.name = "guess",
                            .make = [](const TeCall& call) { return Doubled(call, 2); },
                            .cycles = [estimate](const TeCall&) { return estimate(); }});
    EXPECT_EQ(StartupErrors(), "");
    const absl::Status status =
        Compile(Parsed(StrCat("def @main(%x: Tensor[(4), float32]) { ", name, "(%x) }"))).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(status.ToString(), AllOf(HasSubstr("its row guess"), HasSubstr("registered at")));
    return status.ToString();
  };
  EXPECT_THAT(error_of("my.rows_nan", [] { return std::nan(""); }),
              HasSubstr("the estimate is nan cycles; it must be at least 0"));
  EXPECT_THAT(error_of("my.rows_throwing", []() -> double { throw 3; }),
              HasSubstr("not a std::exception"));
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
  OpExtension("my.rows_bad").Form({.name = "of words", .make = make});
  EXPECT_THAT(StartupErrors(), HasSubstr("the row 'of words' needs a name without blanks"));
  OpExtension("my.rows_of_nothing").Form({.name = "one", .make = make});
  EXPECT_THAT(StartupErrors(), HasSubstr("my.rows_of_nothing"));
}

TEST(AuthorRowsTest, AnOperatorIsScheduledByItsAuthor) {
  int calls = 0;
  OpRegistration("my.rows_scheduled")
      .Argument("data", "Tensor", "input")
      .TypeRelation(ops::Identity, "Same")
      .Pattern(ops::OpPattern::kOutEWiseFusable)
      .Compute([](const TeCall& call) { return Doubled(call, 2); })
      .Schedule([&calls](const OpSchedule& s) {
        ++calls;
        EXPECT_EQ(s.inputs.size(), 1U);
        schedule::Stage& own = s.schedule[s.results.at(0)];
        own.Split(own.axis(1), 5);
        if (!(s.outputs[0] == s.results[0]))
          s.schedule[s.outputs[0]].Parallel(s.outputs[0].axis(0));
      });
  EXPECT_EQ(StartupErrors(), "");
  EXPECT_EQ(ops::OpRegistry::Global().Definition("my.rows_scheduled").relation_name, "Same");
  const ir::Module module =
      Parsed("def @main(%x: Tensor[(3, 7), float32]) { exp(negative(my.rows_scheduled(%x))) }");
  const Executable exe = ValueOrThrow(Compile(module));
  ASSERT_EQ(exe.kernels().size(), 1U);
  EXPECT_EQ(calls, 1);
  EXPECT_THAT(exe.kernels()[0]->Text(jit::KernelText::kSchedule),
              AllOf(HasSubstr("Split"), HasSubstr("Parallel"), HasSubstr("ComputeInline")));
  const runtime::Inputs inputs = RandomInputs(module, 1);
  ExpectClose(ValueOrThrow(exe.Run(inputs)), Interpreted(module, inputs));
}

TEST(AuthorRowsTest, AnIllegalScheduleNamesTheOperatorAndTheStage) {
  OpRegistration("my.rows_misscheduled")
      .Argument("data", "Tensor", "input")
      .TypeRelation(ops::Identity)
      .Compute([](const TeCall& call) { return Doubled(call, 2); })
      .Schedule(
          [](const OpSchedule& s) { s.schedule[s.results[0]].Split(s.results[0].axis(0), 0); });
  EXPECT_EQ(StartupErrors(), "");
  const absl::Status status =
      Compile(Parsed("def @main(%x: Tensor[(3, 7), float32]) { my.rows_misscheduled(%x) }"))
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("the factor is 0"), HasSubstr("its schedule of my.rows_misscheduled"),
                    HasSubstr("author_rows_test.cc")));
}

TEST(AuthorRowsTest, AScheduleThatCannotBeLoweredNamesTheOperatorAndTheRow) {
  OpRegistration("my.rows_nested")
      .Argument("data", "Tensor", "input")
      .TypeRelation(ops::Identity)
      .Compute([](const TeCall& call) { return Doubled(call, 2); })
      .Schedule([](const OpSchedule& s) {
        const te::Tensor& out = s.results[0];
        s.schedule[out].Parallel(out.axis(0)).Parallel(out.axis(1));
      });
  EXPECT_EQ(StartupErrors(), "");
  const absl::Status status =
      Compile(Parsed("def @main(%x: Tensor[(3, 7), float32]) { my.rows_nested(%x) }")).status();
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("parallel loops may not nest"),
                    HasSubstr("under the author's schedule of my.rows_nested, row plain")));
}

TEST(AuthorRowsTest, SchedulesThatCannotBeUsedAreErrorsOfTheRegistration) {
  const ScheduleFunction schedule = [](const OpSchedule&) {};
  OpRegistration("my.rows_early").Schedule(schedule);
  EXPECT_THAT(StartupErrors(), HasSubstr("call .Schedule after .Compute"));
  OpRegistration("my.rows_two")
      .Compute([](const TeCall& call) { return Doubled(call, 2); })
      .Schedule(nullptr)
      .Schedule(schedule)
      .Schedule(schedule);
  EXPECT_THAT(StartupErrors(),
              AllOf(HasSubstr("its schedule is no function"), HasSubstr("it has two schedules")));
}

TEST(AuthorRowsTest, AnOperatorTakesAnyNumberOfArgumentsAndALayoutRule) {
  OpRegistration("my.rows_sum")
      .Variadic()
      .TypeRelation([](ops::TypeCall& call) { call.LearnResult(call.input(0)); })
      .Pattern(ops::OpPattern::kElemWise)
      .Layout([](const ops::LayoutQuestion& question) {
        const std::string layout = ops::WantedLayout(question, 0);
        return ops::LayoutAnswer{std::vector<std::string>(question.new_inputs.size(), layout),
                                 layout, question.attrs};
      })
      .Compute([](const TeCall& call) {
        return std::vector<te::Tensor>{
            te::Compute(call.te_shape(), [&](const std::vector<te::Var>& i) {
              te::Expr sum = call.input(0)[ToExprs(i)];
              for (std::size_t k = 1; k < call.inputs.size(); ++k)
                sum = sum + call.input(k)[ToExprs(i)];
              return sum;
            })};
      });
  OpRegistration("my.rows_no_rule").Layout(nullptr);
  EXPECT_THAT(StartupErrors(), HasSubstr("its layout rule is no function"));
  const ir::Module module = Parsed(
      "def @main(%x: Tensor[(1, 4, 5, 5), float32], %w: Tensor[(4, 4, 1, 1), float32]) { "
      "%0 = nn.conv2d(%x, %w); nn.conv2d(my.rows_sum(%0, %0, %0), %w) }");
  const ir::Module converted =
      passes::ConvertLayout(passes::InferType(module), {{"nn.conv2d", {"NHWC"}}});
  EXPECT_THAT(ir::PrintModule(converted), HasSubstr("my.rows_sum(%2, %2, %2)"));
  const runtime::Inputs inputs = RandomInputs(module, 1);
  ExpectClose(Interpreted(converted, inputs), Interpreted(module, inputs), 1e-5);
}

TEST(AuthorRowsTest, EachFieldOfATupleHasItsShapeAndType) {
  OpRegistration("my.rows_pair")
      .Argument("data", "Tensor", "input")
      .TypeRelation([](ops::TypeCall& call) {
        const auto* data = call.tensor(0);
        if (data == nullptr) return;
        call.LearnResult(ir::TupleType({call.input(0), ir::TensorType({data->shape[0]}, Int32)}));
      })
      .Compute([](const TeCall& call) {
        EXPECT_EQ(call.shape(1).size(), 1U);
        EXPECT_EQ(call.dtype(1), Int32);
        EXPECT_THAT(std::string(CatchErrors([&] { (void)call.shape(2); }).message()),
                    HasSubstr("field 2 of the result is asked for; it has 2"));
        return std::vector<te::Tensor>{
            Doubled(call, 2)[0],
            te::Compute(call.te_shape(1), [](te::Var) { return loop::IntImm(Int32, 7); })};
      });
  const ir::Module module = Parsed("def @main(%x: Tensor[(3, 2), float32]) { my.rows_pair(%x) }");
  const auto results = ValueOrThrow(ValueOrThrow(Compile(module)).Run(RandomInputs(module, 1)));
  EXPECT_EQ(results.at(1).ToVector<std::int32_t>(), (std::vector<std::int32_t>{7, 7, 7}));
}

}  // namespace
}  // namespace tenon::strategies
