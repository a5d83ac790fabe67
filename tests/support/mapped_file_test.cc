#include "tenon/support/mapped_file.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

using ::testing::HasSubstr;

class MappedFileTest : public ::testing::Test {
 protected:
  std::string path_ = StrCat(::testing::TempDir(), "tenon_mapped_", getpid());
  void Write(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  void TearDown() override { std::filesystem::remove(path_); }

  static std::string Refused(const std::string& path) {
    try {
      MappedFile::Open(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
      return error.message();
    }
    return "";
  }
};

TEST_F(MappedFileTest, HoldsTheBytesAndStartsAtAPage) {
  Write(std::string("a\0b", 3));
  const auto file = MappedFile::Open(path_);
  EXPECT_EQ(file->bytes(), std::string_view("a\0b", 3));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(file->data()) % 4096, 0U);
  Write("");
  EXPECT_EQ(MappedFile::Open(path_)->size(), 0U);
}

TEST_F(MappedFileTest, WritingThroughItLeavesTheFileAlone) {
  Write("abc");
  const auto file = MappedFile::Open(path_);
  file->data()[0] = 'x';
  EXPECT_EQ(file->bytes(), "xbc");
  EXPECT_EQ(MappedFile::Open(path_)->bytes(), "abc");
}

TEST_F(MappedFileTest, ForgetsWholePagesOfAPart) {
  Write(std::string(3 * 65536, 'a'));
  const auto file = MappedFile::Open(path_);
  std::fill_n(file->data(), file->size(), 'x');
  file->Forget(file->bytes().substr(1, 2 * 65536));
  EXPECT_EQ(file->bytes()[0], 'x');
  EXPECT_EQ(file->bytes()[65536], 'a');
  EXPECT_EQ(file->bytes()[2 * 65536 + 1], 'x');
  EXPECT_EQ(file->bytes().back(), 'x');
  file->Forget(file->bytes().substr(5, 10));
  EXPECT_EQ(file->bytes()[6], 'x');
}

TEST_F(MappedFileTest, AnOwnerKeepsTheFileAndForgetsItsPart) {
  Write(std::string(3 * 65536, 'a'));
  auto file = MappedFile::Open(path_);
  std::fill_n(file->data(), file->size(), 'x');
  const std::string_view bytes = file->bytes();
  auto first = MappedFile::OwnerOf(file, bytes.substr(0, 65536));
  const auto second = MappedFile::OwnerOf(file, bytes.substr(65536));
  EXPECT_EQ(first.get(), bytes.data());
  file = nullptr;
  first = nullptr;
  EXPECT_EQ(bytes[65535], 'a');
  EXPECT_EQ(bytes[65536], 'x');
}

TEST_F(MappedFileTest, OutlivesTheName) {
  Write("abc");
  const auto file = MappedFile::Open(path_);
  std::filesystem::remove(path_);
  EXPECT_EQ(file->bytes(), "abc");
}

TEST_F(MappedFileTest, WhatIsNoReadableFileIsRefusedByName) {
  EXPECT_THAT(Refused(path_), HasSubstr(path_ + " cannot be opened: No such file"));
  EXPECT_THAT(Refused(::testing::TempDir()), HasSubstr("directory"));
  EXPECT_THAT(Refused("/dev/null"), HasSubstr("/dev/null"));
}

TEST_F(MappedFileTest, APipeIsRefusedAsSuch) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(Refused(path_), HasSubstr("it is a pipe or a device; a file is needed"));
}

}  // namespace
}  // namespace tenon
