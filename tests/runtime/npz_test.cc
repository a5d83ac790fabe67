#include "tenon/runtime/npz.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tenon/runtime/npy.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/zip_bytes.h"

namespace tenon::runtime {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class NpzTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) /
              StrCat("tenon_npz_", getpid(), "_",
                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string NpyOf(const NDArray& array) const {
    const std::string path = (folder_ / "one.npy").string();
    EXPECT_TRUE(WriteNpy(path, array).ok());
    std::ifstream file(path, std::ios::binary);
    return std::string((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  }
  absl::StatusOr<NamedArrays> Read(const std::string& bytes) const {
    const std::string path = (folder_ / "params.npz").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return ReadNpz(path);
  }
  std::string RefusalOf(const std::string& bytes) const {
    return std::string(Read(bytes).status().message());
  }
  std::string Archive(bool compressed = false) const {
    return ZipOf({{"w.npy", NpyOf(NDArray::FromVector<float>({2}, {1, 2}))},
                  {"block.bias.npy", NpyOf(NDArray::FromVector<std::int64_t>({}, {7}))}},
                 compressed);
  }

  std::filesystem::path folder_;
};

TEST_F(NpzTest, ArraysHaveTheirNamesAndValues) {
  for (const bool compressed : {false, true}) {
    const auto arrays = Read(Archive(compressed));
    ASSERT_TRUE(arrays.ok()) << arrays.status();
    ASSERT_EQ(arrays->size(), 2U);
    EXPECT_EQ((*arrays)[0].first, "w");
    EXPECT_EQ((*arrays)[0].second.ToVector<float>(), (std::vector<float>{1, 2}));
    EXPECT_EQ((*arrays)[1].first, "block.bias");
    EXPECT_EQ((*arrays)[1].second.ToVector<std::int64_t>(), (std::vector<std::int64_t>{7}));
  }
}

TEST_F(NpzTest, AnEmptyArchiveHasNoArrays) {
  const auto arrays = Read(ZipOf({}));
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  EXPECT_TRUE(arrays->empty());
}

TEST_F(NpzTest, OtherFilesAreRefused) {
  EXPECT_THAT(RefusalOf(""), HasSubstr("this is not a .npz file"));
  EXPECT_THAT(RefusalOf(std::string(1000, 'x')), HasSubstr("this is not a .npz file"));
  EXPECT_EQ(ReadNpz((folder_ / "none.npz").string()).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(NpzTest, ManyZerosAreAFewBytes) {
  const NDArray zeros = NDArray::Zeros({1000, 333}, Float32);
  const std::string bytes = ZipOf({{"z.npy", NpyOf(zeros)}}, true);
  EXPECT_LT(bytes.size(), 5000U);
  const auto arrays = Read(bytes);
  ASSERT_TRUE(arrays.ok()) << arrays.status();
  EXPECT_TRUE((*arrays)[0].second.SameBytes(zeros));
}

// Otherwise a small file could ask for any amount of memory.
TEST_F(NpzTest, EntriesThatShareTheirBytesAreRefused) {
  const std::string bytes = ZipOf(
      {{"z.npy", NpyOf(NDArray::FromVector<std::uint8_t>({400}, std::vector<std::uint8_t>(400)))}});
  const std::size_t begin = bytes.find("PK\x01\x02"), end = bytes.find("PK\x05\x06");
  std::string entries;
  for (const char name : {'a', 'b', 'c'}) {
    std::string entry = bytes.substr(begin, end - begin);
    entry[46] = name;
    entries += entry;
  }
  std::string close = bytes.substr(end);
  close.replace(8, 8,
                LittleEndian(3, 2) + LittleEndian(3, 2) +
                    LittleEndian(static_cast<std::uint32_t>(entries.size()), 4));
  EXPECT_THAT(RefusalOf(bytes.substr(0, begin) + entries + close),
              HasSubstr("the arrays up to b take more bytes than the archive has"));
}

TEST_F(NpzTest, OtherMethodsOfCompressionAreRefused) {
  std::string bytes = Archive();
  // The method of the first entry of the directory.
  bytes[bytes.find("PK\x01\x02") + 10] = 12;
  EXPECT_THAT(RefusalOf(bytes), AllOf(HasSubstr("params.npz"),
                                      HasSubstr("the array w is compressed by method 12 of zip")));
}

// Sizes that do not fit are seen before memory is taken.
TEST_F(NpzTest, ACompressedArrayOfAnotherSizeIsDamaged) {
  for (const unsigned char highest : {0x00, 0x7f}) {
    std::string bytes = Archive(true);
    const std::size_t size = bytes.find("PK\x01\x02") + 24;
    bytes[size + 3] = static_cast<char>(highest);
    bytes[size] = static_cast<char>(bytes[size] ^ 1);
    EXPECT_THAT(RefusalOf(bytes), HasSubstr("the array w is damaged: it does not inflate to the"));
  }
}

TEST_F(NpzTest, ADamagedArrayIsRefused) {
  std::string bytes = Archive();
  bytes[bytes.find("NUMPY") + 100] ^= 1;
  EXPECT_THAT(RefusalOf(bytes), HasSubstr("the array w is damaged: its checksum is another"));
}

TEST_F(NpzTest, AnArrayThatIsNoneIsNamed) {
  EXPECT_THAT(RefusalOf(ZipOf({{"a.npy", "text and more"}})),
              HasSubstr("the array a: this is not a .npy file"));
}

// Whatever is cut off or changed is an error, or changes no array.
TEST_F(NpzTest, NoDamageEndsTheProcess) {
  for (const bool compressed : {false, true}) {
    const std::string bytes = Archive(compressed);
    for (std::size_t length = 0; length < bytes.size(); ++length)
      EXPECT_FALSE(Read(bytes.substr(0, length)).ok()) << length;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ 0x81);
      const auto arrays = Read(changed);
      if (arrays.ok()) {
        EXPECT_LE(arrays->size(), 2U);
      }
    }
  }
}

}  // namespace
}  // namespace tenon::runtime
