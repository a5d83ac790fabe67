// Which commands take what the records say, and which do not.
#include <nlohmann/json.hpp>

#include "tenon/tests/testing/cli_testing.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/tune/choices_testing.h"

namespace tenon::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kModel =
    "def @main(%x: Tensor[(37, 48), float32], %w: Tensor[(65, 48), float32]) {\n"
    "  nn.relu(nn.dense(%x, %w))\n}\n";
// Of what is slower than the default, so that nobody would take it by himself.
constexpr const char* kChoice = "te.dense.plain";

class RecordsUseTest : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    Write("m.relay", kModel);
  }
  // The options that name a file where kChoice was raced with this result.
  std::string Raced(double ratio) {
    const std::string file = Path(StrCat("r", ratio, ".sqlite"));
    const tune::Record record = tune::Won(testing_graphs::Parsed(kModel), kChoice, ratio);
    over_ = record.over;
    EXPECT_TRUE(ValueOrThrow(tune::Records::Open(file, tune::Access::kWrite)).Add(record, "").ok());
    return StrCat(" --threads 1 --records ", file);
  }
  static std::string None() { return " --threads 1 --no-records"; }

  // What compile writes to a file of this name.
  std::string Compiled(const std::string& file, const std::string& more) {
    const Ended ended = Tenon(StrCat("compile %/m.relay --explain --name m -o %/", file, more));
    EXPECT_EQ(ended.code, 0) << ended.err;
    explained_ = ended.err;
    return Contents(Path(file));
  }

  std::string over_, explained_;
};

TEST_F(RecordsUseTest, CodeThatIsExportedIsWhatTheRecordsChoose) {
  const std::string by_records = Raced(0.5);
  for (const char* file : {"m.o", "m.so", "m.c"}) {
    const std::string usual = Compiled(file, None());
    EXPECT_THAT(explained_, Not(HasSubstr("measured")));
    EXPECT_EQ(Compiled(file, None()), usual) << file;
    EXPECT_NE(Compiled(file, by_records), usual) << file;
    EXPECT_THAT(explained_, HasSubstr("te.dense.plain: chosen, measured: 0.50 x"));
  }
}

TEST_F(RecordsUseTest, ReproducibleCodeIsTheSameWithRecords) {
  const std::string usual = Compiled("m.o", None() + " --reproducible");
  EXPECT_EQ(Compiled("m.o", Raced(0.5) + " --reproducible"), usual);
  EXPECT_THAT(explained_, Not(HasSubstr("measured")));
}

TEST_F(RecordsUseTest, ThePageOfAModelShowsWhatTheRecordsChoose) {
  const auto kernel = [&](const std::string& more) {
    EXPECT_EQ(Tenon("explore %/m.relay --repeat 3 -o %/page.html" + more).code, 0);
    const std::string page = Contents(Path("page.html"));
    const std::string begin = "<script type=\"application/json\" id=\"report\">";
    const std::size_t from = page.find(begin) + begin.size();
    return nlohmann::json::parse(
        page.substr(from, page.find("</script>", from) - from))["kernels"][0];
  };
  const auto by_records = kernel(Raced(0.5)), usual = kernel(None());
  EXPECT_EQ(by_records["implementation"], kChoice);
  EXPECT_THAT(std::string(by_records["texts"]["choice"]), HasSubstr("measured: 0.50 x of default"));
  EXPECT_NE(usual["implementation"], kChoice);
}

TEST_F(RecordsUseTest, FloorsStandBesideTheBestOfWhatWasRaced) {
  const auto best = [&](const std::string& more) {
    const auto report = nlohmann::json::parse(OutputOf("bench %/m.relay --floors --json" + more));
    return report["kernels"].at(0)["best"];
  };
  const std::string won = Raced(0.5);
  EXPECT_EQ(best(won), nlohmann::json({{"choice", kChoice}, {"ratio", 0.5}, {"raced", 1}}));
  EXPECT_THAT(
      OutputOf("bench %/m.relay --floors" + won),
      AllOf(HasSubstr("best by records"), HasSubstr("te.dense.plain  0.50 te.dense.plain")));
  // Where nothing has won, that is the default.
  EXPECT_EQ(best(Raced(1.5)), nlohmann::json({{"choice", over_}, {"ratio", 1.0}, {"raced", 1}}));
  EXPECT_EQ(best(None()), nullptr);
}

}  // namespace
}  // namespace tenon::tools
