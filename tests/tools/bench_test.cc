// tenon bench: its figures.
#include <nlohmann/json.hpp>

#include "tenon/tests/tools/cli_testing.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace tenon::tools
