// Tuning: what records choose is what is compiled, and it stays right.
#include "tenon/tune/tune.h"

#include <algorithm>

#include "tenon/jit/kernel.h"
#include "tenon/strategies/register_op.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/tune/choices_testing.h"
#include "tenon/tune/best.h"
#include "tenon/tune/contest.h"
#include "tenon/tune/kernel.h"

namespace tenon::tune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Interpreted;
using testing_graphs::Parsed;
using testing_graphs::RandomInputs;

// Two products: one that has tiles, and elementwise work that has nothing to choose.
ir::Module Products() {
  return Parsed(
      "def @main(%x: Tensor[(37, 48), float32], %w: Tensor[(65, 48), float32]) {\n"
      "  nn.relu(nn.dense(%x, %w))\n}");
}

class TuneTest : public ChoiceTest {};

TEST_F(TuneTest, TheChoiceFollowsTheRecordAndTheResultStaysRight) {
  const ir::Module module = Products();
  const runtime::Inputs inputs = RandomInputs(module, 3);
  const auto expected = Interpreted(module, inputs);
  for (const char* text : {"te.dense.plain", "te.dense.tiled rows=2 vectors=3",
                           "te.dense.tiled rows=7 vectors=1", "te.dense.tiled rows=1 vectors=5"}) {
    const CompileOptions options = OptionsBy({Won(module, text)});
    const strategies::Choice choice = ChoiceIn(module, options);
    const strategies::ConfigValues values = choice.config.Values();
    const strategies::MeasuredChoice asked = ChoiceOf(Won(module, text));
    EXPECT_EQ(choice.implementation, asked.row);
    EXPECT_TRUE(std::ranges::includes(values, asked.config)) << choice.config.ToText();
    EXPECT_THAT(choice.Explanation(),
                HasSubstr("chosen, measured: 0.50 x of default, 40 rounds, "));
    ExpectClose(Compile(module, options).value().Run(inputs).value(), expected);
  }
}

TEST_F(TuneTest, WithoutRecordsNothingChanges) {
  const ir::Module module = Products();
  const CompileOptions options = OptionsBy({});
  const Lowered by_nothing = LoweredOf(module, {.threads = 1}),
                by_none = LoweredOf(module, options);
  const auto text = [](const Lowered& lowered) {
    return jit::TextOf(std::get<loop::Function>(lowered.kernels[0].choice.built.kernel),
                       jit::KernelText::kLoops)
        .value();
  };
  EXPECT_EQ(text(by_nothing), text(by_none));
}

TEST_F(TuneTest, TheCacheOfMachineCodeTellsChoicesApart) {
  const ir::Module module = Products();
  const runtime::Inputs inputs = RandomInputs(module, 3);
  const auto text = [&](const CompileOptions& options) {
    const Executable executable = Compile(module, options).value();
    ExpectClose(executable.Run(inputs).value(), Interpreted(module, inputs));
    return executable.kernels().at(0)->Text(jit::KernelText::kLoops);
  };
  const CompileOptions cached = {.threads = 1, .cache_dir = Path("cache")};
  const std::string usual = text(cached);
  for (int warm = 0; warm < 2; ++warm) {
    EXPECT_NE(text(OptionsBy({Won(module, "te.dense.tiled rows=2 vectors=2")}, cached)), usual);
    EXPECT_EQ(text(cached), usual);
  }
}

TEST_F(TuneTest, AChoiceThatIsRefusedTodayIsReportedAndLeftAside) {
  const ir::Module module = Products();
  const std::string usual = ChoiceIn(module, {.threads = 1}).implementation;
  const auto remark_of = [&](const Record& record) {
    const strategies::Choice choice = ChoiceIn(module, OptionsBy({record}));
    EXPECT_EQ(choice.implementation, usual);
    return choice.Explanation();
  };
  EXPECT_THAT(remark_of(Won(module, "te.dense.gone")),
              HasSubstr("measured choice te.dense.gone: left aside, there is no such row"));
  EXPECT_THAT(remark_of(Won(module, "te.dense.tiled rows=99")),
              HasSubstr("the choice rows=99 is none of its values"));
  EXPECT_THAT(remark_of(Won(module, "te.dense.tiled unroll=2")),
              HasSubstr("the schedule has no choice unroll; it has vectors, rows"));
  EXPECT_THAT(remark_of(Won(module, "te.dense.dot_tiled")), HasSubstr("left aside, the target"));
  Record stale = Won(module, "te.dense.plain");
  stale.over = "te.dense.former";
  EXPECT_THAT(remark_of(stale), HasSubstr("it was measured against te.dense.former"));
  stale = Won(module, "te.dense.tiled rows=2 vectors=2");
  const std::string now = stale.over;
  ASSERT_THAT(now, HasSubstr("te.dense.tiled "));
  stale.over = "te.dense.tiled rows=1 vectors=1";
  EXPECT_THAT(remark_of(stale), HasSubstr(StrCat("it was measured against ", stale.over,
                                                 ", and the default is now ", now)));
}

TEST_F(TuneTest, ARecordFromBeforeAChoiceExistedIsStillTaken) {
  const ir::Module module = Products();
  Record record = Won(module, "te.dense.tiled rows=2 vectors=2");
  const strategies::ConfigValues now = ChoiceIn(module, {.threads = 1}).config.Values();
  ASSERT_GT(now.size(), 1U);
  record.over = ChoiceText("te.dense.tiled", {*now.begin()});
  const strategies::Choice choice = ChoiceIn(module, OptionsBy({record}));
  EXPECT_THAT(choice.Explanation(), HasSubstr("chosen, measured"));
  EXPECT_EQ(choice.config.Values().at("rows"), 2);
}

TEST_F(TuneTest, TheContentOfAKernelIsThatOfItsLayerAlone) {
  const auto content = [](const std::string& text) {
    const Lowered lowered = LoweredOf(Parsed(text));
    return KernelsOf(lowered).at(0).content;
  };
  const std::string x = "%x: Tensor[(37, 48), float32]", w = "%w: Tensor[(65, 48), float32]";
  const std::string plain = content(StrCat("def @main(", x, ", ", w, ") { nn.dense(%x, %w) }"));
  // Kept by those who have records: a change here makes all of them void.
  EXPECT_EQ(plain, "1db40a5faeb92098");
  EXPECT_EQ(content("def @main(%left: Tensor[(37, 48), float32], %right: Tensor[(65, 48), float32])"
                    " {\n\n nn.dense(%left, %right) }"),
            plain);
  EXPECT_NE(content(StrCat("def @main(", x, ", ", w, ") { nn.relu(nn.dense(%x, %w)) }")), plain);
  EXPECT_NE(content("def @main(%x: Tensor[(38, 48), float32], %w: Tensor[(65, 48), float32]) {"
                    " nn.dense(%x, %w) }"),
            plain);
  EXPECT_NE(content("def @main(%x: Tensor[(37, 48), float16], %w: Tensor[(65, 48), float16]) {"
                    " nn.dense(%x, %w) }"),
            plain);
}

TEST_F(TuneTest, OneKernelAloneGivesWhatTheModelGives) {
  const ir::Module module = Products();
  const Lowered lowered = LoweredOf(module);
  const std::vector<ModelKernel> kernels = KernelsOf(lowered);
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(kernels[0].nodes.size(), 1U);
  Contender usual = MakeContender(kernels[0], nullptr, {}).value();
  Contender plain = MakeContender(kernels[0], Always("te.dense.plain", {}), {}).value();
  EXPECT_EQ(RowOf(plain.ChoiceText()), "te.dense.plain");
  EXPECT_EQ(DifferenceOf(plain.Results().at(0), usual.Results().at(0)), std::nullopt);
  std::vector<NDArray> wrong = {NDArray::Zeros({37, 65}, Float32)};
  EXPECT_THAT(DifferenceOf(wrong, usual.Results()[0]).value(), HasSubstr("by the default"));
  EXPECT_EQ(MakeContender(kernels[0], Always("te.dense.plain", {}), {}, {plain.ChoiceText()})
                .status()
                .code(),
            absl::StatusCode::kAlreadyExists);
}

// The operator of a test, whose default schedule is slow: it sums up columns one by one, where
// whole vectors of columns are beside each other.
constexpr const char* kSlow = "my.slow_by_default";

void RegisterSlow() {
  if (ops::OpRegistry::Global().Find(kSlow)) return;
  strategies::OpRegistration(kSlow)
      .Argument("data", "Tensor", "input")
      .TypeRelation(ops::Identity)
      .Pattern(ops::OpPattern::kOpaque)
      .Compute([](const strategies::TeCall& call) {
        const te::Tensor& x = call.input(0);
        const te::IterVar k = te::ReduceAxis(0, x.shape()[0], "k");
        return std::vector<te::Tensor>{te::Compute(call.te_shape(), [&](te::Var i, te::Var j) {
          return te::Sum(x(k.var, j) * x(i, j), {k});
        })};
      })
      .Schedule([](const strategies::OpSchedule& s) {
        auto& stage = s.schedule[s.results[0]];
        if (s.config.Knob("vectors", {0, 1}) == 0) return;
        const auto [outer, lanes] = stage.Split(stage.axis(1), s.target.Lanes(4));
        stage.Reorder({outer, stage.reduce_axis(0), lanes});
        stage.Vectorize(lanes);
      });
}

ir::Module SlowModule() {
  RegisterSlow();
  return Parsed(StrCat("def @main(%x: Tensor[(64, 512), float32]) { ", kSlow, "(%x) }"));
}

TEST_F(TuneTest, AChoiceOfAUsersScheduleIsFoundKeptAndTaken) {
  const ir::Module module = SlowModule();
  Records records = Open("t.sqlite");
  TuneOptions options{.compile = {.threads = 1}, .seconds = 20};
  const TuneReport report = Tune(module, options, &records).value();
  ASSERT_EQ(report.kernels.size(), 1U);
  EXPECT_EQ(report.kernels[0].over, "te.plain vectors=0");
  ASSERT_TRUE(report.kernels[0].alone) << ToText(report);
  EXPECT_EQ(report.kernels[0].alone->choice, "te.plain vectors=1");
  EXPECT_LT(report.kernels[0].alone->ratio, 0.8);
  EXPECT_TRUE(report.kept) << ToText(report);
  for (const Record& record : ValueOrThrow(records.Find())) {
    EXPECT_GT(record.floor_s, 0) << ToString(record.scope);
    EXPECT_LT(record.floor_s, record.default_least_s) << ToString(record.scope);
  }
  options.compile.measured = ChoicesFor(records, options.compile.target, 1).value();
  const strategies::Choice choice = ChoiceIn(module, options.compile);
  EXPECT_EQ(choice.config.ToText(), "vectors=1");
  const runtime::Inputs inputs = RandomInputs(module, 1);
  ExpectClose(Compile(module, options.compile).value().Run(inputs).value(),
              Interpreted(module, inputs));
  // The next run goes on: what lost is not raced again.
  EXPECT_EQ(Tune(module, {.compile = {.threads = 1}, .seconds = 20}, &records).value().raced, 1);
}

// Twice as fast and wrong: a row of a user's who forgets the last half.
void RegisterWrong() {
  constexpr const char* kName = "my.row_is_wrong";
  if (ops::OpRegistry::Global().Find(kName)) return;
  const auto sum = [](const strategies::TeCall& call, std::int64_t terms) {
    const te::IterVar k = te::ReduceAxis(0, terms, "k");
    return std::vector<te::Tensor>{te::Compute(call.te_shape(), [&](te::Var i, te::Var j) {
      return te::Sum(call.input(0)(k.var, j) * call.input(0)(i, j), {k});
    })};
  };
  strategies::OpRegistration(kName)
      .Argument("data", "Tensor", "input")
      .TypeRelation(ops::Identity)
      .Pattern(ops::OpPattern::kOpaque)
      .Compute([sum](const strategies::TeCall& call) { return sum(call, call.shape()[0]); })
      .Form(
          {.name = "half",
           .make = [sum](const strategies::TeCall& call) { return sum(call, call.shape()[0] / 2); },
           .priority = -1});
}

TEST_F(TuneTest, AFasterRowWithOtherResultsIsRefusedAndNamed) {
  RegisterWrong();
  Records records = Open("t.sqlite");
  const TuneReport report =
      Tune(Parsed("def @main(%x: Tensor[(32, 64), float32]) { my.row_is_wrong(%x) }"),
           {.compile = {.threads = 1}, .seconds = 10}, &records)
          .value();
  ASSERT_FALSE(report.kernels.at(0).wrong.empty());
  EXPECT_THAT(report.kernels[0].wrong[0], AllOf(HasSubstr("te.half"), HasSubstr("by the default")));
  EXPECT_THAT(ToText(report), HasSubstr("refused for its results"));
  for (const Record& record : ValueOrThrow(records.Find()))
    EXPECT_NE(RowOf(record.choice), "te.half");
}

TEST_F(TuneTest, TheDefaultWinsWhenNothingBeatsIt) {
  // One row, and too few elements for a choice.
  const ir::Module module = Parsed("def @main(%x: Tensor[(5), float32]) { exp(%x) }");
  Records records = Open("t.sqlite");
  const TuneReport report = Tune(module, {.seconds = 5}, &records).value();
  EXPECT_EQ(report.raced, 0);
  EXPECT_FALSE(report.model);
  EXPECT_TRUE(records.Find().value().empty());
}

TEST_F(TuneTest, AStoppedRunKeepsWhatItHasFound) {
  const ir::Module module = SlowModule();
  Records records = Open("t.sqlite");
  bool stopped = false;
  TuneOptions options{.compile = {.threads = 1}, .seconds = 1000};
  options.progress = [&](const TuneProgress&) { stopped = true; };
  options.stopped = [&] { return stopped; };
  const TuneReport report = Tune(module, options, &records).value();
  EXPECT_EQ(report.raced, 1);
  EXPECT_FALSE(records.Find({.target = TargetText(options.compile.target)}).value().empty());
}

TEST_F(TuneTest, AWholeModelThatIsSlowerKeepsNothing) {
  const ir::Module module = Products();
  Records records = Open("t.sqlite");
  // A record that lies: plain sums are several times as slow.
  ASSERT_TRUE(records.Add(Won(module, "te.dense.plain"), "text").ok());
  const TuneReport report =
      Tune(module, {.compile = {.threads = 1}, .seconds = 0}, &records).value();
  ASSERT_EQ(report.kernels.size(), 1U);
  ASSERT_TRUE(report.kernels[0].in_model);
  EXPECT_GT(report.kernels[0].in_model->ratio, 1);
  EXPECT_TRUE(BestOf(records.Find().value()).empty());
}

}  // namespace
}  // namespace tenon::tune
