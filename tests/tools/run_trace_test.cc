// tenon run --trace: which thread did what when.
#include <set>

#include <nlohmann/json.hpp>

#include "tenon/tests/testing/cli_testing.h"

namespace tenon::tools {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class RunTraceTest : public CliTest {};

TEST_F(RunTraceTest, KernelsAndTheSharesOfThreadsStandInTheFile) {
  Write("two.relay",
        "def @main(%x: Tensor[(512, 512), float32]) {\n"
        "  %0 = exp(%x);\n  reshape(transpose(%0), newshape=[512, 512])\n}\n");
  OutputOf("run %/two.relay --library te --threads 2 --repeat 3 --trace %/trace.json");
  const auto trace = nlohmann::json::parse(Contents(Path("trace.json")));
  std::set<std::string> kernels;
  for (const auto& event : trace["traceEvents"]) {
    if (event["ph"] == "M") continue;
    EXPECT_EQ(event["ph"], "X");
    EXPECT_GE(event["ts"], 0);
    EXPECT_GE(event["dur"], 0);
    EXPECT_LT(event["tid"], 2);
    if (event["cat"] != "kernel") continue;
    EXPECT_EQ(event["tid"], 0);
    EXPECT_TRUE(kernels.insert(event["name"]).second) << "of the last run alone";
    EXPECT_THAT(std::string(event["args"]["implementation"]), HasSubstr("tenon"));
  }
  EXPECT_FALSE(kernels.empty());
  // A share is within the kernel that it names.
  for (const auto& share : trace["traceEvents"]) {
    if (share["ph"] == "M" || share["cat"] != "loop") continue;
    EXPECT_THAT(kernels, Contains(std::string(share["name"])));
    for (const auto& kernel : trace["traceEvents"]) {
      if (kernel["ph"] == "M" || kernel["cat"] != "kernel" || kernel["name"] != share["name"])
        continue;
      EXPECT_GE(share["ts"], kernel["ts"]);
      EXPECT_LE(double(share["ts"]) + double(share["dur"]),
                double(kernel["ts"]) + double(kernel["dur"]) + 0.01);
    }
  }
}

TEST_F(RunTraceTest, AFileThatCannotBeWrittenIsNamedBeforeTheRun) {
  EXPECT_THAT(ErrorOf("run %/model.relay --trace %/absent/trace.json"), HasSubstr("absent"));
}

}  // namespace
}  // namespace tenon::tools
