// The table of loop transforms, and its driver.
#include "tenon/loop/pipeline.h"

#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/loop/print.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon_test_paths.h"

namespace tenon::loop {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Var i("i"), j("j"), n("n");
const Buffer a = Buffer::Make("A", Float32, {8, 8}), b = Buffer::Make("B", Float32, {8, 8});

Stmt Same(const Stmt& stmt, const TransformContext&) { return stmt; }
bool Never(const TransformContext&) { return false; }

// A row of lowering that does nothing.
Transform Row(Facts needs, Facts ensures, Facts breaks = {}) {
  return {.name = "Row",
          .phase = Phase::kLowering,
          .run = Same,
          .needs = needs,
          .ensures = ensures,
          .breaks = breaks};
}
const Transform flatten = Row({Fact::kShapedBuffers}, {Fact::kFlatBuffers}, {Fact::kShapedBuffers}),
                expand = Row({Fact::kFlatBuffers}, {Fact::kNoVectorLoops});

TEST(OrderErrorTest, AcceptsARowAfterWhatItNeeds) {
  EXPECT_EQ(OrderError(std::vector{flatten, expand}), nullptr);
}

TEST(OrderErrorTest, RefusesARowBeforeWhatItNeeds) {
  EXPECT_STREQ(OrderError(std::vector{expand, flatten}),
               "a row needs a fact that no row before it ensures");
}

TEST(OrderErrorTest, RefusesARowAfterWhatItNeedsIsBroken) {
  EXPECT_STREQ(OrderError(std::vector{flatten, expand, Row({Fact::kShapedBuffers}, {})}),
               "a row needs a fact that no row before it ensures");
}

TEST(OrderErrorTest, ARowThatDoesNotAlwaysRunEnsuresNothing) {
  Transform sometimes = expand;
  sometimes.when = Never;
  EXPECT_STREQ(OrderError(std::vector{flatten, sometimes}),
               "a row that does not always run ensures a fact");
}

TEST(OrderErrorTest, ARowDoesNotBreakWhatItEnsures) {
  EXPECT_STREQ(
      OrderError(std::vector{flatten, Row({}, {Fact::kNoVectorLoops}, {Fact::kNoVectorLoops})}),
      "a row breaks a fact that it ensures");
}

TEST(OrderErrorTest, PhasesEndInLoopsThatCodeCanBeMadeOf) {
  EXPECT_STREQ(OrderError(std::vector{flatten}), "a phase ends without a fact");
  Transform vectors = Row({}, {}, {Fact::kNoVectorLoops});
  vectors.phase = Phase::kCodegen;
  EXPECT_STREQ(OrderError(std::vector{flatten, expand, vectors}), "a phase ends without a fact");
}

TEST(LoopTransformsTest, StandInThisOrder) {
  EXPECT_THAT(StepNames(),
              ElementsAre("Nests", "StreamResults", "AlignStreams", "AlignTransposes",
                          "FetchTransposes", "ShiftTiles", "VectorizeReductions", "BalanceParallel",
                          "HoistGuards", "PartitionLoops", "PartitionSelects", "FlattenBuffers",
                          "StageTransposedMath", "VectorizeLoops", "TransposeTiles", "UnrollLoops",
                          "AutoUnroll", "PromoteAccumulators", "ShareMemory", "VectorizeCopies",
                          "VectorizeSums", "VectorizeNewLoops", "FuseLoops", "NameIndices"));
}

TEST(LoopTransformsTest, NamesAreUnique) {
  const std::vector<std::string> names = StepNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
}

TEST(LoopTransformsTest, TheirReferenceIsTheTable) {
  std::ifstream file(StrCat(TENON_SOURCE_DIR, "/docs/loops.md"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr(PipelineMarkdown()))
      << "the table has changed; this one belongs into docs/loops.md:\n"
      << PipelineMarkdown();
}

// A[i, j] = B[j, i] with vectors along j.
Function Transposed() {
  const Stmt inner =
      For(j, 0, 8, ForKind::kVectorized, Store(a, Load(b, {Expr(j), Expr(i)}), {Expr(i), Expr(j)}));
  return {.name = "transposed",
          .buffers = {a, b},
          .scalars = {},
          .body = For(i, 0, 8, ForKind::kSerial, inner)};
}

TEST(RunPipelineTest, TellsEachStepOfAPhase) {
  const Function function = Transposed();
  std::vector<std::string> names;
  std::map<std::string, std::string> changed;
  const PipelineOptions options{.verify = true, .observer = [&](const PipelineStep& step) {
                                  EXPECT_EQ(step.name,
                                            StepNames()[static_cast<std::size_t>(step.number)]);
                                  EXPECT_EQ(step.function.name, "transposed");
                                  names.emplace_back(step.name);
                                  if (step.changed)
                                    changed.emplace(step.name, Print(step.function.body.stmt()));
                                }};
  const TransformContext context{.function = &function};
  const Stmt lowered = RunPipeline(Phase::kLowering, function.body, context, options);
  RunPipeline(Phase::kCodegen, lowered, context, options);
  EXPECT_EQ(names, StepNames());
  EXPECT_THAT(changed.at("Nests"), HasSubstr("vectorized j in [0, 8)"));
  EXPECT_THAT(changed.at("FlattenBuffers"), HasSubstr("A[((i * 8) + j)] = B[((j * 8) + i)]"));
  EXPECT_THAT(changed.at("VectorizeLoops"), HasSubstr("ramp"));
  EXPECT_EQ(changed.size(), 3U);
}

TEST(RunPipelineTest, StepsWhoseConditionFailsAreToldAndDoNotRun) {
  const Buffer terms = Buffer::Make("T", Float32, {8000}), sum = Buffer::Make("S", Float32, {8});
  const Function function{.name = "sum", .buffers = {sum, terms}, .scalars = {}, .body = Stmt()};
  const Stmt sums = For(
      i, 0, 8, ForKind::kSerial,
      For(j, 0, 1000, ForKind::kSerial,
          Store(sum, Load(sum, {i}) + Load(terms, {i * 1000 + j}), {i}, StoreKind::kReassociated)));
  for (const bool reassociate : {false, true}) {
    int told = 0;
    RunPipeline(Phase::kCodegen, sums, {.function = &function, .reassociate_sums = reassociate},
                {.verify = true, .observer = [&](const PipelineStep& step) {
                   if (step.name != "VectorizeSums") return;
                   ++told;
                   EXPECT_EQ(step.changed, reassociate);
                 }});
    EXPECT_EQ(told, 1);
  }
}

TEST(RunPipelineTest, ABrokenRuleNamesTheStepAfterWhichItIsFound) {
  const Function function{.name = "f", .buffers = {a}, .scalars = {}, .body = Stmt()};
  const Stmt unknown = Store(a, Cast(Float32, n), {0, 0});
  try {
    RunPipeline(Phase::kLowering, unknown, {.function = &function}, {.verify = true});
    FAIL() << "a variable that is not defined is accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInternal);
    EXPECT_THAT(error.what(), HasSubstr("a variable is defined where it is used: n"));
    EXPECT_THAT(error.what(), HasSubstr("after the loop transform Nests"));
  }
}

TEST(RunPipelineTest, LoopsThatNoStepChangesStayTheSameNode) {
  const Function function{.name = "f", .buffers = {a}, .scalars = {}, .body = Stmt()};
  const Stmt store = Store(a, 1.0F, {0});
  EXPECT_TRUE(RunPipeline(Phase::kCodegen, store, {.function = &function}) == store);
}

// for i: A[i, 0] = 1
const Stmt ones = For(i, 0, 8, ForKind::kSerial, Store(a, 1.0F, {i, 0}));

Stmt RunWith(std::vector<UserTransform> transforms, PipelineObserver observer = nullptr) {
  const Function function{.name = "f", .buffers = {a}};
  return RunPipeline(Phase::kLowering, ones, {.function = &function},
                     {.observer = std::move(observer), .transforms = std::move(transforms)});
}

TEST(UserTransformTest, RunsAfterTheStepThatItNames) {
  // Twos for ones.
  class Doubler : public StmtMutator {
    Stmt MutateStmt(const Stmt& stmt) override {
      const auto* store = stmt.As<StoreNode>();
      return store == nullptr ? MutateStmtChildren(stmt)
                              : Store(store->buffer, 2.0F, store->indices);
    }
  };
  std::vector<std::string> steps;
  const Stmt twos = RunWith({{.name = "Double",
                              .after = "FlattenBuffers",
                              .run =
                                  [](const Stmt& body, const Function& function) {
                                    EXPECT_EQ(function.name, "f");
                                    return Doubler()(body);
                                  }}},
                            [&](const PipelineStep& step) { steps.emplace_back(step.name); });
  EXPECT_THAT(Print(twos), HasSubstr("A[(i * 8)] = 2f"));
  const auto at = std::find(steps.begin(), steps.end(), "Double");
  ASSERT_NE(at, steps.end());
  EXPECT_EQ(*(at - 1), "FlattenBuffers");
}

template <typename Body>
std::string RefusalOf(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    return error.what();
  }
  return "no error";
}

TEST(UserTransformTest, MisuseIsRefusedInWords) {
  const auto same = [](const Stmt& body, const Function&) { return body; };
  EXPECT_THAT(
      RefusalOf([&] { RunWith({{.name = "T", .after = "Nowhere", .run = same}}); }),
      HasSubstr("loop pipeline: transform T is to run after Nowhere; the steps are: Nests,"));
  EXPECT_THAT(RefusalOf([&] { RunWith({{.name = "T", .after = "Nests", .run = nullptr}}); }),
              HasSubstr("transform T has no function"));
  EXPECT_THAT(RefusalOf([&] {
                RunWith({{.name = "T", .after = "Nests", .run = [](const Stmt&, const Function&) {
                            return Stmt();
                          }}});
              }),
              HasSubstr("transform T gives no statement"));
  EXPECT_THAT(RefusalOf([&] {
                RunWith({{.name = "T", .after = "Nests", .run = [](const Stmt&, const Function&) {
                            return Store(b, 1.0F, {0, 0});
                          }}});
              }),
              HasSubstr("the loops that transform T gives break a rule"));
}

}  // namespace
}  // namespace tenon::loop
