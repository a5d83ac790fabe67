// tenon tune --workers: several processes of one machine.
#include "tenon/tests/tune/crew_command_testing.h"
#include "tenon_test_paths.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::SizeIs;

class WorkersCommandTest : public CrewCommandTest {};

TEST_F(WorkersCommandTest, TwoProcessesShareOneSearch) {
  const Ended ended = Tenon(MatmulArguments() + "--workers 2 --minutes 0.15 --records %/r.sqlite");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, HasSubstr("candidates raced"));
  EXPECT_THAT(RunsOf("r.sqlite"), SizeIs(2));
}

TEST_F(WorkersCommandTest, ACandidateThatCrashesAndOneThatHangsCostThemselves) {
  const Ended ended = Tenon(TrapArguments() +
                            "--workers 1 --minutes 0.5 --candidate-seconds 5 --records %/r.sqlite");
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(HasSubstr("te.plain way=1: the process was ended by signal 11"),
                               HasSubstr("te.plain way=3: it took longer than "),
                               HasSubstr("te.plain way=2 instead of te.plain way=0")));
  EXPECT_THAT(RunsOf("r.sqlite"), testing::Not(testing::IsEmpty()));
}

TEST_F(WorkersCommandTest, AKilledWorkerLosesNoRecordAndTheSearchGoesOn) {
  const pid_t search =
      Start(StrCat(TENON_BINARY_DIR, "/tools/tenon ", MatmulArguments(),
                   "--workers 2 --minutes 60 --records %/r.sqlite >%/out 2>%/err"));
  ASSERT_TRUE(Await([&] { return !KeysOf("r.sqlite").empty(); }));
  const std::vector<pid_t> workers = TunersOf(search, true);
  ASSERT_THAT(workers, SizeIs(2));
  const std::set<Key> before = KeysOf("r.sqlite");
  kill(workers[0], SIGKILL);
  EXPECT_TRUE(Await([&] {
    return TunersOf(search, true).size() == 2 && TunersOf(search, true) != workers;
  })) << "it is started again";
  EXPECT_TRUE(Await([&] { return KeysOf("r.sqlite").size() > before.size() + 2; }));
  kill(search, SIGINT);
  EXPECT_EQ(CodeOf(search), 128 + SIGINT) << Contents(Path("err"));
  EXPECT_THAT(KeysOf("r.sqlite"), IsSupersetOf(before));
  EXPECT_THAT(Contents(Path("out")), HasSubstr("candidates raced"));
}

TEST_F(WorkersCommandTest, CtrlCKeepsWhatWasFoundAndStillRacesTheModel) {
  const pid_t search =
      Start(StrCat(TENON_BINARY_DIR, "/tools/tenon ", MatmulArguments(),
                   "--workers 2 --minutes 60 --records %/r.sqlite >%/out 2>%/err"));
  ASSERT_TRUE(Await([&] { return KeysOf("r.sqlite").size() > 3; }));
  const std::set<Key> before = KeysOf("r.sqlite");
  kill(search, SIGINT);
  EXPECT_EQ(CodeOf(search), 128 + SIGINT);
  EXPECT_THAT(KeysOf("r.sqlite"), IsSupersetOf(before));
  EXPECT_THAT(Contents(Path("out")),
              AllOf(HasSubstr("candidates raced"), HasSubstr("in the model")));
}

TEST_F(WorkersCommandTest, WorkersEndWithTheSearchHoweverItEnds) {
  const pid_t search = Start(StrCat(TENON_BINARY_DIR, "/tools/tenon ", TrapArguments(),
                                    "--workers 2 --minutes 60 --records %/r.sqlite 2>%/err"));
  ASSERT_TRUE(Await([&] { return TunersOf(search, true).size() == 2; }));
  const std::vector<pid_t> workers = TunersOf(search, true);
  kill(search, SIGKILL);
  EXPECT_EQ(CodeOf(search), 128 + SIGKILL);
  for (const pid_t worker : workers)
    EXPECT_TRUE(Await([&] { return CommandOf(worker).empty(); })) << worker;
}

TEST_F(WorkersCommandTest, SaysWhatDoesNotFit) {
  EXPECT_THAT(ErrorOf("tune - --workers 2"), HasSubstr("name a file that all workers read"));
  EXPECT_THAT(ErrorOf("tune %/none.relay --workers 2 --share-cores --records %/r.sqlite"),
              HasSubstr("none.relay"));
  EXPECT_THAT(ErrorOf("tune %/model.relay --workers -1"), HasSubstr("--workers"));
  EXPECT_THAT(
      ErrorOf("tune %/model.relay --workers 1 --threads 1000 --minutes 0.01 --records %/r.sqlite"),
      HasSubstr("has no 1000 CPUs of its own"));
}

}  // namespace
}  // namespace tenon::tools
