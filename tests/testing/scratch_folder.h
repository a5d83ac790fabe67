// A folder of a test's own, which is removed when the test ends.
//
//   const ScratchFolder folder;
//   ObjectCache cache(folder.path(), 1 << 20);
#ifndef TENON_TESTS_TESTING_SCRATCH_FOLDER_H_
#define TENON_TESTS_TESTING_SCRATCH_FOLDER_H_

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tenon/support/strings.h"

namespace tenon::jit {

class ScratchFolder {
 public:
  ScratchFolder()
      : path_(std::filesystem::path(::testing::TempDir()) /
              StrCat("tenon_jit_", getpid(), "_",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(path_);
  }
  ~ScratchFolder() { std::filesystem::remove_all(path_); }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Without the count that an object cache keeps of what was stored.
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      if (entry.path().filename() != ".tenon-stored") files.push_back(entry.path());
    }
    return files;
  }

 private:
  std::filesystem::path path_;
};

inline std::string ReadBytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
}

inline void WriteBytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace tenon::jit

#endif  // TENON_TESTS_TESTING_SCRATCH_FOLDER_H_
