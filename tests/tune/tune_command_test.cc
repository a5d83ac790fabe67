// tenon tune and tenon records, as a user calls them.
#include <chrono>
#include <csignal>
#include <thread>

#include <nlohmann/json.hpp>

#include "tenon/tests/testing/cli_testing.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon/tests/tune/choices_testing.h"
#include "tenon/tests/tune/records_testing.h"
#include "tenon/tune/best.h"
#include "tenon_test_paths.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class TuneCommandTest : public CliTest {
 protected:
  std::string Tuned(const std::string& more) {
    return Tenon(StrCat("tune --op my.matmul --plugin ", TENON_MATMUL_PLUGIN,
                        " --threads 1 --shape a=64,96 --shape b=96,80 ", more))
        .out;
  }
  tune::Records Opened(const std::string& name) {
    return ValueOrThrow(tune::Records::Open(Path(name), tune::Access::kWrite));
  }
};

TEST_F(TuneCommandTest, RacesTheSpaceOfAUsersOperator) {
  EXPECT_THAT(Tuned("--minutes 0.1 --records %/r.sqlite"),
              AllOf(HasSubstr("candidates raced"), HasSubstr("r.sqlite")));
  const auto all = nlohmann::json::parse(OutputOf("records export --records %/r.sqlite"));
  ASSERT_FALSE(all.empty());
  EXPECT_THAT(std::string(all[0]["choice"]), HasSubstr("te.plain pack="));
  EXPECT_THAT(std::string(all[0]["over"]), HasSubstr("te.plain pack=0 rows=1 steps=1 vectors=1"));
  EXPECT_THAT(std::string(all[0]["text"]), HasSubstr("my.matmul"));
  const std::string content = all[0]["content"];
  EXPECT_THAT(OutputOf("records list --records %/r.sqlite"), HasSubstr(content));
  EXPECT_THAT(OutputOf("records show --records %/r.sqlite " + content.substr(0, 6)),
              AllOf(HasSubstr("my.matmul"), HasSubstr(" s; floor "), HasSubstr("rounds; tenon")));
  EXPECT_THAT(ErrorOf("records show --records %/r.sqlite zzz"), HasSubstr("begins with zzz"));
}

TEST_F(TuneCommandTest, AnOperatorIsMeasuredForTheRangesOfItsVariables) {
  const std::string tune =
      "tune --op nn.dense --shape data=n,64 --shape weight=32,64 --threads 1 --minutes 0.2 "
      "--records %/r.sqlite ";
  EXPECT_THAT(Tenon(tune + "--shapes data=1..33,64").out, HasSubstr("candidates raced"));
  const auto all = nlohmann::json::parse(OutputOf("records export --records %/r.sqlite"));
  ASSERT_FALSE(all.empty());
  EXPECT_THAT(std::string(all[0]["shapes"]), HasSubstr("=1..33"));
  EXPECT_THAT(ErrorOf(tune), HasSubstr("say the shapes that it is to be measured for"));
  EXPECT_THAT(ErrorOf(tune + "--shapes weight=32,64"),
              HasSubstr("these variables have no values: n"));
}

TEST_F(TuneCommandTest, EveryChoiceOfTheExampleIsRight) {
  Write("m.relay",
        "def @main(%a: Tensor[(37, 48), float32], %b: Tensor[(48, 83), float32]) {\n"
        "  nn.relu(my.matmul(%a, %b))\n}\n");
  const std::string with = StrCat(" --plugin ", TENON_MATMUL_PLUGIN);
  EXPECT_THAT(OutputOf("run %/m.relay --no-records --verify" + with), HasSubstr("verified"));
  const auto explained = [&](const std::string& more) {
    return Tenon(StrCat("compile %/m.relay --explain --emit=json -o %/plan.json --threads 1 ", with,
                        more))
        .err;
  };
  EXPECT_THAT(explained(""), HasSubstr("te.plain: chosen, the best"));
  EXPECT_THAT(Tenon("tune %/m.relay --threads 1 --minutes 0.2 --records %/r.sqlite" + with).out,
              HasSubstr("candidates raced"));
  // Whatever won: each in turn is made the best one.
  const std::vector<tune::Record> raced = ValueOrThrow(Opened("r.sqlite").Find());
  ASSERT_FALSE(raced.empty());
  for (std::size_t i = 0; i < std::min<std::size_t>(raced.size(), 4); ++i) {
    const std::string file = StrCat("one", i, ".sqlite");
    tune::Record won = raced[i];
    won.ratio = 0.5;
    won.noise = 0.01;
    ASSERT_TRUE(Opened(file).Add(won, "text").ok());
    const std::string by = StrCat(" --records ", Path(file));
    EXPECT_THAT(explained(by), HasSubstr("chosen, measured: 0.50 x of default"));
    EXPECT_THAT(OutputOf("run %/m.relay --threads 1 --verify" + with + by), HasSubstr("verified"));
  }
}

TEST_F(TuneCommandTest, RecordsInTheCacheFolderAreUsedUnlessTheyAreRefused) {
  const auto explained = [&](const std::string& more) {
    return Tenon("compile %/model.relay --explain --emit=json -o %/plan.json --threads 1 " + more)
        .err;
  };
  Write("model.relay",
        "def @main(%x: Tensor[(37, 48), float32], %w: Tensor[(65, 48), float32]) {\n"
        "  nn.relu(nn.dense(%x, %w))\n}\n");
  ASSERT_THAT(Tenon("tune %/model.relay --threads 1 --minutes 0.2").code, 0);
  const std::string file = Path("caches/tenon/records.sqlite");
  std::vector<tune::Record> raced =
      ValueOrThrow(ValueOrThrow(tune::Records::Open(file, tune::Access::kWrite)).Find());
  ASSERT_FALSE(raced.empty());
  raced[0].ratio = 0.25;
  raced[0].noise = 0;
  raced[0].date = "2099-01-01T00:00:00Z";
  raced[0].scope = tune::Scope::kModel;
  ASSERT_TRUE(ValueOrThrow(tune::Records::Open(file, tune::Access::kWrite)).Add(raced[0], "").ok());
  EXPECT_THAT(explained(""), HasSubstr("measured: 0.25 x of default"));
  EXPECT_THAT(explained("--no-records"), Not(HasSubstr("measured")));
  EXPECT_THAT(explained("--mcpu-features=-avx2"), Not(HasSubstr("measured")));
  EXPECT_THAT(explained("--threads 2"), Not(HasSubstr("measured")));
}

TEST_F(TuneCommandTest, ADamagedChoiceIsNamedAndTheModelRuns) {
  const std::string text =
      "def @main(%x: Tensor[(37, 48), float32], %w: Tensor[(65, 48), float32]) {\n"
      "  nn.relu(nn.dense(%x, %w))\n}\n";
  Write("model.relay", text);
  fs::create_directories(folder_ / "caches/tenon");
  const std::string file = Path("caches/tenon/records.sqlite");
  tune::Record record = tune::Won(testing_graphs::Parsed(text), "te.dense.plain");
  record.choice = "te.dense.plain rows";
  ASSERT_TRUE(ValueOrThrow(tune::Records::Open(file, tune::Access::kWrite)).Add(record, "").ok());
  const Ended ended = Tenon("run %/model.relay --threads 1");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("a record is left aside"), HasSubstr("records.sqlite")));
  // One that is named must be good.
  EXPECT_THAT(ErrorOf("run %/model.relay --threads 1 --records " + file),
              HasSubstr("has the choice 'te.dense.plain rows'"));
}

TEST_F(TuneCommandTest, ADamagedFileIsNamedAndTheModelRuns) {
  fs::create_directories(folder_ / "caches/tenon");
  Write("caches/tenon/records.sqlite", "this is no database, whatever its name says of it");
  const Ended ended = Tenon("run %/model.relay");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.err, AllOf(HasSubstr("records are left aside"), HasSubstr("records.sqlite")));
  EXPECT_EQ(Contents(folder_ / "caches/tenon/records.sqlite"),
            "this is no database, whatever its name says of it");
  // One that is named must be good.
  EXPECT_THAT(ErrorOf("run %/model.relay --records %/caches/tenon/records.sqlite"),
              HasSubstr("is damaged"));
  EXPECT_THAT(ErrorOf("run %/model.relay --records %/absent.sqlite"), HasSubstr("absent.sqlite"));
  EXPECT_THAT(ErrorOf("tune %/model.relay"), HasSubstr("is damaged"));
}

TEST_F(TuneCommandTest, MergesAndPrunes) {
  using tune::SampleRecord;
  ASSERT_TRUE(Opened("a.sqlite").Add(SampleRecord("aaaa", 0.9), "a").ok());
  ASSERT_TRUE(Opened("b.sqlite").Add(SampleRecord("bbbb", 1.1), "b").ok());
  EXPECT_THAT(OutputOf("records merge %/both.sqlite %/a.sqlite %/b.sqlite"),
              AllOf(HasSubstr("a.sqlite: 1 new"), HasSubstr("b.sqlite: 1 new")));
  EXPECT_THAT(OutputOf("records merge %/both.sqlite %/a.sqlite"), HasSubstr("a.sqlite: 0 new"));
  EXPECT_THAT(OutputOf("records best --records %/both.sqlite"),
              AllOf(HasSubstr("aaaa"), Not(HasSubstr("bbbb"))));
  EXPECT_THAT(OutputOf("records prune --records %/both.sqlite"), HasSubstr("0 records removed"));
  EXPECT_THAT(OutputOf("records prune --losers --records %/both.sqlite"),
              HasSubstr("1 records removed"));
  EXPECT_THAT(OutputOf("records prune --before 2026-01-01 --records %/both.sqlite"),
              HasSubstr("0 records removed"));
  for (const char* text : {"26-11-2026", "2026-02-30", "zzz", "''"})
    EXPECT_THAT(ErrorOf(StrCat("records prune --before ", text, " --records %/both.sqlite")),
                HasSubstr("is no day; write it as 2026-11-25"));
  EXPECT_THAT(OutputOf("records prune --foreign --records %/both.sqlite"),
              HasSubstr("1 records removed"));
  EXPECT_THAT(OutputOf("records list --records %/both.sqlite"), IsEmpty());
  EXPECT_THAT(ErrorOf("records merge %/both.sqlite %/absent.sqlite"), HasSubstr("absent.sqlite"));
}

TEST_F(TuneCommandTest, ReproducibleCodeHasNoSearch) {
  EXPECT_THAT(ErrorOf("tune model:mlp --reproducible --minutes 0.1 --records %/r.sqlite"),
              HasSubstr("reproducible code takes no measured choices"));
}

TEST_F(TuneCommandTest, PrunedLosersTakeTheirWinsWithThem) {
  tune::Record alone = tune::SampleRecord("aaaa", 0.8);
  tune::Record inside = tune::SampleRecord("aaaa", 1.3);
  tune::Record unconfirmed = tune::SampleRecord("aaaa", 0.9);
  inside.scope = tune::Scope::kModel;
  unconfirmed.choice = "te.dense.tiled rows=1 vectors=1";
  ASSERT_TRUE(Opened("a.sqlite").Add({{alone, "a"}, {inside, "a"}, {unconfirmed, "a"}}).ok());
  EXPECT_THAT(OutputOf("records best --records %/a.sqlite"), Not(HasSubstr("te.dense")));
  EXPECT_THAT(OutputOf("records prune --losers --records %/a.sqlite"),
              HasSubstr("3 records removed"));
  EXPECT_THAT(OutputOf("records best --records %/a.sqlite"), IsEmpty());
}

TEST_F(TuneCommandTest, ExportedRecordsAreImported) {
  using tune::SampleRecord;
  {
    tune::Records records = Opened("a.sqlite");
    ASSERT_TRUE(records.Add(SampleRecord("aaaa", 0.9), "fn (%p0)").ok());
    ASSERT_TRUE(records.Add(SampleRecord("bbbb", 1.1), "b").ok());
  }
  OutputOf("records export --records %/a.sqlite -o %/all.json");
  OutputOf("records export --best --records %/a.sqlite -o %/best.json");
  EXPECT_THAT(OutputOf("records import %/b.sqlite %/best.json"), HasSubstr("best.json: 1 records"));
  EXPECT_THAT(ValueOrThrow(Opened("b.sqlite").Find()),
              ::testing::ElementsAre(SampleRecord("aaaa", 0.9)));
  EXPECT_EQ(ValueOrThrow(Opened("b.sqlite").TextOf("aaaa")), "fn (%p0)");
  OutputOf("records import %/b.sqlite %/best.json %/all.json");
  EXPECT_EQ(ValueOrThrow(Opened("b.sqlite").Find()), ValueOrThrow(Opened("a.sqlite").Find()));
}

TEST_F(TuneCommandTest, AFileThatHoldsOtherThingsThanRecordsAddsNone) {
  const auto error_of = [&](const std::string& json) {
    Write("x.json", json);
    return ErrorOf("records import %/r.sqlite %/x.json");
  };
  ASSERT_TRUE(Opened("a.sqlite").Add(tune::SampleRecord("aaaa", 0.9), "a").ok());
  const auto good = nlohmann::json::parse(OutputOf("records export --records %/a.sqlite"));
  const auto with = [&](const char* column, const nlohmann::json& value) {
    auto all = good;
    all.push_back(good[0]);
    all[1][column] = value;
    return error_of(all.dump());
  };
  EXPECT_THAT(error_of(""), HasSubstr("x.json is no JSON array"));
  EXPECT_THAT(error_of("[1]"), HasSubstr("record 0: it is no object"));
  EXPECT_THAT(error_of(R"([{"text": "a"}])"), HasSubstr("record 0: it has no content"));
  EXPECT_THAT(with("threads", "two"), HasSubstr("record 1: its threads is \"two\""));
  EXPECT_THAT(with("scope", "world"), HasSubstr("record 1: there is no scope 'world'"));
  EXPECT_THAT(with("choice", "te.dense.tiled rows=many"), HasSubstr("record 1: "));
  EXPECT_THAT(with("rounds", 2.5), HasSubstr("record 1: its rounds is 2.5"));
  EXPECT_THAT(with("rounds", 1e30), HasSubstr("record 1: its rounds is 1e+30"));
  EXPECT_THAT(with("ratio", -0.5), HasSubstr("record 1: its ratio is -0.5; it must be above 0"));
  constexpr std::size_t kLevels = 300'000;
  EXPECT_THAT(error_of("[" + std::string(kLevels, '[') + std::string(kLevels, ']') + "]"),
              HasSubstr("x.json nests more than 8 levels"));
  EXPECT_THAT(with("date", "soon"), HasSubstr("record 1: its date is 'soon'"));
  Write("good.json", good.dump());
  EXPECT_THAT(ErrorOf("records import %/r.sqlite %/good.json %/x.json"), HasSubstr("record 1: "));
  EXPECT_FALSE(fs::exists(Path("r.sqlite")));
  EXPECT_THAT(ErrorOf("records import %/r.sqlite %/absent.json"), HasSubstr("absent.json"));
  EXPECT_THAT(ValueOrThrow(Opened("r.sqlite").Find()), IsEmpty());
}

TEST_F(TuneCommandTest, RecordsBesideTheProgramComeWithIt) {
  const std::string model =
      "def @main(%x: Tensor[(37, 48), float32], %w: Tensor[(65, 48), float32]) {\n"
      "  nn.relu(nn.dense(%x, %w))\n}\n";
  Write("model.relay", model);
  fs::copy_file(TENON_BINARY_DIR "/tools/tenon", folder_ / "tenon");
  const auto explained = [&](const std::string& more) {
    const std::string command =
        StrCat(Path("tenon"), " compile ", Path("model.relay"), " --explain --emit=json -o ",
               Path("plan.json"), " --threads 1 ", more, " 2>", Path("err"));
    EXPECT_EQ(std::system(command.c_str()), 0);
    return Contents(Path("err"));
  };
  EXPECT_THAT(explained(""), Not(HasSubstr("measured")));
  ASSERT_THAT(Tenon("tune %/model.relay --threads 1 --minutes 0.2 --records %/r.sqlite").code, 0);
  tune::Record record = ValueOrThrow(Opened("r.sqlite").Find()).at(0);
  const auto add_to = [&](const std::string& file, double ratio, const std::string& date) {
    record.ratio = ratio;
    record.noise = 0;
    record.date = date;
    record.scope = tune::Scope::kModel;
    ASSERT_TRUE(Opened(file).Add(record, "").ok());
  };
  add_to("shipped_records.sqlite", 0.25, "2098-01-01T00:00:00Z");
  EXPECT_THAT(explained(""), HasSubstr("measured: 0.25 x of default"));
  EXPECT_THAT(explained("--no-cache"), HasSubstr("measured: 0.25 x of default"));
  EXPECT_THAT(explained("--no-records"), Not(HasSubstr("measured")));
  // What is measured later on the user's machine counts.
  add_to("caches/tenon/records.sqlite", 0.5, "2099-01-01T00:00:00Z");
  EXPECT_THAT(explained(""), HasSubstr("measured: 0.50 x of default"));
}

TEST_F(TuneCommandTest, CtrlCKeepsWhatWasFound) {
  const std::string file = Path("r.sqlite"), output = Path("said");
  const pid_t child = fork();
  if (child == 0) {
    (void)std::freopen(output.c_str(), "w", stdout);
    execl(TENON_BINARY_DIR "/tools/tenon", "tenon", "tune", "--op", "my.matmul", "--plugin",
          TENON_MATMUL_PLUGIN, "--threads", "1", "--shape", "a=64,96", "--shape", "b=96,80",
          "--minutes", "60", "--records", file.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  const auto kept = [&] {
    const auto records = tune::Records::Open(file, tune::Access::kRead);
    return records.ok() ? ValueOrThrow(records->Find()).size() : 0;
  };
  for (int i = 0; i < 1200 && kept() == 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_GT(kept(), 0U);
  kill(child, SIGINT);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_GT(kept(), 0U);
  EXPECT_THAT(Contents(output), HasSubstr("candidates raced"));
}

TEST_F(TuneCommandTest, SaysWhatIsMissing) {
  EXPECT_THAT(ErrorOf("tune"), HasSubstr("a model, or an operator"));
  EXPECT_THAT(ErrorOf("tune %/model.relay --op nn.relu"), HasSubstr("a model, or an operator"));
  EXPECT_THAT(ErrorOf("tune --op nn.relu"), HasSubstr("say its extents, as in --shape data="));
  EXPECT_THAT(ErrorOf("tune --op nn.relu --shape data=4,"), HasSubstr("ends in a comma"));
  EXPECT_THAT(ErrorOf("tune --op nn.relu --shape data=n,-4"), HasSubstr("-4 is not an extent"));
  EXPECT_THAT(ErrorOf("tune --op nn.rleu --shape data=4"), HasSubstr("nn.relu"));
  EXPECT_THAT(ErrorOf("tune --op nn.relu --shape data=4 --shape x=4"), HasSubstr("argument x"));
  EXPECT_THAT(ErrorOf("tune --op nn.relu --shape data=4 --dtype float31"), HasSubstr("float31"));
  EXPECT_THAT(ErrorOf("tune %/model.relay --no-cache"), HasSubstr("--records"));
}

}  // namespace
}  // namespace tenon::tools
