// A file that is asked for is there whole or not at all.
#include "tenon/support/write_file.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename Body>
std::string Refused(Body body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
    return error.what();
  }
  return "no error";
}

class WriteFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / StrCat("tenon_write_file_", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  std::string Read(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  std::ptrdiff_t Entries() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  fs::path folder_;
};

TEST_F(WriteFileTest, WritesAllPartsAndNothingElse) {
  WriteFile(Path("a"), {"one ", "", "two"});
  EXPECT_EQ(Read("a"), "one two");
  WriteFile(Path("a"), {"3"});
  EXPECT_EQ(Read("a"), "3");
  EXPECT_EQ(Entries(), 1);
}

TEST_F(WriteFileTest, KeepsTheModeOfWhatWasThere) {
  WriteFile(Path("a"), {"secret"});
  chmod(Path("a").c_str(), 0600);
  WriteFile(Path("a"), {"another"});
  EXPECT_EQ(fs::status(Path("a")).permissions(), fs::perms(0600));
}

TEST_F(WriteFileTest, WritesWhereALinkLeads) {
  WriteFile(Path("a"), {"old"});
  fs::create_symlink("a", Path("link"));
  WriteFile(Path("link"), {"new"});
  EXPECT_EQ(Read("a"), "new");
  EXPECT_TRUE(fs::is_symlink(Path("link")));
}

TEST_F(WriteFileTest, ADeviceIsWrittenAsItIsAndItsErrorsAreNoticed) {
  WriteFile("/dev/null", {"gone"});
  EXPECT_EQ(Refused([] { WriteFile("/dev/full", {"too much"}); }),
            "the file /dev/full cannot be written: No space left on device");
}

TEST_F(WriteFileTest, WhatCannotBeWrittenWholeLeavesWhatWasThere) {
  WriteFile(Path("a"), {"old"});
  // Beyond the limit a write is refused, as on a disk that is full.
  const auto before = signal(SIGXFSZ, SIG_IGN);
  rlimit limit{}, small{};
  getrlimit(RLIMIT_FSIZE, &limit);
  small = {.rlim_cur = 100, .rlim_max = limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = Refused([&] { WriteFile(Path("a"), {std::string(1000, 'x')}); });
  setrlimit(RLIMIT_FSIZE, &limit);
  signal(SIGXFSZ, before);
  EXPECT_THAT(message, HasSubstr("a cannot be written: File too large"));
  EXPECT_EQ(Read("a"), "old");
  EXPECT_EQ(Entries(), 1);
}

TEST_F(WriteFileTest, WhatIsBoundToFailIsToldBefore) {
  const auto refused = [](const std::string& path) {
    const std::string before = Refused([&] { RequireWritable(path); });
    EXPECT_EQ(before, Refused([&] { WriteFile(path, {"x"}); }));
    return before;
  };
  EXPECT_THAT(refused("/nowhere/a"), HasSubstr("/nowhere/a cannot be written: No such file"));
  EXPECT_THAT(refused(folder_.string()), HasSubstr("Is a directory"));
  RequireWritable(Path("new"));
  RequireWritable("/dev/null");
  EXPECT_EQ(Entries(), 0);
}

}  // namespace
}  // namespace tenon
