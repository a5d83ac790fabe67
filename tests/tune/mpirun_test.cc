// mpirun tenon tune: ranks of this machine, which stand for several.
#include <random>

#include "tenon/tests/tune/crew_command_testing.h"
#include "tenon_test_paths.h"

namespace tenon::tools {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

class MpirunTest : public CrewCommandTest {
 protected:
  void SetUp() override {
    CrewCommandTest::SetUp();
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
    // Messages through memory alone: no network.
    setenv("OMPI_MCA_btl", "self,vader", 1);
  }
  // As many ranks as there are; the machine may have fewer cores.
  static std::string Mpirun(int ranks, const std::string& more = "") {
    return StrCat(TENON_MPIEXEC, " --oversubscribe --bind-to none -n ", ranks, " ", more, " ",
                  TENON_BINARY_DIR, "/tools/tenon ");
  }
  static std::string To(const std::string& name) {
    return StrCat("--records %/", name, " >%/out 2>%/err");
  }
  static constexpr const char* kGoOn = "--enable-recovery";  // of Open MPI
};

TEST_F(MpirunTest, RanksShareOneSearchAndOneFileOfRecords) {
  EXPECT_EQ(CodeOf(Start(StrCat(Mpirun(3), MatmulArguments(), "--minutes 0.2 ", To("r.sqlite")))),
            0)
      << Contents(Path("err"));
  EXPECT_THAT(RunsOf("r.sqlite"), SizeIs(3));
  EXPECT_THAT(Contents(Path("out")), HasSubstr("candidates raced"));
}

TEST_F(MpirunTest, RanksOfTwoKindsOfCpuFillTheirOwnRecords) {
  // One program for all: given several, the mpirun of Open MPI 5.0.7 crashes.
  const char* program =
      "sh -c '[ $OMPI_COMM_WORLD_RANK != 2 ] || set -- \"$@\" --mcpu-features=-avx512f,-fma; "
      "exec \"$@\"' sh ";
  EXPECT_EQ(CodeOf(Start(
                StrCat(Mpirun(3, program), MatmulArguments(), "--minutes 0.25 ", To("r.sqlite")))),
            0)
      << Contents(Path("err"));
  std::set<std::string> targets;
  for (const tune::Record& record : RecordsOf("r.sqlite")) targets.insert(record.target);
  EXPECT_THAT(targets, SizeIs(2));
}

TEST_F(MpirunTest, CandidatesThatCrashOrHangEndNoRank) {
  EXPECT_EQ(CodeOf(Start(StrCat(Mpirun(2), TrapArguments(), "--minutes 0.5 --candidate-seconds 5 ",
                                To("r.sqlite")))),
            0)
      << Contents(Path("err"));
  EXPECT_THAT(Contents(Path("out")),
              AllOf(HasSubstr("te.plain way=1: the process was ended by signal 11"),
                    HasSubstr("te.plain way=3: it took longer than "),
                    HasSubstr("te.plain way=2 instead of te.plain way=0")));
}

TEST_F(MpirunTest, AKilledRankLosesNoRecordAndTheOthersGoOn) {
  const pid_t search =
      Start(StrCat(Mpirun(3, kGoOn), MatmulArguments(), "--minutes 0.7 ", To("r.sqlite")));
  ASSERT_TRUE(Await([&] { return !KeysOf("r.sqlite").empty(); }));
  const std::vector<pid_t> ranks = TunersOf(search, false);
  ASSERT_THAT(ranks, SizeIs(3));
  const std::set<Key> before = KeysOf("r.sqlite");
  kill(ranks[2], SIGKILL);
  EXPECT_TRUE(Await([&] { return TunersOf(search, true).size() == 2; })) << "its worker ends, too";
  EXPECT_EQ(CodeOf(search), 0) << Contents(Path("err"));
  EXPECT_THAT(KeysOf("r.sqlite"), IsSupersetOf(before));
  EXPECT_GT(KeysOf("r.sqlite").size(), before.size());
  EXPECT_THAT(Contents(Path("err")), HasSubstr("is lost: its process has been silent"));
}

// At a time between nothing and a search that is under way, whoever it is, with and without going
// on. TENON_KILLS says how often.
TEST_F(MpirunTest, WhereMpirunEndsAllTheSameCommandContinues) {
  const char* kills = std::getenv("TENON_KILLS");
  std::mt19937 random(36);
  std::set<Key> before;
  for (int i = 0; i < (kills == nullptr ? 2 : std::atoi(kills)); ++i) {
    const pid_t search = Start(StrCat(Mpirun(2, i % 2 == 0 ? "" : kGoOn), MatmulArguments(),
                                      "--minutes 0.25 ", To("r.sqlite")));
    ASSERT_TRUE(Await([&] { return TunersOf(search, false).size() == 2; }));
    std::this_thread::sleep_for(
        std::chrono::milliseconds(std::uniform_int_distribution(0, 12'000)(random)));
    const std::vector<pid_t> ranks = TunersOf(search, false);
    const std::set<Key> reported = KeysOf("r.sqlite");
    EXPECT_THAT(reported, IsSupersetOf(before));
    // Rank 0 alone writes records; without it, the others wait for it, and mpirun for them.
    if (!ranks.empty())
      kill(ranks[i % 2 == 0 ? random() % ranks.size() : ranks.size() - 1], SIGKILL);
    (void)CodeOf(search);
    before = KeysOf("r.sqlite");
    EXPECT_THAT(before, IsSupersetOf(reported));
    EXPECT_TRUE(tune::Records::Open(Path("r.sqlite"), tune::Access::kWrite).ok());
  }
  EXPECT_EQ(CodeOf(Start(StrCat(Mpirun(2), MatmulArguments(), "--minutes 0.2 ", To("r.sqlite")))),
            0);
  EXPECT_THAT(KeysOf("r.sqlite"), IsSupersetOf(before));
  EXPECT_THAT(KeysOf("r.sqlite"), Not(IsEmpty()));
}

TEST_F(MpirunTest, RanksShareTheCompileOfAModel) {
  Write("m.relay",
        "def @main(%x: Tensor[(5, 48), float32], %w: Tensor[(40, 48), float32]) {\n"
        "  %0 = nn.relu(nn.dense(%x, %w));\n  %1 = nn.softmax(%0);\n  nn.dense(%1, %1)\n}\n");
  const auto entries = [&](const std::string& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(Path(folder)))
      names.insert(entry.path().filename());
    return names;
  };
  const std::string compile = "compile %/m.relay --emit=cache --library te --cache-dir %/";
  EXPECT_THAT(OutputOf(compile + "alone"), HasSubstr("alone has the code of 3 functions\n"));
  EXPECT_EQ(CodeOf(Start(StrCat(Mpirun(2), compile, "shared >%/out 2>%/err"))), 0)
      << Contents(Path("err"));
  EXPECT_THAT(Contents(Path("out")),
              HasSubstr("shared has the code of 3 functions, compiled by 2 processes\n"));
  EXPECT_EQ(entries("shared"), entries("alone"));
}

TEST_F(MpirunTest, AProgramWithoutTheModuleSaysSo) {
  fs::copy_file(StrCat(TENON_BINARY_DIR, "/tools/tenon"), folder_ / "tenon");
  const pid_t search = Start(
      StrCat(TENON_MPIEXEC, " --oversubscribe -n 2 %/tenon ", MatmulArguments(), To("r.sqlite")));
  EXPECT_NE(CodeOf(search), 0);
  EXPECT_THAT(Contents(Path("err")),
              HasSubstr("mpirun has started 2 processes, but this Tenon has no MPI"));
}

}  // namespace
}  // namespace tenon::tools
