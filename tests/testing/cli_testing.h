// The tenon program as a user calls it: a child process in a folder of the test's own.
//
//   class MyTest : public CliTest {};
//   TEST_F(MyTest, Runs) { EXPECT_EQ(Tenon("run %/model.relay").code, 0); }
#ifndef TENON_TESTS_TESTING_CLI_TESTING_H_
#define TENON_TESTS_TESTING_CLI_TESTING_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/runtime/npy.h"
#include "tenon/support/strings.h"
#include "tenon_test_paths.h"

namespace tenon::tools {

namespace fs = std::filesystem;

struct Ended {
  int code = -1;
  std::string out, err;
};

inline std::string Contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

class CliTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) /
              StrCat("tenon_cli_", getpid(), "_",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::create_directories(folder_);
    // Tests neither see nor touch the user's cache.
    setenv("XDG_CACHE_HOME", (folder_ / "caches").c_str(), 1);
    Write("model.relay",
          "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) {\n"
          "  nn.relu(nn.dense(%x, %w))\n}\n");
    Save("x.npy", NDArray::FromVector<float>({2, 3}, {1, 2, 3, -1, -2, -3}));
    Save("w.npy", NDArray::FromVector<float>({4, 3}, {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1}));
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  void Save(const std::string& name, const NDArray& array) const {
    ASSERT_TRUE(runtime::WriteNpy(Path(name), array).ok());
  }

  // % stands for the test's folder.
  Ended Tenon(std::string arguments) const {
    for (std::size_t at = 0; (at = arguments.find('%', at)) != std::string::npos;)
      arguments.replace(at, 1, folder_.string());
    const std::string command =
        StrCat(TENON_BINARY_DIR, "/tools/tenon ", arguments, " >", Path("out"), " 2>", Path("err"));
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Contents(Path("out")),
            Contents(Path("err"))};
  }
  // Of a call that must succeed without a word on standard error.
  std::string OutputOf(const std::string& arguments) const {
    const Ended ended = Tenon(arguments);
    EXPECT_EQ(ended.code, 0) << arguments << "\n" << ended.err;
    EXPECT_THAT(ended.err, ::testing::IsEmpty());
    return ended.out;
  }
  // Of a call that must fail with exit code 1 and a message, and print no result.
  std::string ErrorOf(const std::string& arguments) const {
    const Ended ended = Tenon(arguments);
    EXPECT_EQ(ended.code, 1) << arguments << "\n" << ended.out;
    EXPECT_THAT(ended.err, ::testing::Not(::testing::IsEmpty()));
    EXPECT_THAT(ended.err, ::testing::Not(::testing::HasSubstr("internal error")));
    return ended.err;
  }

  fs::path folder_;
};

}  // namespace tenon::tools

#endif  // TENON_TESTS_TESTING_CLI_TESTING_H_
