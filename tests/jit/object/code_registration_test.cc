// gdb and perf know kernels by name at full optimisation, gdb for as long as they live.
#include <algorithm>
#include <cstdlib>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/jit/object/gdb_interface.h"
#include "tenon/tests/jit/kernel_testing.h"
#include "tenon/tests/testing/scratch_folder.h"

namespace tenon::jit {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;

// The object files that gdb would read now, the youngest first.
std::vector<std::string> KnownToGdb() {
  std::vector<std::string> objects;
  for (const jit_code_entry* entry = __jit_debug_descriptor.first_entry; entry != nullptr;
       entry = entry->next_entry) {
    EXPECT_TRUE(entry->next_entry == nullptr || entry->next_entry->prev_entry == entry);
    objects.emplace_back(entry->symfile_addr, entry->symfile_size);
  }
  return objects;
}

TEST(GdbTest, AKernelHasAnEntryForAsLongAsItLives) {
  const std::vector<std::string> before = KnownToGdb();
  {
    const Kernel kernel = VectorAdd(17);
    const Kernel copy = kernel;
    const std::vector<std::string> now = KnownToGdb();
    ASSERT_EQ(now.size(), before.size() + 1);
    EXPECT_THAT(now[0], ::testing::StartsWith("\x7f"
                                              "ELF"));
    EXPECT_THAT(now[0], HasSubstr("vadd.kernel"));
  }
  EXPECT_EQ(KnownToGdb(), before);
}

TEST(GdbTest, EntriesInTheMiddleOfTheListGo) {
  std::vector<Kernel> kernels = {VectorAdd(1), VectorAdd(2), VectorAdd(3)};
  const std::vector<std::string> all = KnownToGdb();
  ASSERT_GE(all.size(), 3U);
  kernels.erase(kernels.begin() + 1);
  EXPECT_THAT(KnownToGdb(), ElementsAre(all[0], all[2]));
}

TEST(GdbTest, ParallelBodiesHaveNames) {
  const Kernel kernel = ParallelKernel();
  EXPECT_THAT(KnownToGdb(), ElementsAre(::testing::AllOf(HasSubstr("parallel.kernel"),
                                                         HasSubstr("parallel.kernel.ax0"))));
}

// Functions that differ in numbers only may share an object; its names say what both compute.
TEST(GdbTest, NamesSayWhatAKernelComputesOfItsModel) {
  loop::Function function = ParallelKernel().function();
  function.places = "conv1 (Conv), a\nb (Relu)";
  const Kernel kernel = ValueOrThrow(Compile(function));
  EXPECT_THAT(KnownToGdb(), ElementsAre(::testing::AllOf(
                                HasSubstr("parallel.kernel (conv1 (Conv), a b (Relu))"),
                                HasSubstr("parallel.kernel.ax0 (conv1 (Conv), a b (Relu))"))));
}

TEST(GdbTest, ThreadsMayRegisterAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int round = 0; round < 5; ++round) VectorAdd(16);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(KnownToGdb(), IsEmpty());
}

class PerfMapTest : public ::testing::Test {
 protected:
  ~PerfMapTest() override {
    unsetenv("TENON_PERF_MAP");
    std::filesystem::remove(path_);
  }
  std::vector<std::string> Lines() const { return StrSplit(ReadBytes(path_), '\n'); }

  const std::string path_ = StrCat("/tmp/perf-", getpid(), ".map");
};

TEST_F(PerfMapTest, EveryFunctionOfEveryKernelHasALineWithItsAddress) {
  setenv("TENON_PERF_MAP", "1", 1);
  const std::vector<Kernel> kernels = {VectorAdd(17), ParallelKernel()};
  EXPECT_THAT(Lines(), Contains(MatchesRegex("[0-9a-f]+ [0-9a-f]+ vadd.kernel")));
  EXPECT_THAT(Lines(), Contains(MatchesRegex("[0-9a-f]+ [0-9a-f]+ parallel.kernel")));
  EXPECT_THAT(Lines(), Contains(MatchesRegex("[0-9a-f]+ [0-9a-f]+ parallel.kernel.ax0")));
}

TEST_F(PerfMapTest, LinesSayWhatAKernelComputesOfItsModel) {
  setenv("TENON_PERF_MAP", "1", 1);
  loop::Function function = ParallelKernel().function();
  function.places = "conv1 (Conv)";
  const Kernel kernel = ValueOrThrow(Compile(function));
  EXPECT_THAT(Lines(),
              Contains(MatchesRegex("[0-9a-f]+ [0-9a-f]+ parallel.kernel .conv1 .Conv..")));
}

// The address is where the code lies: it belongs to an executable mapping of this process.
TEST_F(PerfMapTest, AddressesLieInExecutableMemory) {
  setenv("TENON_PERF_MAP", "1", 1);
  const Kernel kernel = VectorAdd(17);
  const std::uint64_t address = std::strtoull(Lines().at(0).c_str(), nullptr, 16);
  bool executable = false;
  for (const std::string& line : StrSplit(ReadBytes("/proc/self/maps"), '\n')) {
    char* end = nullptr;
    const std::uint64_t from = std::strtoull(line.c_str(), &end, 16);
    if (*end != '-') continue;
    const std::uint64_t to = std::strtoull(end + 1, &end, 16);
    if (address >= from && address < to) executable = std::string(end, 5) == " r-xp";
  }
  EXPECT_TRUE(executable);
}

TEST_F(PerfMapTest, IsNotWrittenUnlessAskedFor) {
  VectorAdd(17);
  setenv("TENON_PERF_MAP", "0", 1);
  VectorAdd(17);
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(PerfMapTest, LinksAreNotFollowed) {
  const ScratchFolder folder;
  WriteBytes(folder.path() / "victim", "x");
  std::filesystem::create_symlink(folder.path() / "victim", path_);
  setenv("TENON_PERF_MAP", "1", 1);
  VectorAdd(17);
  EXPECT_EQ(ReadBytes(folder.path() / "victim"), "x");
}

TEST_F(PerfMapTest, APipeIsNotWaitedForAndASharedFileNotWritten) {
  setenv("TENON_PERF_MAP", "1", 1);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  VectorAdd(17);
  std::filesystem::remove(path_);
  const ScratchFolder folder;
  WriteBytes(folder.path() / "victim", "x");
  std::filesystem::create_hard_link(folder.path() / "victim", path_);
  VectorAdd(17);
  EXPECT_EQ(ReadBytes(folder.path() / "victim"), "x");
}

}  // namespace
}  // namespace tenon::jit
