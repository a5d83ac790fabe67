// The calling thread measures, and others compile ahead of it.
#include "tenon/tune/local_crew.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/ops/builders.h"
#include "tenon/support/error.h"
#include "tenon/tune/cores.h"
#include "tenon/tune/records.h"

namespace tenon::tune {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

Worker::Model Product() {
  const ir::Expr a = ir::Var::Make("a", ir::TensorType({32, 64}, Float32));
  const ir::Expr b = ir::Var::Make("b", ir::TensorType({48, 64}, Float32));
  return {ir::Module::FromExpr(ops::Dense(a, b))};
}

// Of candidates of that kernel, by a crew whose kernels run on so many threads: which worker
// answered, in order.
std::vector<int> Answers(int threads, LocalCrew::Compiles compiles) {
  CompileOptions options;
  options.threads = threads;
  LocalCrew crew(
      Worker(Product, options),
      {.host = "h", .target = TargetText(options.target), .threads = threads}, [] { return false; },
      compiles);
  std::vector<int> free;
  for (int i = 0; i < crew.size(); ++i) free.push_back(crew.Wait(1)->worker);
  crew.Give(free.front(), BriefJob(), 60);
  const auto brief = std::get<ModelBrief>(crew.Wait(1)->what);
  const KernelBrief& kernel = brief.kernels.at(0);
  std::vector<Candidate> candidates;
  for (const int rows : {1, 2, 3, 4, 5, 6})
    candidates.push_back({"te.dense.tiled", {{"rows", rows}, {"vectors", 2}}});
  std::size_t next = 0;
  for (int worker = 0; worker < crew.size() && next < candidates.size(); ++worker)
    crew.Give(worker, TryJob{kernel.content, candidates[next++], {}}, 60);
  std::vector<int> workers;
  std::size_t raced = 0;
  while (const std::optional<Event> event = crew.Wait(1)) {
    workers.push_back(event->worker);
    const auto& outcome = std::get<Outcome>(event->what);
    EXPECT_EQ(outcome.wrong + outcome.unmeasured, "");
    const std::string rows = "rows=" + std::to_string(candidates[raced].config.at("rows"));
    if (outcome.record) {
      EXPECT_THAT(outcome.choice, HasSubstr(rows));
    } else {
      EXPECT_THAT(outcome.refused, AllOf(HasSubstr("was raced already"), HasSubstr(rows)));
    }
    ++raced;
    if (next < candidates.size())
      crew.Give(event->worker, TryJob{kernel.content, candidates[next++], {}}, 60);
  }
  EXPECT_EQ(raced, candidates.size());
  return workers;
}

TEST(LocalCrewTest, AnswersComeInTheOrderOfTheJobs) {
  const auto cores = CoresOfThisProcess();
  for (const int threads : {1, static_cast<int>(cores.size())}) {
    for (const auto compiles :
         {LocalCrew::Compiles::kAhead, LocalCrew::Compiles::kBeforeEachRace}) {
      const std::vector<int> workers = Answers(threads, compiles);
      ASSERT_THAT(workers, SizeIs(6));
      if (compiles == LocalCrew::Compiles::kBeforeEachRace || cores.size() < 2) {
        EXPECT_THAT(workers, Each(0));
      }
    }
  }
}

TEST(LocalCrewTest, TheCallingThreadRunsWhereItRanBefore) {
  const auto cores = CoresOfThisProcess();
  (void)Answers(1, LocalCrew::Compiles::kAhead);
  EXPECT_EQ(CoresOfThisProcess(), cores);
}

}  // namespace
}  // namespace tenon::tune
