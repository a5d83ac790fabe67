// tenon explore: what its page holds, and what it refuses.
#include <set>

#include <nlohmann/json.hpp>

#include "tenon/tests/testing/cli_testing.h"

namespace tenon::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The data of a page of tenon explore.
nlohmann::json DataOf(const std::string& page) {
  const std::string begin = "<script type=\"application/json\" id=\"report\">";
  const std::size_t from = page.find(begin) + begin.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

class ExploreTest : public CliTest {
 protected:
  std::string Page() const { return Contents(Path("page.html")); }
};

TEST_F(ExploreTest, WritesAPageOfEveryKernelAtEveryStage) {
  EXPECT_EQ(Tenon("explore %/model.relay --library te --repeat 3 -o %/page.html").code, 0);
  const nlohmann::json report = DataOf(Page());
  ASSERT_EQ(report["kernels"].size(), 1U);
  EXPECT_EQ(report["kernels"][0]["implementation"], "te.dense.plain");
  const auto& texts = report["kernels"][0]["texts"];
  EXPECT_THAT(texts["graph"].get<std::string>(), HasSubstr("Primitive=1"));
  EXPECT_THAT(texts["choice"].get<std::string>(), HasSubstr("te.dense.plain: chosen"));
  EXPECT_THAT(texts["loops"].get<std::string>(), HasSubstr("function "));
  EXPECT_THAT(texts["llvm"].get<std::string>(), HasSubstr("define "));
  EXPECT_THAT(texts["asm"].get<std::string>(), HasSubstr("ret"));
  EXPECT_FALSE(texts["te"].get<std::string>().empty());
  ASSERT_EQ(report["nodes"].size(), 1U);
  EXPECT_EQ(report["nodes"][0]["kernel"], 0);
  EXPECT_GT(report["nodes"][0]["ns"], 0);
  EXPECT_EQ(report["repeat"], 3);
}

TEST_F(ExploreTest, NamesTheCodeOfALibraryAndKeepsMarkupOutOfThePage) {
  Write("<b>.relay", "def @main(%x: Tensor[(9), float32]) { exp(%x) }");
  EXPECT_EQ(Tenon("explore '%/<b>.relay' -o %/page.html").code, 0);
  EXPECT_THAT(Page(), Not(HasSubstr("<b>")));
  EXPECT_THAT(DataOf(Page())["model"].get<std::string>(), HasSubstr("<b>.relay"));
  EXPECT_EQ(Tenon("explore %/model.relay --library onednn -o %/page.html").code, 0);
  EXPECT_THAT(DataOf(Page())["kernels"][0]["library"].get<std::string>(), HasSubstr("onednn"));
}

TEST_F(ExploreTest, AModelForAllExtentsIsTimedWhereItsVariablesHaveValues) {
  Write("rows.relay",
        "def @main(%x: Tensor[(n, 32), float32], %y: Tensor[(2 * n, 32), float32]) {\n"
        "  (nn.softmax(%x), nn.softmax(%y))\n}\n");
  EXPECT_EQ(Tenon("explore %/rows.relay --extent n=5 --repeat 3 -o %/page.html").code, 0);
  const nlohmann::json report = DataOf(Page());
  EXPECT_EQ(report["extents"], nlohmann::json({{"n", 5}}));
  EXPECT_EQ(report["kernels"].size(), 1U) << "one for both inputs";
  std::multiset<int> bytes;
  for (const auto& kernel : report["floors"]["kernels"]) bytes.insert(kernel["bytes"].get<int>());
  EXPECT_EQ(bytes, std::multiset<int>({4 * 2 * 5 * 32, 4 * 2 * 10 * 32}));
  EXPECT_THAT(ErrorOf("explore %/rows.relay --extent m=5 -o %/page.html"),
              HasSubstr("--extent: the inputs have no variable m; they have n"));
}

TEST_F(ExploreTest, APageStaysWhereNoneCanBeMade) {
  Write("page.html", "an older page");
  EXPECT_THAT(ErrorOf("explore %/absent.relay -o %/page.html"), HasSubstr("absent.relay"));
  EXPECT_EQ(Page(), "an older page");
}

TEST_F(ExploreTest, SaysWhatIsMissing) {
  EXPECT_THAT(ErrorOf("explore %/model.relay"), HasSubstr("--out is required"));
  EXPECT_THAT(ErrorOf("explore %/model.relay -o /nowhere/page.html"),
              HasSubstr("the file /nowhere/page.html cannot be written"));
  EXPECT_THAT(ErrorOf("explore %/model.relay -o %/page.html --repeat 0"), HasSubstr("--repeat"));
}

}  // namespace
}  // namespace tenon::tools
