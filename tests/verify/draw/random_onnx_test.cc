// What is drawn: every operator, from a seed alone, and mostly what the import takes.
#include "tenon/verify/draw/random_onnx.h"

#include <cstring>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tenon/onnx/import.h"
#include "tenon/onnx/tensor.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/strategy.h"
#include "tenon/verify/draw/mutate_onnx.h"
#include "tenon/verify/draw/onnx_drawers.h"
#include "tenon/verify/fuzz_onnx.h"

namespace tenon::verify {
namespace {

using ::testing::ElementsAreArray;

TEST(RandomOnnxTest, EveryOperatorThatCanBeImportedIsDrawn) {
  std::vector<std::string> drawn;
  for (const auto& [name, drawer] : Drawers()) drawn.push_back(name);
  EXPECT_THAT(drawn, ElementsAreArray(onnx_import::SupportedOnnxOps()));
}

// Drawing is not enough: a node that is always refused is compared with nothing.
TEST(RandomOnnxTest, ModelsOfEachOperatorGiveEqualResults) {
  static const auto& exceptions = *new std::map<std::string, std::string>{};
  constexpr std::uint64_t kSeeds = 40;
  for (const std::string& op : onnx_import::SupportedOnnxOps()) {
    OnnxFuzzStatistics statistics;
    for (std::uint64_t seed = 0; seed < kSeeds && statistics.equal == 0; ++seed)
      EXPECT_EQ(FuzzOnnx(seed, {.ops = {op}, .mutate = false}, &statistics), std::nullopt);
    EXPECT_EQ(statistics.equal == 0, exceptions.contains(op))
        << op << ": " << statistics.ToString();
  }
}

TEST(RandomOnnxTest, AModelComesOfItsSeed) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random a(seed), b(seed);
    EXPECT_EQ(RandomOnnx(a, {}).DebugString(), RandomOnnx(b, {}).DebugString()) << seed;
  }
}

TEST(RandomOnnxTest, MostOfWhatIsDrawnAsTheStandardHasItIsEqual) {
  OnnxFuzzStatistics statistics;
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(FuzzOnnx(seed, {.mutate = false}, &statistics), std::nullopt);
  EXPECT_GE(statistics.equal, 40) << statistics.ToString();
}

TEST(RandomOnnxTest, ChangesReachWhatIsRefusedInWords) {
  OnnxFuzzStatistics statistics;
  for (std::uint64_t seed = 100; seed < 150; ++seed)
    EXPECT_EQ(FuzzOnnx(seed, {}, &statistics), std::nullopt);
  EXPECT_GE(statistics.refused, 5) << statistics.ToString();
}

TEST(MutateOnnxTest, TypedFieldsAreTheSameTensor) {
  Random random(1);
  for (const DataType type : kAll) {
    const NDArray array = verify::RandomArray({2, 3}, type, random);
    onnx::TensorProto tensor;
    onnx_import::ToTensorProto(array, "t", &tensor);
    UseTypedFields(&tensor);
    EXPECT_FALSE(tensor.has_raw_data()) << type.ToString();
    const NDArray again = onnx_import::ToNDArray(tensor, "t");
    EXPECT_EQ(std::memcmp(again.raw(), array.raw(), array.bytes()), 0) << type.ToString();
  }
}

}  // namespace
}  // namespace tenon::verify
