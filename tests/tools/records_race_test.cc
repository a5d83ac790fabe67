#include "tenon/tools/records_race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tenon/ir/parser.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/kernel.h"

namespace tenon::tools {
namespace {

using ::testing::HasSubstr;

ir::Module Product(const char* rows) {
  return ValueOrThrow(ir::ParseModule(StrCat("def @main(%x: Tensor[(", rows,
                                             ", 48), float32], %w: Tensor[(65, 48), float32]) {\n"
                                             "  nn.relu(nn.dense(%x, %w))\n}"),
                                      ops::OpRegistry::Global().Resolver(), "test"));
}

TEST(RecordsRaceTest, AKernelThatIsChosenStandsBesideItsDefaultAndItsFloor) {
  CompileOptions options = {.threads = 1, .library = LibraryChoice::kTe};
  options.measured = tune::Always("te.dense.tiled", {{"rows", 2}, {"vectors", 1}});
  const RecordsRace race = RaceRecords(Product("37"), options, {}, 0);
  EXPECT_GE(race.rounds, 16);
  EXPECT_GT(race.model.ratio, 0);
  ASSERT_EQ(race.kernels.size(), 1U);
  const KernelRace& kernel = race.kernels[0];
  EXPECT_EQ(kernel.chosen, "te.dense.tiled rows=2 vectors=1");
  EXPECT_NE(kernel.usual, kernel.chosen);
  EXPECT_GT(kernel.default_s, 0);
  EXPECT_GT(kernel.by_records_s, 0);
  EXPECT_GT(kernel.floor_s, 0);
  EXPECT_THAT(RecordsRaceText(race), HasSubstr("1 of 1 kernels are chosen by records"));
  EXPECT_THAT(RecordsRaceText(race), HasSubstr("to te.dense.tiled rows=2 vectors=1"));
  const auto json = nlohmann::json::parse(RecordsRaceJson(race));
  EXPECT_EQ(json["kernels"][0]["chosen"], kernel.chosen);
  EXPECT_EQ(json["threads"], 1);
}

TEST(RecordsRaceTest, WithoutRecordsBothAreTheDefault) {
  for (const auto& [rows, given] :
       {std::pair<const char*, Dim::Values>{"37", {}}, {"n", {{"n", 5}}}, {"n", {}}}) {
    const RecordsRace race = RaceRecords(Product(rows), {.threads = 1}, given, 0);
    ASSERT_EQ(race.kernels.size(), 1U);
    EXPECT_EQ(race.kernels[0].usual, race.kernels[0].chosen);
    EXPECT_THAT(RecordsRaceText(race), HasSubstr("0 of 1 kernels are chosen by records"));
  }
}

TEST(RecordsRaceTest, AVariableThatThereIsNotIsRefused) {
  const auto refused = CatchErrors([] { return RaceRecords(Product("n"), {}, {{"m", 5}}, 0); });
  EXPECT_THAT(std::string(refused.status().message()), HasSubstr("m"));
}

}  // namespace
}  // namespace tenon::tools
