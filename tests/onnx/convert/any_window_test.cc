// Windows over images of any size: padding that auto_pad makes of the extents, windows that
// ceil_mode adds, the places of maxima, and what is written to such places.
#include <string>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Random;

std::vector<runtime::Inputs> Images(std::int64_t channels, const std::vector<Shape>& sizes) {
  std::vector<runtime::Inputs> all;
  for (const Shape& size : sizes) {
    const auto seed = static_cast<std::uint32_t>(size[0] + size[1]);
    all.push_back({{"x", Random({1 + size[0] % 2, channels, size[0], size[1]}, seed)}});
  }
  return all;
}

// "x", an image of any size.
Model ImageModel(int opset, const std::string& channels) {
  Model model(opset);
  NamedInput(model, "x", {"n", channels, "h", "w"});
  return model;
}

struct Same {
  const char* automatic;
  std::int64_t kernel, stride, dilation;
};

TEST(AnyWindowTest, PaddingThatExtentsAskForIsThatOfEachExtent) {
  for (const Same& c :
       {Same{"SAME_UPPER", 3, 1, 1}, Same{"SAME_LOWER", 2, 1, 2}, Same{"SAME_UPPER", 3, 2, 1},
        Same{"SAME_LOWER", 3, 2, 1}, Same{"SAME_UPPER", 2, 3, 1}, Same{"SAME_LOWER", 4, 3, 1},
        Same{"SAME_UPPER", 5, 3, 1}, Same{"SAME_LOWER", 1, 2, 1}}) {
    SCOPED_TRACE(StrCat(c.automatic, " ", c.kernel, " by ", c.stride));
    Model model = ImageModel(19, "3");
    model.Constant("weight", Random({4, 3, c.kernel, c.kernel}, 7));
    const auto add = [&](const char* op, const Names& inputs, const char* output) -> NodeProto& {
      NodeProto& node = model.Node(op, inputs, {output});
      model.Output(output);
      SetString(node, "auto_pad", c.automatic);
      SetInts(node, "kernel_shape", {c.kernel, c.kernel});
      SetInts(node, "strides", {c.stride, c.stride});
      SetInts(node, "dilations", {c.dilation, c.dilation});
      return node;
    };
    add("Conv", {"x", "weight"}, "conv");
    add("MaxPool", {"x"}, "greatest");
    add("AveragePool", {"x"}, "mean");
    SetInt(add("AveragePool", {"x"}, "mean_with_padding"), "count_include_pad", 1);
    ExpectRightForAll(model, Images(3, {{7, 8}, {9, 12}, {16, 5}, {10, 1}, {11, 31}}));
  }
}

TEST(AnyWindowTest, ATransposedConvolutionMakesTheStrideTimesAsManyElements) {
  for (const char* automatic : {"SAME_UPPER", "SAME_LOWER"}) {
    Model model = ImageModel(13, "4");
    model.Constant("weight", Random({4, 2, 3, 2}, 7)).Output("y");
    NodeProto& node = model.Node("ConvTranspose", {"x", "weight"}, {"y"});
    SetString(node, "auto_pad", automatic);
    SetInts(node, "strides", {2, 3});
    const auto results = ExpectRightForAll(model, Images(4, {{7, 5}, {1, 16}, {17, 2}}));
    EXPECT_EQ(results.at(0).at(0).shape(), (Shape{2, 2, 14, 15}));
  }
}

TEST(AnyWindowTest, AWindowThatWouldStartInThePaddingIsDropped) {
  Model model = ImageModel(19, "2");
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    for (const std::int64_t counted : {0, 1}) {
      if (counted != 0 && std::string(op) != "AveragePool") continue;
      const std::string output = StrCat(op, counted);
      NodeProto& node = model.Node(op, {"x"}, {output});
      model.Output(output);
      SetInts(node, "kernel_shape", {3, 2});
      SetInts(node, "strides", {2, 2});
      SetInts(node, "pads", {1, 0, 1, 1});
      SetInt(node, "ceil_mode", 1);
      if (counted != 0) SetInt(node, "count_include_pad", 1);
    }
  }
  const auto results = ExpectRightForAll(model, Images(2, {{7, 6}, {8, 7}, {5, 2}, {16, 33}}));
  EXPECT_EQ(results.at(0).at(0).shape(), (Shape{2, 2, 4, 3}));
  EXPECT_EQ(results.at(1).at(0).shape(), (Shape{1, 2, 5, 4}));
}

// It lacks less than a stride of elements.
TEST(AnyWindowTest, CeilModeAddsAWindowWhereNoneFits) {
  Model model = ImageModel(19, "2");
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    NodeProto& node = model.Node(op, {"x"}, {op});
    model.Output(op);
    SetInts(node, "kernel_shape", {4, 3});
    SetInts(node, "strides", {3, 2});
    SetInt(node, "ceil_mode", 1);
  }
  model.Output("places").Node("MaxPool", {"x"}, {"greatest", "places"});
  NodeProto& places = *model.proto.mutable_graph()->mutable_node(3);
  SetInts(places, "kernel_shape", {2, 2});
  SetInts(places, "strides", {2, 2});
  SetInt(places, "ceil_mode", 1);
  const auto results = ExpectRightForAll(model, Images(2, {{2, 2}, {3, 5}, {16, 2}, {7, 31}}));
  EXPECT_EQ(results.at(0).at(0).shape(), (Shape{1, 2, 1, 1}));
  EXPECT_EQ(results.at(2).at(0).shape(), (Shape{1, 2, 5, 1}));
}

// The only window would start past the data.
TEST(AnyWindowTest, AnImageOfNoRowsHasNoWindow) {
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    Model model(19);
    NamedInput(model, "x", {"1", "2", "#h", "w"}).Output("y");
    NodeProto& node = model.Node(op, {"x"}, {"y"});
    SetInts(node, "kernel_shape", {2, 2});
    SetInts(node, "strides", {2, 2});
    SetInts(node, "pads", {0, 0, 1, 0});
    SetInt(node, "ceil_mode", 1);
    const auto results = ExpectRightForAll(
        model, {{{"x", NDArray::Zeros({1, 2, 0, 5}, Float32)}}, {{"x", Random({1, 2, 5, 5}, 1)}}});
    EXPECT_EQ(results.at(0).at(0).shape(), (Shape{1, 2, 0, 3})) << op;
  }
}

TEST(AnyWindowTest, PlacesOfMaximaAreThoseOfEachImage) {
  struct Case {
    const char* automatic;
    Ints kernel, strides, dilations, pads;
    bool rounds_up = false, columns_first = false;
  };
  for (const Case& c : {Case{"NOTSET", {2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
                        Case{"NOTSET", {3, 2}, {2, 3}, {1, 2}, {1, 0, 1, 1}, false, true},
                        Case{"NOTSET", {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, true},
                        Case{"SAME_UPPER", {3, 3}, {2, 2}, {1, 1}, {}}}) {
    SCOPED_TRACE(StrCat(c.automatic, " ", c.rounds_up, " ", c.columns_first));
    Model model = ImageModel(12, "3");
    model.Output("y").Output("places");
    NodeProto& node = model.Node("MaxPool", {"x"}, {"y", "places"});
    SetString(node, "auto_pad", c.automatic);
    SetInts(node, "kernel_shape", c.kernel);
    SetInts(node, "strides", c.strides);
    SetInts(node, "dilations", c.dilations);
    if (!c.pads.empty()) SetInts(node, "pads", c.pads);
    SetInt(node, "ceil_mode", c.rounds_up ? 1 : 0);
    SetInt(node, "storage_order", c.columns_first ? 1 : 0);
    std::vector<runtime::Inputs> images = Images(3, {{7, 8}, {16, 5}, {9, 31}});
    // Elements as low as padding is taken to be.
    NDArray& low = images.back().at("x");
    for (std::int64_t i = 0; i < low.size(); ++i) {
      if (i % 5 != 4) low.data<float>()[i] = -std::numeric_limits<float>::infinity();
    }
    ExpectRightForAll(model, images, true);
  }
}

TEST(AnyWindowTest, MaximaGoBackToTheirPlaces) {
  Model model = ImageModel(12, "3");
  model.Output("y").Output("wider");
  model.Node("MaxPool", {"x"}, {"greatest", "places"});
  model.Node("MaxUnpool", {"greatest", "places"}, {"y"});
  for (int i = 0; i < 2; ++i) {
    NodeProto& node = *model.proto.mutable_graph()->mutable_node(i);
    SetInts(node, "kernel_shape", {2, 2});
    SetInts(node, "strides", {2, 2});
  }
  // What is added at the end is a number.
  model.Integers("more", {0, 0, 1, 2});
  model.Node("Shape", {"y"}, {"shape"});
  model.Node("Add", {"shape", "more"}, {"wanted"});
  NodeProto& node = model.Node("MaxUnpool", {"greatest", "places", "wanted"}, {"wider"});
  SetInts(node, "kernel_shape", {2, 2});
  SetInts(node, "strides", {2, 2});
  const auto results = ExpectRightForAll(model, Images(3, {{8, 6}, {2, 32}, {17, 5}}), true);
  EXPECT_EQ(results.at(0).at(1).shape(), (Shape{1, 3, 9, 8}));
}

TEST(AnyWindowTest, BinsOfRegionsHaveTheirGreatestElement) {
  Model model = ImageModel(13, "2");
  NamedInput(model, "regions", {"k", "5"});
  model.Output("y");
  NodeProto& node = model.Node("MaxRoiPool", {"x", "regions"}, {"y"});
  SetInts(node, "pooled_shape", {2, 3});
  SetFloat(node, "spatial_scale", 0.5F);
  std::vector<runtime::Inputs> runs = Images(2, {{6, 8}, {16, 5}});
  runs[0]["regions"] = NDArray::FromVector<float>({2, 5}, {0, 0, 0, 14, 10, 0, 3, 4, 9, 8});
  runs[1]["regions"] = NDArray::FromVector<float>({1, 5}, {0, 2, 2, 9, 30});
  const auto results = ExpectRightForAll(model, runs);
  // Of the first region, all six rows and eight columns: bins of three rows and, on their borders
  // shared, 2 2/3 columns.
  const float* image = runs[0].at("x").data<float>();
  float greatest = image[0];
  for (std::int64_t row = 0; row < 3; ++row)
    for (std::int64_t column = 0; column < 3; ++column)
      greatest = std::max(greatest, image[row * 8 + column]);
  EXPECT_EQ(results.at(0).at(0).data<float>()[0], greatest);
}

TEST(AnyWindowTest, ABinOfNoElementsIsRefused) {
  Model model = ImageModel(13, "2");
  NamedInput(model, "regions", {"k", "5"});
  model.Output("y");
  SetInts(model.Node("MaxRoiPool", {"x", "regions"}, {"y"}, "pool"), "pooled_shape", {2, 0});
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kInvalidArgument),
              AllOf(HasSubstr("pool (MaxRoiPool)"),
                    HasSubstr("pooled_shape is (2, 0); it must be a height and a width of at "
                              "least 1")));
}

std::vector<runtime::Inputs> Signals(const std::vector<Shape>& shapes) {
  std::vector<runtime::Inputs> runs;
  for (const Shape& shape : shapes) runs.push_back({{"x", Random(shape, 1)}});
  return runs;
}

// Frames of 6 every 4: the window is part of each run's condition.
TEST(AnyWindowTest, FramesOfSignalsOfAnyLengthAreTransformed) {
  for (const char* parts : {"1", "2"}) {
    const std::int64_t count = parts[0] - '0';
    Model model(17);
    NamedInput(model, "x", {"n", "length", parts}).Output("y");
    model.Initializer("step", NDArray::Scalar<std::int64_t>(4));
    model.Constant("window", Random({6}, 2));
    NodeProto& node = model.Node("STFT", {"x", "step", "window"}, {"y"}, "frames");
    SetInt(node, "onesided", count == 1 ? 1 : 0);
    const auto results = ExpectRightForAll(
        model, Signals({{1, 6, count}, {2, 9, count}, {3, 10, count}, {2, 83, count}}));
    EXPECT_EQ(results.at(3).at(0).shape(), (Shape{2, 20, count == 1 ? 4 : 6, 2}));
    const Executable exe =
        ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
    EXPECT_EQ(exe.Run({{"x", Random({1, 5, count}, 1)}}).status().code(),
              absl::StatusCode::kInvalidArgument);
  }
}

// As PyTorch writes signals.
TEST(AnyWindowTest, FramesOfRealSignalsNeedNoAxisOfParts) {
  Model model(17);
  NamedInput(model, "x", {"n", "length"}).Output("y");
  model.Initializer("step", NDArray::Scalar<std::int64_t>(4));
  model.Constant("window", Random({6}, 2));
  model.Node("STFT", {"x", "step", "window"}, {"y"}, "frames");
  const auto results = ExpectRightForAll(model, Signals({{1, 6}, {2, 9}, {3, 10}}));
  EXPECT_EQ(results.at(2).at(0).shape(), (Shape{3, 2, 4, 2}));
}

TEST(AnyWindowTest, AnyNumberOfSignalsIsTransformed) {
  for (const std::int64_t axis : {1, 2}) {
    for (const std::int64_t inverse : {0, 1}) {
      Model model(17);
      NamedInput(model, "x", axis == 1 ? Names{"n", "5", "m", "2"} : Names{"n", "m", "5", "2"});
      model.Output("y").Initializer("length", NDArray::Scalar<std::int64_t>(inverse == 0 ? 4 : 8));
      NodeProto& node = model.Node("DFT", {"x", "length"}, {"y"});
      SetInt(node, "axis", axis);
      SetInt(node, "inverse", inverse);
      std::vector<Shape> shapes;
      for (const auto& [n, m] : {std::pair(1, 1), std::pair(2, 7), std::pair(3, 16)})
        shapes.push_back(axis == 1 ? Shape{n, 5, m, 2} : Shape{n, m, 5, 2});
      ExpectRightForAll(model, Signals(shapes));
    }
  }
}

// Extents and strides alone say how many windows there are.
TEST(AnyWindowTest, PaddingOfItsOwnLeavesNoWindowForCeilMode) {
  for (const char* op : {"AveragePool", "MaxPool"}) {
    Model model(12);
    NamedInput(model, "x", {"1", "1", "h", "w"}).Output("y");
    NodeProto& node = model.Node(op, {"x"}, {"y"});
    SetInts(node, "kernel_shape", {2, 4});
    SetInts(node, "strides", {2, 2});
    SetString(node, "auto_pad", "SAME_UPPER");
    SetInt(node, "ceil_mode", 1);
    std::vector<runtime::Inputs> runs;
    for (const auto& [h, w] : {std::pair(2, 2), {7, 3}, {1, 16}, {4, 1}})
      runs.push_back({{"x", Random({1, 1, h, w}, 1)}});
    const auto results = ExpectRightForAll(model, runs);
    EXPECT_EQ(results.at(0).at(0).shape(), (Shape{1, 1, 1, 1})) << op;
    EXPECT_EQ(results.at(2).at(0).shape(), (Shape{1, 1, 1, 8})) << op;
  }
}

// Since opset 20, a signal needs no batch.
TEST(AnyWindowTest, ASignalAloneIsTransformed) {
  Model alone(20), in_batch(20);
  alone.Input("x", {5, 2}).Output("y").Node("DFT", {"x"}, {"y"});
  in_batch.Input("x", {1, 5, 2}).Output("y").Node("DFT", {"x"}, {"y"});
  const std::vector<float> values = {1, 2, -3, 4, 0, 5, 7, -1, 2, 2};
  const NDArray y = Computed(alone, {{"x", NDArray::FromVector({5, 2}, values)}})[0];
  EXPECT_EQ(y.shape(), (Shape{5, 2}));
  EXPECT_EQ(
      y.ToVector<float>(),
      Computed(in_batch, {{"x", NDArray::FromVector({1, 5, 2}, values)}})[0].ToVector<float>());
}

}  // namespace
}  // namespace tenon::onnx_import
