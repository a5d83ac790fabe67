#include "tenon/runtime/npy.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace tenon::runtime {
namespace {

using ::testing::HasSubstr;
using ::testing::TestWithParam;

std::string TempFile(const std::string& name) {
  return ::testing::TempDir() + "/tenon_npy_" + name;
}

std::string WriteBytes(const std::string& name, const std::string& bytes) {
  const std::string path = TempFile(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string File(const std::string& dictionary, const std::string& elements) {
  std::string header = dictionary + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
         elements;
}

TEST(NpyTest, WritesWhatItReadsForEveryElementType) {
  for (const DataType dtype : {Bool, Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64,
                               Float16, Float32, Float64}) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{1}, Shape{3, 5}, Shape{2, 0, 3}}) {
      NDArray array = NDArray::Zeros(shape, dtype);
      auto* bytes = static_cast<std::uint8_t*>(array.raw());
      for (std::size_t i = 0; i < array.bytes(); ++i) bytes[i] = dtype == Bool ? i % 2 : 37 * i;
      const std::string path = TempFile("roundtrip.npy");
      ASSERT_TRUE(WriteNpy(path, array).ok());
      const absl::StatusOr<NDArray> read = ReadNpy(path);
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_TRUE(read->SameBytes(array)) << dtype.ToString() << ShapeToString(shape);
    }
  }
}

TEST(NpyTest, ElementsStartAtAMultipleOf64Bytes) {
  const std::string path = TempFile("aligned.npy");
  ASSERT_TRUE(WriteNpy(path, NDArray::Zeros({4}, Float32)).ok());
  EXPECT_EQ(std::filesystem::file_size(path) % 64, 16U);
}

TEST(NpyTest, ReadsFortranOrderAndBigEndian) {
  const auto fortran = ReadNpy(
      WriteBytes("fortran.npy", File("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }",
                                     "\x01\x04\x02\x05\x03\x06")));
  ASSERT_TRUE(fortran.ok()) << fortran.status();
  EXPECT_EQ(fortran->ToVector<std::uint8_t>(), (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
  const auto big =
      ReadNpy(WriteBytes("big.npy", File("{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}",
                                         std::string("\x01\x02\x00\x03", 4))));
  ASSERT_TRUE(big.ok()) << big.status();
  EXPECT_EQ(big->ToVector<std::int16_t>(), (std::vector<std::int16_t>{0x102, 3}));
}

struct BadFile {
  std::string name, bytes, message;
  absl::StatusCode code;
};

class BadNpyTest : public TestWithParam<BadFile> {};

TEST_P(BadNpyTest, IsRefusedInWords) {
  const BadFile& bad = GetParam();
  const std::string path = WriteBytes(bad.name, bad.bytes);
  const auto read = ReadNpy(path);
  EXPECT_EQ(read.status().code(), bad.code);
  EXPECT_THAT(read.status().message(), HasSubstr(bad.message));
  EXPECT_THAT(read.status().message(), HasSubstr(path));
}

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kLoss = absl::StatusCode::kDataLoss;
INSTANTIATE_TEST_SUITE_P(
    Files, BadNpyTest,
    ::testing::Values(
        BadFile{"empty", "", "ends in its magic string", kLoss},
        BadFile{"no_magic", "PK\x03\x04 a zip file", "not a .npy file", kInvalid},
        BadFile{"version", std::string("\x93NUMPY\x09\x00\x00\x00", 10), "version 9 is unknown",
                kInvalid},
        BadFile{"header_cut", std::string("\x93NUMPY\x01\x00\xff\x00{", 11), "ends in its header",
                kLoss},
        BadFile{"complex",
                File("{'descr': '<c8', 'fortran_order': False, 'shape': (1,)}", "12345678"),
                "'<c8' is not supported; allowed are bool", kInvalid},
        BadFile{"structured",
                File("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", "1234"),
                "structured element types are not supported", kInvalid},
        BadFile{"elements_cut",
                File("{'descr': '<f4', 'fortran_order': False, 'shape': (4,)}", "12345678"),
                "needs more than the 8 bytes there", kLoss},
        BadFile{
            "huge",
            File("{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000000000000,)}", ""),
            "needs more than the 0 bytes", kLoss},
        BadFile{
            "overflow",
            File("{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000000000000, 9)}", ""),
            "too many elements", kInvalid},
        BadFile{"negative",
                File("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "1234"),
                "negative extent -1", kInvalid},
        BadFile{"no_shape", File("{'descr': '<f4', 'fortran_order': False}", "1234"),
                "lacks one of the keys", kInvalid},
        BadFile{"garbage", File("{'descr' '<f4'}", ""), "malformed: expected ':'", kInvalid}),
    [](const auto& info) { return info.param.name; });

TEST(NpyTest, MissingFileAndUnwritableFolderAreNotFound) {
  EXPECT_EQ(ReadNpy("/nonexistent/x.npy").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(WriteNpy("/nonexistent/x.npy", NDArray::Scalar(1.0F)).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(WriteNpy(TempFile("null.npy"), NDArray()).code(), kInvalid);
  EXPECT_THAT(WriteNpy(TempFile("bf16.npy"), NDArray::Zeros({1}, BFloat16)).message(),
              HasSubstr("NumPy has no element type bfloat16"));
}

TEST(NpyTest, AnyByteOfABoolThatIsNotZeroIsTrue) {
  const auto read = ReadNpy(
      WriteBytes("bools.npy", File("{'descr': '|b1', 'fortran_order': False, 'shape': (4,)}",
                                   std::string("\x00\x01\x02\xff", 4))));
  ASSERT_TRUE(read.ok()) << read.status();
  const auto* bytes = static_cast<const std::uint8_t*>(read->raw());
  EXPECT_EQ(std::vector<std::uint8_t>(bytes, bytes + 4), (std::vector<std::uint8_t>{0, 1, 1, 1}));
}

TEST(NpyTest, AFolderOrAPipeIsRefusedAsSuch) {
  EXPECT_THAT(ReadNpy(::testing::TempDir()).status().message(), HasSubstr("this is a folder"));
  const std::string pipe = TempFile("pipe.npy");
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(ReadNpy(pipe).status().message(), HasSubstr("this is a pipe or a device"));
  std::filesystem::remove(pipe);
}

// Another user of the folder may know the name that is written and put a link beside it.
TEST(NpyTest, NoFileBesideTheOneThatIsAskedForIsWritten) {
  const std::string path = TempFile("linked.npy"), victim = WriteBytes("victim", "untouched");
  std::filesystem::remove(path + ".partial");
  std::filesystem::create_symlink(victim, path + ".partial");
  ASSERT_TRUE(WriteNpy(path, NDArray::Scalar(1.0F)).ok());
  std::filesystem::remove(path + ".partial");
  std::ifstream file(victim);
  std::string text;
  file >> text;
  EXPECT_EQ(text, "untouched");
}

TEST(NpyTest, ADeviceThatIsFullIsNoticed) {
  EXPECT_THAT(WriteNpy("/dev/full", NDArray::Zeros({4}, Float32)).message(),
              HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace tenon::runtime
