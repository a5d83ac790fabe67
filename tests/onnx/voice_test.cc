// A voice activity detector (Silero) against reference outputs made with ONNX Runtime: branches by
// the sampling rate, shapes computed by the model, an LSTM.
#include "tenon/onnx/import.h"
#include "tenon/runtime/npy.h"
#include "tenon/support/strings.h"
#include "tenon/tests/strategies/graph_testing.h"
#include "tenon_test_paths.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;

const std::string kModel =
    std::string(TENON_SOURCE_DIR) + "/build/npm/files/@ricky0123/vad-web/dist/silero_vad_v5.onnx";

ImportOptions OptionsFor(std::int64_t samples) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return {.shapes = {{"input", {1, samples}}, {"state", {2, 1, 128}}},
          .evaluate = strategies::EvaluateCall};
}

class VoiceTest : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(VoiceTest, AgreesWithTheReference) {
  const auto read = [](const char* name) {
    return ValueOrThrow(runtime::ReadNpy(
        StrCat(TENON_SOURCE_DIR, "/tests/data/voice/", GetParam(), ".", name, ".npy")));
  };
  const NDArray input = read("input");
  ImportOptions options = OptionsFor(input.shape()[1]);
  options.constants = {{"sr", NDArray::Scalar(GetParam())}};
  const Executable exe = ValueOrThrow(Compile(ValueOrThrow(LoadOnnx(kModel, options))));
  const auto results = ValueOrThrow(exe.Run({{"input", input}, {"state", read("state")}}));
  ExpectClose(results, {read("output"), read("stateN")});
}

INSTANTIATE_TEST_SUITE_P(Rates, VoiceTest, ::testing::Values(16000, 8000));

TEST(VoiceModelTest, WithoutTheRateTheOtherNetworkIsInTheWayAndTheNoteHelps) {
  const absl::StatusOr<ir::Module> module = LoadOnnx(kModel, OptionsFor(576));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(std::string(module.status().message()),
              AllOf(HasSubstr("in the node If_0 (If)"), HasSubstr("--constant")));
}

}  // namespace
}  // namespace tenon::onnx_import
