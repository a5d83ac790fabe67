#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/examples/ocr/boxes.h"
#include "tenon/examples/ocr/recognize.h"
#include "tenon/support/error.h"

namespace ocr {
namespace {

using ::testing::HasSubstr;

struct Case {
  double degrees, width, height;
};

Box Turned(const Case& c) {
  const double angle = c.degrees * std::numbers::pi / 180;
  return {.centre = {50, 40},
          .along = {std::cos(angle), std::sin(angle)},
          .width = c.width,
          .height = c.height};
}

// A map that is 1 where a pixel's centre lies in one of the boxes.
std::vector<float> MapOf(int width, int height, const std::vector<Box>& boxes) {
  std::vector<float> map(static_cast<std::size_t>(width) * height);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const Box& box : boxes) {
        const double dx = x + 0.5 - box.centre.x, dy = y + 0.5 - box.centre.y;
        const double u = dx * box.along.x + dy * box.along.y;
        const double v = dy * box.along.x - dx * box.along.y;
        if (std::abs(u) <= box.width / 2 && std::abs(v) <= box.height / 2)
          map[static_cast<std::size_t>(y) * width + x] = 1;
      }
    }
  }
  return map;
}

TEST(SmallestBoxTest, TheRectangleOfItsCornersIsTheRectangle) {
  for (const Case& c :
       {Case{0, 40, 10}, Case{9, 40, 10}, Case{-30, 31, 17}, Case{44, 20, 3}, Case{10, 8, 40}}) {
    const Box box = Turned(c);
    const auto corners = box.Corners();
    std::vector<Point> points(corners.begin(), corners.end());
    points.push_back(box.At(0.3, 0.8));  // points inside change nothing
    points.push_back(box.At(0.5, 0));
    const Box found = SmallestBox(points);
    EXPECT_NEAR(found.width, c.width, 1e-9) << c.degrees;
    EXPECT_NEAR(found.height, c.height, 1e-9) << c.degrees;
    EXPECT_NEAR(found.centre.x, 50, 1e-9);
    EXPECT_NEAR(found.centre.y, 40, 1e-9);
    EXPECT_NEAR(found.along.x, box.along.x, 1e-9);
    EXPECT_NEAR(found.along.y, box.along.y, 1e-9);
  }
}

TEST(SmallestBoxTest, APointAndALineAreBoxesWithoutArea) {
  const Box point = SmallestBox({{3, 4}, {3, 4}});
  EXPECT_EQ(point.width, 0);
  EXPECT_EQ(point.centre.x, 3);
  const Box line = SmallestBox({{0, 0}, {3, 4}, {6, 8}});
  EXPECT_NEAR(std::max(line.width, line.height), 10, 1e-9);
  EXPECT_NEAR(std::min(line.width, line.height), 0, 1e-9);
}

TEST(BoxTest, TurningMovesTheCornersAround) {
  const Box box = Turned({9, 40, 10});
  const auto corners = box.Corners();
  for (int quarters = 0; quarters <= 4; ++quarters) {
    const auto turned = box.Turned(quarters).Corners();
    for (int i = 0; i < 4; ++i) {
      // With the left side up, the lower left corner is the upper left one.
      const Point expected = corners[static_cast<std::size_t>((i + 4 - quarters % 4) % 4)];
      EXPECT_NEAR(turned[static_cast<std::size_t>(i)].x, expected.x, 1e-9);
      EXPECT_NEAR(turned[static_cast<std::size_t>(i)].y, expected.y, 1e-9);
    }
  }
}

TEST(FindBoxesTest, LinesAreFoundGrownAndInReadingOrder) {
  const std::vector<Box> drawn = {
      {.centre = {150, 61}, .width = 60, .height = 12},
      {.centre = {50, 60}, .width = 60, .height = 12},
      {.centre = {100, 20}, .along = {std::cos(0.1), std::sin(0.1)}, .width = 90, .height = 10},
      {.centre = {20, 90}, .width = 2, .height = 2},  // too small
  };
  const std::vector<float> map = MapOf(200, 100, drawn);
  const std::vector<Box> found = FindBoxes({.values = map.data(), .width = 200, .height = 100}, {});
  ASSERT_EQ(found.size(), 3U);
  const std::size_t order[] = {2, 1, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    const Box& expected = drawn[order[i]];
    const double grow = expected.width * expected.height * 1.5 / (expected.width + expected.height);
    EXPECT_NEAR(found[i].centre.x, expected.centre.x, 1.5);
    EXPECT_NEAR(found[i].centre.y, expected.centre.y, 1.5);
    EXPECT_NEAR(found[i].width, expected.width + grow, 3);
    EXPECT_NEAR(found[i].height, expected.height + grow, 3);
    EXPECT_GT(found[i].score, 0.8);
  }
}

TEST(FindBoxesTest, AnEmptyMapHasNone) {
  const std::vector<float> map(64 * 32);
  EXPECT_TRUE(FindBoxes({.values = map.data(), .width = 64, .height = 32}, {}).empty());
}

TEST(FindBoxesTest, AMapAboveTheThresholdEverywhereIsOneBox) {
  const std::vector<float> map(64 * 32, 0.9F);
  const auto found = FindBoxes({.values = map.data(), .width = 64, .height = 32}, {});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NEAR(found[0].centre.x, 32, 1e-9);
  EXPECT_NEAR(found[0].score, 0.9, 1e-6);
}

TEST(FindBoxesTest, FaintBoxesAreLeftOut) {
  const std::vector<float> map(64 * 32, 0.5F);
  EXPECT_TRUE(FindBoxes({.values = map.data(), .width = 64, .height = 32}, {}).empty());
}

// One-hot steps.
tenon::NDArray Steps(const std::vector<int>& classes, int count) {
  tenon::NDArray y =
      tenon::NDArray::Zeros({1, static_cast<std::int64_t>(classes.size()), count}, tenon::Float32);
  for (std::size_t i = 0; i < classes.size(); ++i)
    y.data<float>()[i * static_cast<std::size_t>(count) + static_cast<std::size_t>(classes[i])] =
        0.5F;
  return y;
}

TEST(DecodeCtcTest, RepetitionsMergeAndBlanksGo) {
  const std::vector<std::string> keys = {"", "a", "\xE4\xB8\x80", " "};
  const Text text = DecodeCtc(Steps({0, 1, 1, 0, 1, 3, 2, 2, 0}, 4), keys);
  EXPECT_EQ(text.text, "aa \xE4\xB8\x80");
  EXPECT_DOUBLE_EQ(text.confidence, 0.5);
  EXPECT_EQ(DecodeCtc(Steps({0, 0}, 4), keys).text, "");
  EXPECT_EQ(DecodeCtc(Steps({0, 0}, 4), keys).confidence, 0);
}

TEST(DecodeCtcTest, OtherKeysAreRefused) {
  try {
    DecodeCtc(Steps({0, 1}, 5), {"", "a", " "});
    FAIL() << "was accepted";
  } catch (const tenon::Error& error) {
    EXPECT_EQ(error.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(error.message(), HasSubstr("(1, steps, 3) is expected"));
  }
}

}  // namespace
}  // namespace ocr
