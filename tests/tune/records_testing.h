// Records for tests, in a folder of the test's own.
#ifndef TENON_TESTS_TUNE_RECORDS_TESTING_H_
#define TENON_TESTS_TUNE_RECORDS_TESTING_H_

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tune/records.h"

namespace tenon::tune {

class RecordsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              StrCat("tenon_tune_", getpid(), "_",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  Records Open(const std::string& name, Access access = Access::kWrite) const {
    return ValueOrThrow(Records::Open(Path(name), access));
  }

  std::filesystem::path folder_;
};

inline Record SampleRecord(const std::string& content, double ratio) {
  Record record;
  record.content = content;
  record.target = "a machine";
  record.threads = 2;
  record.choice = "te.dense.tiled rows=6 vectors=3";
  record.over = "onednn";
  record.ratio = ratio;
  record.noise = 0.01;
  record.rounds = 24;
  record.least_s = record.median_s = 1e-3 * ratio;
  record.default_least_s = record.default_median_s = 1e-3;
  record.versions = "tenon 0.1.0";
  record.date = "2026-11-25T10:00:00Z";
  record.run = "0123456789abcdef";
  return record;
}

}  // namespace tenon::tune

#endif  // TENON_TESTS_TUNE_RECORDS_TESTING_H_
