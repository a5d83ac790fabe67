// What is known when a model is imported is no obstacle, and what is not known is named.
#include <cmath>
#include <cstring>
#include <limits>

#include "tenon/onnx/tensor.h"
#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

NDArray Floats(const std::vector<float>& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

TEST(KnownValuesTest, NonZeroOfAKnownTensorIsKnown) {
  Model model;
  model.Input("x", {3}).Output("y");
  model.Constant("c", Floats({0, 2, 0, 5})).Node("NonZero", {"c"}, {"at"});
  model.Node("Squeeze", {"at"}, {"flat"});
  model.Node("Gather", {"x", "flat"}, {"y"});
  EXPECT_THAT(Computed(model, {{"x", Floats({7, 8, 9})}})[0].ToVector<float>(), ElementsAre(8, 9));
}

TEST(KnownValuesTest, UniqueOfAKnownTensorIsKnown) {
  Model model;
  model.Output("y").Constant("c", Floats({3, 1, 3})).Node("Unique", {"c"}, {"u"});
  model.Node("Neg", {"u"}, {"y"});
  EXPECT_THAT(Computed(model, {})[0].ToVector<float>(), ElementsAre(-1, -3));
}

// PyTorch writes nonzero so.
TEST(KnownValuesTest, AResultOfUnknownExtentsMayBeTransposed) {
  Model model;
  model.Input("x", {2, 2}).Output("y");
  model.Node("NonZero", {"x"}, {"at"});
  model.Node("Transpose", {"at"}, {"y"});
  const NDArray x = NDArray::FromVector<float>({2, 2}, {0, 1, 2, 0});
  const NDArray y = Computed(model, {{"x", x}})[0];
  EXPECT_EQ(y.shape(), (Shape{2, 2}));
  EXPECT_THAT(y.ToVector<std::int64_t>(), ElementsAre(0, 1, 1, 0));
}

TEST(KnownValuesTest, DropoutWithARatioOfZeroDropsNothingInTraining) {
  Model model;
  model.Input("x", {2}).Output("y").Constant("ratio", NDArray::Scalar<float>(0));
  TensorProto* mode = model.proto.mutable_graph()->add_initializer();
  mode->set_name("mode");
  mode->set_data_type(TensorProto::BOOL);
  mode->add_int32_data(1);
  model.Node("Dropout", {"x", "ratio", "mode"}, {"y"});
  EXPECT_THAT(Computed(model, {{"x", Floats({1, 2})}})[0].ToVector<float>(), ElementsAre(1, 2));
}

// Files of some exporters list all results of a node, and leave the name of those empty that nobody
// reads.
TEST(KnownValuesTest, ResultsWithoutANameAreNotWanted) {
  Model norm(9);
  norm.Input("x", {1, 2, 1}).Output("y");
  for (const char* name : {"scale", "bias", "mean", "variance"})
    norm.Constant(name, Floats({1, 1}));
  NodeProto& node = norm.Node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"},
                              {"y", "", "", "", ""});
  SetFloat(node, "epsilon", 0);
  const NDArray x = NDArray::FromVector<float>({1, 2, 1}, {3, 5});
  EXPECT_THAT(Computed(norm, {{"x", x}})[0].ToVector<float>(), ElementsAre(3, 5));

  // The places of so many elements are refused; the maxima alone are not.
  Model pool(12);
  pool.Input("x", {1, 1, std::int64_t{1} << 33}).Output("y");
  NodeProto& windows = pool.Node("MaxPool", {"x"}, {"y", ""});
  SetInts(windows, "kernel_shape", {2});
  EXPECT_TRUE(Imported(pool).ok()) << Imported(pool).status();

  Model dropout(12);
  dropout.Input("x", {2}).Output("y").Node("Dropout", {"x"}, {"y", ""});
  EXPECT_THAT(Computed(dropout, {{"x", Floats({1, 2})}})[0].ToVector<float>(), ElementsAre(1, 2));
  Model layer(17);
  layer.Input("x", {1, 2}).Output("y").Constant("scale", Floats({1, 1}));
  layer.Node("LayerNormalization", {"x", "scale"}, {"y", "", ""});
  const NDArray row = NDArray::FromVector<float>({1, 2}, {-1, 1});
  EXPECT_NEAR(Computed(layer, {{"x", row}})[0].data<float>()[1], 1, 1e-4);
}

TEST(KnownValuesTest, DropoutInTrainingWithoutARatioIsRefused) {
  Model model;
  model.Input("x", {2}).Output("y");
  TensorProto* mode = model.proto.mutable_graph()->add_initializer();
  mode->set_name("mode");
  mode->set_data_type(TensorProto::BOOL);
  mode->add_int32_data(1);
  model.Node("Dropout", {"x", "", "mode"}, {"y"});
  EXPECT_THAT(MessageOf(Imported(model), kUnimplemented), HasSubstr("training"));
}

TEST(KnownValuesTest, AnInputThatDecidesIsNamedWithTheRemedy) {
  Model model(20);
  model.Input("x", {1, 4, 1}).Input("s", {}, TensorProto::INT64).Output("y");
  model.Node("DFT", {"x", "", "s"}, {"y"}, "shaped");
  EXPECT_THAT(
      MessageOf(Imported(model), kUnimplemented),
      AllOf(HasSubstr("depends on the input s of the model"), HasSubstr("--constant s=VALUE")));
}

// A layer whose gates are clipped has no operator, so that its steps are written out.
TEST(KnownValuesTest, StepsThatAreWrittenOutAreLimited) {
  const auto imported = [](std::int64_t steps, bool clips) {
    Model model;
    model.Input("x", {steps, 1, 1}).Output("y");
    model.Constant("w", NDArray::Zeros({1, 4, 1}, Float32))
        .Constant("r", NDArray::Zeros({1, 4, 1}, Float32));
    NodeProto& node = model.Node("LSTM", {"x", "w", "r"}, {"y"});
    SetInt(node, "hidden_size", 1);
    if (clips) SetFloat(node, "clip", 1);
    return Unrolled(model);
  };
  EXPECT_TRUE(imported(1500, true).ok());
  EXPECT_TRUE(imported(100000, false).ok());
  EXPECT_THAT(MessageOf(imported(4097, true), kUnimplemented), HasSubstr("1 to 4096 are"));
}

NDArray Bounds(const Shape& shape, DataType type, const void* value) {
  NDArray array = NDArray::Empty(shape, type);
  std::memcpy(array.raw(), value, array.bytes());
  return array;
}

// y = Clip(x, min) of one element of any type.
NDArray Clipped(const NDArray& x, const NDArray& least) {
  Model model;
  TensorProto bound;
  ToTensorProto(least, "min", model.proto.mutable_graph()->add_initializer());
  ToTensorProto(x, "unused", &bound);
  model.Input("x", x.shape(), bound.data_type()).Output("y").Node("Clip", {"x", "min"}, {"y"});
  return Computed(model, {{"x", x}})[0];
}

TEST(KnownValuesTest, BoundsOfAClipAreExact) {
  constexpr std::int64_t kOdd = (std::int64_t{1} << 53) + 1;
  const NDArray x = NDArray::FromVector<std::int64_t>({2}, {0, kOdd + 1});
  EXPECT_THAT(Clipped(x, NDArray::Scalar(kOdd)).ToVector<std::int64_t>(),
              ElementsAre(kOdd, kOdd + 1));
}

TEST(KnownValuesTest, ABoundThatIsNanMakesAllResultsOfAClipNan) {
  const NDArray nan = NDArray::Scalar(std::numeric_limits<float>::quiet_NaN());
  for (const float value : Clipped(testing_graphs::Random({5}, 1), nan).ToVector<float>()) {
    EXPECT_TRUE(std::isnan(value));
  }
}

TEST(KnownValuesTest, BoundsOfAClipMayHaveAnyType) {
  const _Float16 half = 2, values[] = {1, 3};
  const NDArray halves = Clipped(Bounds({2}, Float16, values), Bounds({}, Float16, &half));
  const auto* y = static_cast<const _Float16*>(halves.raw());
  EXPECT_EQ(static_cast<float>(y[0]), 2);
  EXPECT_EQ(static_cast<float>(y[1]), 3);
  EXPECT_THAT(Clipped(NDArray::FromVector<std::uint16_t>({2}, {1, 60000}),
                      NDArray::Scalar<std::uint16_t>(40000))
                  .ToVector<std::uint16_t>(),
              ElementsAre(40000, 60000));
}

}  // namespace
}  // namespace tenon::onnx_import
