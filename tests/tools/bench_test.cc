// tenon bench: its figures.
#include <nlohmann/json.hpp>

#include "tenon/tests/testing/cli_testing.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class BenchTest : public CliTest {};

TEST_F(BenchTest, TellsTimesInOrder) {
  const auto summary =
      nlohmann::json::parse(OutputOf("bench %/model.relay --seconds 0.01 --threads 1 --json"));
  EXPECT_GE(summary["runs"], 10);
  EXPECT_EQ(summary["kernels"], 1);
  EXPECT_GT(summary["least_s"], 0);
  EXPECT_LE(summary["least_s"], summary["median_s"]);
  EXPECT_LE(summary["median_s"], summary["p90_s"]);
  EXPECT_LE(summary["p90_s"], summary["p99_s"]);
  EXPECT_GT(summary["peak_bytes"], 1 << 20);
  EXPECT_THAT(OutputOf("bench %/model.relay --seconds 0"),
              AllOf(HasSubstr("least"), HasSubstr("10 runs"), HasSubstr("1 kernels")));
  for (const char* wrong : {"-1", "nan", "inf", "-inf", "3601", "1e400", "one", "1x"})
    EXPECT_THAT(ErrorOf(StrCat("bench %/model.relay --seconds='", wrong, "'")),
                AllOf(HasSubstr("--seconds"), HasSubstr("it may be a number from 0 to 3600")));
  EXPECT_THAT(ErrorOf("bench %/absent.onnx"), HasSubstr("absent.onnx"));
}

TEST_F(BenchTest, FloorsStandBesideTheTimesOfKernels) {
  const auto report =
      nlohmann::json::parse(OutputOf("bench %/model.relay --threads 1 --floors --json"));
  ASSERT_EQ(report["kernels"].size(), 1U);
  const auto& kernel = report["kernels"][0];
  EXPECT_EQ(kernel["operations"], 2 * 2 * 3 * 4 + 2 * 4);
  EXPECT_EQ(kernel["bytes"], 4 * (2 * 3 + 4 * 3 + 2 * 4));
  EXPECT_GT(kernel["floor_s"], 0);
  EXPECT_GT(kernel["seconds"], 0);
  EXPECT_EQ(report["machine"]["threads"], 1);
  EXPECT_THAT(OutputOf("bench %/model.relay --threads 1 --floors"),
              AllOf(HasSubstr("GFLOP/s"), HasSubstr("bound by"), HasSubstr(" %  all\n")));
  Write("rows.relay", "def @main(%x: Tensor[(n, 32), float32]) { exp(%x) }\n");
  const auto of_rows =
      nlohmann::json::parse(OutputOf("bench %/rows.relay --floors --json --extent n=7"));
  EXPECT_EQ(of_rows["kernels"][0]["bytes"], 4 * 2 * 7 * 32);
}

TEST_F(BenchTest, ExtentsThatNobodyGaveAreNamedWhereTheyDoNotFit) {
  Write("pieces.relay",
        "def @main(%x: Tensor[(n), float32], %y: Tensor[(32), float32]) { add(%x, %y) }\n");
  for (const char* command : {"bench %/pieces.relay --seconds 0", "bench %/pieces.relay --floors",
                              "run %/pieces.relay", "explore %/pieces.relay -o %/report.html"})
    EXPECT_THAT(ErrorOf(command), HasSubstr("the inputs are random, with n = 16; --extent "
                                            "NAME=VALUE gives a variable another value"))
        << command;
  EXPECT_THAT(ErrorOf("run %/pieces.relay --extent n=7"), Not(HasSubstr("random")));
  EXPECT_THAT(OutputOf("run %/pieces.relay --extent n=32"), HasSubstr("float32 (32,)"));
}

TEST_F(BenchTest, TellsWhatBecameOfShapes) {
  Write("rows.relay", "def @main(%x: Tensor[(n, 32), float32]) { exp(%x) }\n");
  const std::string rows = "bench %/rows.relay --threads 1 --extent n=7 ";
  const auto plain = nlohmann::json::parse(OutputOf(rows + "--seconds 0 --json"));
  EXPECT_EQ(plain["remade_kernels"], 0);
  EXPECT_FALSE(plain.contains("hot"));
  EXPECT_THAT(OutputOf(rows + "--seconds 0"), HasSubstr("shapes   runs made 0 kernels again\n"));
  const auto hot = nlohmann::json::parse(OutputOf(rows + "--seconds 3 --hot-after 2 --json"));
  EXPECT_EQ(hot["hot"]["compiled"], 1);
  EXPECT_EQ(hot["hot"]["kept"].get<int>() + hot["hot"]["dropped"].get<int>(), 1);
  EXPECT_GT(hot["hot"]["common_runs"], 2);
  EXPECT_FALSE(nlohmann::json::parse(OutputOf("bench %/model.relay --seconds 0 --json"))
                   .contains("remade_kernels"));
}

TEST_F(BenchTest, HotShapesAreThoseOfAModelWithVariables) {
  Write("rows.relay", "def @main(%x: Tensor[(n, 32), float32]) { exp(%x) }\n");
  EXPECT_THAT(OutputOf("run %/rows.relay --extent n=7 --repeat 5 --hot-after 9"),
              HasSubstr("runs made 0 kernels again; 0 hot shapes compiled, 0 kept, 0 "
                        "dropped; 5 runs of the compile for all shapes\n"));
  EXPECT_THAT(ErrorOf("run %/model.relay --hot-after 3"), HasSubstr("the model has one shape"));
  Write("if.relay",
        "def @main(%c: bool, %x: Tensor[(n), float32]) { if (%c) { exp(%x) } else { %x } }\n");
  EXPECT_THAT(ErrorOf("bench %/if.relay --extent n=7 --hot-after 3"),
              HasSubstr("--hot-after: the model has control flow"));
  EXPECT_THAT(ErrorOf("run %/rows.relay --extent n=7 --hot-after 0"), HasSubstr("--hot-after"));
  EXPECT_THAT(ErrorOf("run %/rows.relay --extent n=7 --hot-after 3 --profile"),
              HasSubstr("--hot-after"));
}

}  // namespace
}  // namespace tenon::tools
