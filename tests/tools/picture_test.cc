// Pictures as inputs: upright as the camera was held, and nothing but pictures of bounded size.
#include "tenon/tools/picture.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tenon/support/strings.h"
#include "tenon/tools/exif.h"
#include "tenon_test_paths.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

namespace tenon::tools {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kWidth = 32, kHeight = 16;

// White in the quarter at the upper left, black elsewhere.
std::string Jpeg() {
  std::vector<std::uint8_t> grey(kWidth * kHeight, 0);
  for (int y = 0; y < kHeight / 2; ++y) {
    for (int x = 0; x < kWidth / 2; ++x) grey[static_cast<std::size_t>(y * kWidth + x)] = 255;
  }
  std::string bytes;
  stbi_write_jpg_to_func(
      [](void* to, void* data, int size) {
        static_cast<std::string*>(to)->append(static_cast<const char*>(data),
                                              static_cast<std::size_t>(size));
      },
      &bytes, kWidth, kHeight, 1, grey.data(), 100);
  return bytes;
}

// The picture with Exif data of one tag; its byte order is little-endian or big.
std::string WithOrientation(const std::string& jpeg, int orientation, bool big_endian) {
  const auto number = [&](std::uint32_t value, int width) {
    std::string bytes;
    for (int i = 0; i < width; ++i) {
      const int shift = 8 * (big_endian ? width - 1 - i : i);
      bytes += static_cast<char>(value >> static_cast<unsigned>(shift) & 0xFFU);
    }
    return bytes;
  };
  const std::string tiff =
      StrCat(big_endian ? "MM" : "II", number(42, 2), number(8, 4), number(1, 2), number(0x112, 2),
             number(3, 2), number(1, 4), number(static_cast<std::uint32_t>(orientation), 2),
             number(0, 2), number(0, 4));
  const std::string body = std::string("Exif\0\0", 6) + tiff;
  const std::size_t length = body.size() + 2;
  std::string segment = "\xFF\xE1";
  segment += static_cast<char>(length >> 8U);
  segment += static_cast<char>(length & 0xFFU);
  return jpeg.substr(0, 2) + segment + body + jpeg.substr(2);
}

class PictureTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / StrCat("tenon_picture_", getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return (folder_ / name).string();
  }

  fs::path folder_;
};

const ir::InputSpec kOpen{"x", Float32, std::vector<ir::Dim>{ir::Dim(1), ir::Dim(1), {}, {}}};

// Of a picture of 35 x 7, 3 rows need 15 columns.
TEST_F(PictureTest, TheWidthThatKeepsTheAspectIsExact) {
  for (const auto& [width, height, rows, columns] :
       {std::array{35, 7, 3, 15}, {35, 7, 6, 30}, {39, 13, 5, 15}, {36, 7, 3, 16}, {5, 7, 3, 3}}) {
    const std::string path =
        Write("white.pgm", StrCat("P5 ", width, " ", height, " 255\n",
                                  std::string(static_cast<std::size_t>(width * height), '\xFF')));
    const NDArray x = LoadPicture(path, {1, 1, rows, 40}, {.mean = 0, .deviation = 1}).value();
    const float* row = x.data<float>();
    EXPECT_EQ(std::count(row, row + 40, 0.0F), 40 - columns) << width << " x " << height;
  }
}

// By orientation: whether the white quarter is at the top and at the left.
TEST_F(PictureTest, AJpegIsTurnedAsItsExifDataSays) {
  const std::string jpeg = Jpeg();
  struct Case {
    int orientation;
    bool is_turned, is_top, is_left;
  };
  for (const Case& c : {Case{1, false, true, true},
                        {2, false, true, false},
                        {3, false, false, false},
                        {4, false, false, true},
                        {5, true, true, true},
                        {6, true, true, false},
                        {7, true, false, false},
                        {8, true, false, true}}) {
    for (const bool big_endian : {false, true}) {
      const std::string path = Write("p.jpg", WithOrientation(jpeg, c.orientation, big_endian));
      const Shape shape = ShapeForPicture(path, kOpen).value();
      EXPECT_EQ(shape,
                c.is_turned ? (Shape{1, 1, kWidth, kHeight}) : (Shape{1, 1, kHeight, kWidth}))
          << c.orientation;
      const NDArray x = LoadPicture(path, shape, {}).value();
      const std::int64_t height = shape[2], width = shape[3];
      const auto at = [&](bool top, bool left) {
        return x.data<float>()[(top ? 1 : height - 2) * width + (left ? 1 : width - 2)];
      };
      for (const bool top : {false, true}) {
        for (const bool left : {false, true})
          EXPECT_EQ(at(top, left) > 0, top == c.is_top && left == c.is_left)
              << c.orientation << top << left;
      }
    }
  }
}

TEST_F(PictureTest, ExifDataThatCannotBeReadTurnsNothing) {
  const std::string jpeg = Jpeg();
  const std::string whole = WithOrientation(jpeg, 6, false);
  EXPECT_EQ(ExifOrientation(jpeg), 1);
  EXPECT_EQ(ExifOrientation("not a picture"), 1);
  EXPECT_EQ(ExifOrientation(WithOrientation(jpeg, 9, false)), 1);
  EXPECT_EQ(ExifOrientation(whole), 6);
  for (std::size_t size = 0; size < 40; ++size)
    EXPECT_THAT(ExifOrientation(whole.substr(0, size)), ::testing::AnyOf(1, 6));
}

TEST_F(PictureTest, WhatIsNoPictureIsRefusedInWords) {
  const auto refused = [&](const std::string& bytes) {
    const std::string path = Write("p.png", bytes);
    const auto picture = LoadPicture(path, {1, 1, 8, 8}, {});
    EXPECT_FALSE(picture.ok());
    EXPECT_FALSE(ShapeForPicture(path, kOpen).ok() && bytes.size() < 40);
    return std::string(picture.status().message());
  };
  EXPECT_THAT(refused("GIF89a........................"), HasSubstr("none of .png, .jpg"));
  EXPECT_THAT(refused(""), HasSubstr("not a picture"));
  std::ifstream file(fs::path(TENON_SOURCE_DIR) / "examples/classify/upright.png",
                     std::ios::binary);
  const std::string png((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(refused(png.substr(0, png.size() / 2)), HasSubstr("the picture is cut short"));
}

TEST_F(PictureTest, AHeaderOfFewBytesCannotAskForMuchMemory) {
  const std::string path = Write("p.ppm", "P6 60000 60000 255\n");
  EXPECT_THAT(std::string(LoadPicture(path, {1, 3, 8, 8}, {}).status().message()),
              HasSubstr("60000 x 60000 pixels"));
}

}  // namespace
}  // namespace tenon::tools
