// Records: nothing that was reported is lost, whoever writes at once or dies.
#include "tenon/tune/records.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <sys/wait.h>

#include "tenon/tests/tune/records_testing.h"

namespace tenon::tune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Runs `work` in a process of its own, which ends without running anything of the test's.
template <typename Work>
pid_t Fork(const Work& work) {
  const pid_t child = fork();
  if (child != 0) return child;
  try {
    work();
    _exit(0);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    _exit(1);
  }
}

void Require(const absl::Status& status) {
  if (!status.ok()) throw FromStatus(status);
}

TEST_F(RecordsTest, ComesBackAsItWasAdded) {
  Record record = SampleRecord("5f0c1b6e2a9d4c38", 0.93);
  record.scope = Scope::kModel;
  {
    Records records = Open("r.sqlite");
    ASSERT_TRUE(records.Add(record, "fn (%p0)").ok());
    ASSERT_TRUE(records.Add(record, "fn (%p0)").ok());  // a set
  }
  const Records records = Open("r.sqlite", Access::kRead);
  EXPECT_THAT(records.Find().value(), ElementsAre(record));
  EXPECT_THAT(records.Find({.content = "5f0c"}).value(), ElementsAre(record));
  EXPECT_THAT(records.Find({.content = "0c1b"}).value(), IsEmpty());
  EXPECT_THAT(records.Find({.target = "another machine"}).value(), IsEmpty());
  EXPECT_THAT(records.Find({.target = "a machine", .threads = 1}).value(), IsEmpty());
  EXPECT_EQ(records.TextOf("5f0c1b6e2a9d4c38").value(), "fn (%p0)");
}

// What an environment variable says: scripts/check-all asks for more.
int FromEnvironment(const char* name, int fallback) {
  const char* text = std::getenv(name);
  return text == nullptr ? fallback : ParseNumber<int>(text).value();
}

// The records are those of SampleRecord for `prefix` and 0, 1, ...
void ExpectSamples(const std::vector<Record>& records, const std::string& prefix) {
  std::vector<Record> expected;
  for (std::size_t i = 0; i < records.size(); ++i)
    expected.push_back(SampleRecord(StrCat(prefix, i), 0.9));
  std::ranges::sort(expected, {}, &Record::content);  // as Find gives them
  EXPECT_EQ(records, expected);
}

TEST_F(RecordsTest, ManyProcessesWriteAndReadOneFile) {
  const int num_writers = FromEnvironment("TENON_RECORDS_PROCESSES", 24);
  const std::chrono::seconds time(FromEnvironment("TENON_RECORDS_SECONDS", 1));
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::vector<pid_t> writers;
  for (int writer = 0; writer < num_writers; ++writer) {
    writers.push_back(Fork([&] {
      const auto end = std::chrono::steady_clock::now() + time;
      Records records = Open("r.sqlite");
      std::array<int, 2> written = {writer, 0};
      do {
        Require(records.Add(SampleRecord(StrCat("w", writer, "_", written[1]), 0.9), "text"));
        ++written[1];
        if (written[1] % 5 == 0)
          (void)ValueOrThrow(records.Find({.content = StrCat("w", writer, "_")}));
      } while (std::chrono::steady_clock::now() < end);
      if (write(ends[1], written.data(), sizeof written) != sizeof written) _exit(1);
    }));
  }
  for (const pid_t writer : writers) {
    int status = -1;
    waitpid(writer, &status, 0);
    EXPECT_EQ(status, 0);
  }
  close(ends[1]);
  const Records records = Open("r.sqlite", Access::kRead);
  std::size_t all = 0;
  for (std::array<int, 2> written{};
       read(ends[0], written.data(), sizeof written) == sizeof written;) {
    const auto& [writer, count] = written;
    const auto found = records.Find({.content = StrCat("w", writer, "_")}).value();
    EXPECT_THAT(found, SizeIs(count));
    ExpectSamples(found, StrCat("w", writer, "_"));
    all += found.size();
  }
  close(ends[0]);
  EXPECT_THAT(records.Find().value(), SizeIs(all));
  RecordProperty("records", static_cast<int>(all));
}

TEST_F(RecordsTest, AKilledProcessLosesNothingThatItReportedAndLeavesNothingWrong) {
  std::size_t reported_in_all = 0;
  for (int round = 0; round < 50; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const std::string prefix = StrCat("k", round, "_");
    const pid_t writer = Fork([&] {
      Records records = Open("r.sqlite");
      for (int i = 0;; ++i) {
        Require(records.Add(SampleRecord(StrCat(prefix, i), 0.9), "text"));
        const char byte = 0;
        if (write(ends[1], &byte, 1) != 1) _exit(1);
      }
    });
    close(ends[1]);
    std::this_thread::sleep_for(std::chrono::microseconds(2000 + 850 * round));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    std::size_t reported = 0;
    for (char byte = 0; read(ends[0], &byte, 1) == 1;) ++reported;
    close(ends[0]);
    reported_in_all += reported;
    const Records records = Open("r.sqlite");  // the file is sound
    const std::vector<Record> kept = records.Find({.content = prefix}).value();
    EXPECT_GE(kept.size(), reported);
    EXPECT_LE(kept.size(), reported + 1);  // one that was not reported yet
    ExpectSamples(kept, prefix);
  }
  EXPECT_GT(reported_in_all, 0U);
}

TEST_F(RecordsTest, MergingIsAUnion) {
  Records a = Open("a.sqlite"), b = Open("b.sqlite");
  const Record one = SampleRecord("one", 0.9), two = SampleRecord("two", 0.8);
  Record later = two;
  later.date = "2026-11-26T10:00:00Z";
  ASSERT_TRUE(a.Add(one, "1").ok());
  ASSERT_TRUE(a.Add(two, "2").ok());
  ASSERT_TRUE(b.Add(two, "2").ok());
  ASSERT_TRUE(b.Add(later, "2").ok());
  EXPECT_EQ(a.Merge(b).value(), 1);
  EXPECT_EQ(a.Merge(b).value(), 0);
  EXPECT_EQ(b.Merge(a).value(), 1);
  EXPECT_THAT(a.Find().value(), ElementsAre(one, two, later));
  EXPECT_EQ(a.Find().value(), b.Find().value());
  EXPECT_EQ(b.TextOf("one").value(), "1");
}

TEST_F(RecordsTest, RemovesWhatIsNamed) {
  Records records = Open("r.sqlite");
  const Record one = SampleRecord("one", 0.9), two = SampleRecord("two", 0.8);
  ASSERT_TRUE(records.Add(one, "1").ok());
  ASSERT_TRUE(records.Add(two, "2").ok());
  EXPECT_EQ(records.Remove({one}).value(), 1);
  EXPECT_EQ(records.Remove({one}).value(), 0);
  EXPECT_THAT(records.Find().value(), ElementsAre(two));
  EXPECT_EQ(records.TextOf("one").value(), "");
}

TEST_F(RecordsTest, ADamagedFileIsNamedAndLeftAlone) {
  const auto error_of = [&](const std::string& name, Access access = Access::kWrite) {
    return std::string(Records::Open(Path(name), access).status().message());
  };
  const auto contents = [&](const std::string& name) {
    std::ifstream file(Path(name), std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  };
  std::ofstream(Path("text.sqlite")) << "this is no database, but a text of some length";
  EXPECT_THAT(error_of("text.sqlite"), HasSubstr("text.sqlite is damaged"));
  EXPECT_EQ(contents("text.sqlite"), "this is no database, but a text of some length");

  {
    Records records = Open("whole.sqlite");
    for (int i = 0; i < 200; ++i)
      ASSERT_TRUE(records.Add(SampleRecord(StrCat("content", i), 0.9), std::string(300, 'x')).ok());
  }
  std::string bytes = contents("whole.sqlite");
  ASSERT_GT(bytes.size(), 40000U);
  bytes.replace(8192, 3 * 4096, std::string(3 * 4096, '\x5a'));
  std::ofstream(Path("bad.sqlite"), std::ios::binary) << bytes;
  EXPECT_THAT(error_of("bad.sqlite"), HasSubstr("bad.sqlite"));
  EXPECT_EQ(Records::Open(Path("bad.sqlite"), Access::kWrite).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(contents("bad.sqlite"), bytes);

  EXPECT_THAT(error_of("absent.sqlite", Access::kRead), HasSubstr("absent.sqlite"));
  EXPECT_FALSE(std::filesystem::exists(Path("absent.sqlite")));
  EXPECT_THAT(error_of("no_folder/r.sqlite"), HasSubstr("no_folder/r.sqlite"));
}

TEST_F(RecordsTest, AFileOfAnEarlierVersionIsReadAsItIsAndWrittenAsOneOfThis) {
  Record old = SampleRecord("0123", 0.5);
  for (const std::int64_t version : {1, 2}) {
    const std::string name = StrCat("old_", version, ".sqlite");
    old.shapes = version == 1 ? "" : "d0=1..4";
    {
      Records records = Open(name);
      ASSERT_TRUE(records.Add(old, "text").ok());
      const Database database(Path(name), Access::kWrite);
      database.Run("ALTER TABLE records DROP COLUMN floor_s");
      if (version == 1) database.Run("ALTER TABLE records DROP COLUMN shapes");
      database.Run(StrCat("PRAGMA user_version = ", version));
    }
    EXPECT_THAT(Open(name, Access::kRead).Find().value(), ElementsAre(old));
    EXPECT_EQ(Database(Path(name), Access::kRead).Number("PRAGMA user_version"), version);
    Record later = SampleRecord("4567", 0.7);
    later.shapes = "d0=1..8";
    later.floor_s = 2e-4;
    ASSERT_TRUE(Open(name).Add(later, "text").ok());
    EXPECT_THAT(Open(name, Access::kRead).Find().value(), ElementsAre(old, later));
    EXPECT_EQ(Database(Path(name), Access::kRead).Number("PRAGMA user_version"), 3);
  }
}

TEST_F(RecordsTest, ViewsInThePlaceOfTablesAreRefused) {
  { Open("viewed.sqlite"); }
  Database(Path("viewed.sqlite"), Access::kWrite)
      .Run(
          "CREATE VIEW rows AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
          "SELECT x FROM c");
  EXPECT_THAT(std::string(Records::Open(Path("viewed.sqlite"), Access::kRead).status().message()),
              HasSubstr("has views or triggers"));
}

TEST_F(RecordsTest, ADatabaseOfAnotherProgramIsRefused) {
  { Database(Path("other.sqlite"), Access::kWrite).Run("CREATE TABLE t (x)"); }
  EXPECT_THAT(std::string(Records::Open(Path("other.sqlite"), Access::kWrite).status().message()),
              HasSubstr("is a database, but not of records"));
  { Open("later.sqlite"); }
  { Database(Path("later.sqlite"), Access::kWrite).Run("PRAGMA user_version = 7"); }
  EXPECT_THAT(std::string(Records::Open(Path("later.sqlite"), Access::kWrite).status().message()),
              HasSubstr("records of version 7"));
}

}  // namespace
}  // namespace tenon::tune
