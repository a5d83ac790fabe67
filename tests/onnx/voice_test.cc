// A voice activity detector (Silero) against reference outputs made with ONNX Runtime: branches by
// the sampling rate, shapes computed by the model, an LSTM.
#include "tenon/onnx/import.h"
#include "tenon/runtime/npy.h"
#include "tenon/support/strings.h"
#include "tenon/tests/testing/graph_testing.h"
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

// One frame is made of so many samples: the branch that squeezes it is known then, for any batch.
TEST(VoiceModelTest, IsCompiledOnceForAllBatches) {
  ImportOptions options = OptionsFor(512);
  const Dim batch = Dim::Symbol("batch");
  options.shapes = {};
  options.symbolic = true;
  options.extents = {{"input", {batch, 512}}, {"state", {2, batch, 128}}};
  options.constants = {{"sr", NDArray::Scalar(std::int64_t{16000})}};
  const Executable exe = ValueOrThrow(Compile(ValueOrThrow(LoadOnnx(kModel, options))));
  EXPECT_TRUE(exe.is_symbolic());
  EXPECT_EQ(exe.program(), nullptr);                                 // no If is left
  EXPECT_TRUE(Lower(ValueOrThrow(LoadOnnx(kModel, options))).ok());  // no kernel needs numbers
  ImportOptions fixed = OptionsFor(512);
  fixed.constants = options.constants;
  for (const std::int64_t count : {1, 3}) {
    fixed.shapes = {{"input", {count, 512}}, {"state", {2, count, 128}}};
    const Executable own = ValueOrThrow(Compile(ValueOrThrow(LoadOnnx(kModel, fixed))));
    const runtime::Inputs inputs = {{"input", testing_graphs::Random({count, 512}, 3)},
                                    {"state", testing_graphs::Random({2, count, 128}, 4)}};
    ExpectClose(ValueOrThrow(exe.Run(inputs)), ValueOrThrow(own.Run(inputs)));
  }
}

// Of 192 to 703 samples it makes one frame, which an If squeezes. The branch of more frames has no
// valid types.
TEST(VoiceModelTest, IsCompiledOnceForAllLengthsOfOneFrame) {
  ImportOptions options = OptionsFor(512);
  const Dim batch = Dim::Symbol("batch"), samples = Dim::Symbol("samples");
  options.shapes = {};
  options.symbolic = true;
  options.extents = {{"input", {batch, samples}}, {"state", {2, batch, 128}}};
  options.constants = {{"sr", NDArray::Scalar(std::int64_t{16000})}};
  const ir::Module module = ValueOrThrow(LoadOnnx(kModel, options));
  EXPECT_TRUE(Lower(module).ok());  // no kernel needs numbers
  const Executable exe = ValueOrThrow(Compile(module));
  EXPECT_EQ(exe.program(), nullptr);  // no If is left
  const auto inputs_of = [](std::int64_t count, std::int64_t length) {
    return runtime::Inputs{{"input", testing_graphs::Random({count, length}, 3)},
                           {"state", testing_graphs::Random({2, count, 128}, 4)}};
  };
  ImportOptions fixed = OptionsFor(512);
  fixed.constants = options.constants;
  for (const auto& [count, length] : std::vector<std::pair<std::int64_t, std::int64_t>>{
           {1, 192}, {3, 193}, {1, 512}, {2, 577}, {1, 703}}) {
    fixed.shapes = {{"input", {count, length}}, {"state", {2, count, 128}}};
    const Executable own = ValueOrThrow(Compile(ValueOrThrow(LoadOnnx(kModel, fixed))));
    const runtime::Inputs inputs = inputs_of(count, length);
    ExpectClose(ValueOrThrow(exe.Run(inputs)), ValueOrThrow(own.Run(inputs)));
  }
  for (const std::int64_t length : {191, 704})
    EXPECT_THAT(std::string(exe.Run(inputs_of(1, length)).status().message()),
                AllOf(HasSubstr("decoder/Squeeze"), HasSubstr("not 1")));
}

// Each rate has its network, and each network its lengths.
TEST(VoiceModelTest, IsCompiledOnceForBothRates) {
  ImportOptions options = OptionsFor(512);
  options.shapes = {};
  options.symbolic = true;
  const Dim batch = Dim::Symbol("batch");
  options.extents = {{"input", {batch, Dim::Symbol("samples")}}, {"state", {2, batch, 128}}};
  const Executable exe = ValueOrThrow(Compile(ValueOrThrow(LoadOnnx(kModel, options))));
  for (const auto& [rate, length, is_taken] :
       std::vector<std::tuple<std::int64_t, std::int64_t, bool>>{
           {16000, 512, true}, {8000, 256, true}, {16000, 150, false}, {8000, 512, false}}) {
    SCOPED_TRACE(StrCat(rate, " ", length));
    const runtime::Inputs inputs = {{"input", testing_graphs::Random({1, length}, 5)},
                                    {"state", testing_graphs::Random({2, 1, 128}, 6)}};
    runtime::Inputs with_rate = inputs;
    with_rate["sr"] = NDArray::Scalar(rate);
    const auto results = exe.Run(with_rate);
    EXPECT_EQ(results.ok(), is_taken) << results.status();
    if (!results.ok()) continue;
    ImportOptions fixed = OptionsFor(length);
    fixed.constants = {{"sr", NDArray::Scalar(rate)}};
    const Executable own = ValueOrThrow(Compile(ValueOrThrow(LoadOnnx(kModel, fixed))));
    ExpectClose(*results, ValueOrThrow(own.Run(inputs)));
  }
}

TEST(VoiceModelTest, ExtentsThatTheModelDoesNotTakeAreRefused) {
  ImportOptions options = OptionsFor(512);
  options.shapes = {};
  options.symbolic = true;
  options.extents = {{"state", {3, Dim::Symbol("batch"), 128}}};
  options.constants = {{"sr", NDArray::Scalar(std::int64_t{16000})}};
  EXPECT_THAT(std::string(LoadOnnx(kModel, options).status().message()),
              HasSubstr("the shape (3, batch, 128) given for state does not fit"));
}

TEST(VoiceModelTest, WithoutTheRateTheOtherNetworkIsInTheWayAndTheNoteHelps) {
  const absl::StatusOr<ir::Module> module = LoadOnnx(kModel, OptionsFor(576));
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(std::string(module.status().message()),
              AllOf(HasSubstr("in the node If_0 (If)"), HasSubstr("--constant")));
}

}  // namespace
}  // namespace tenon::onnx_import
