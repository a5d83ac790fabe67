// Shapes that models compute as arrays: what exporters write for windows over images of any size.
#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using testing_graphs::Random;

// Images of three channels.
std::vector<runtime::Inputs> Images(const std::vector<Shape>& sizes) {
  std::vector<runtime::Inputs> runs;
  for (const Shape& size : sizes)
    runs.push_back({{"x", Random({size[0], size[1], size[2], 3}, 1)}});
  return runs;
}

Model ImageModel(int opset = 13) {
  Model model(opset);
  NamedInput(model, "x", {"n", "h", "w", "3"}).Output("y");
  model.Integers("0", {0}).Integers("1", {1}).Integers("2", {2}).Integers("3", {3});
  model.Integers("4", {4}).Integers("4, 4", {4, 4}).Integers("-1", {-1});
  return model;
}

void Concat(Model& model, const Names& parts, const std::string& whole, std::int64_t axis = 0) {
  SetInt(model.Node("Concat", parts, {whole}), "axis", axis);
}

// The extents of `of` along its axes 1 and 2, over 4.
void CountWindows(Model& model, const std::string& of) {
  model.Node("Shape", {of}, {of + " shape"});
  model.Node("Slice", {of + " shape", "1", "3", "0"}, {of + " sides"});
  model.Node("Div", {of + " sides", "4, 4"}, {of + " windows"});
}

// "y" has the windows of `of`.
void TakeWindows(Model& model, const std::string& of) {
  CountWindows(model, of);
  for (const std::string axis : {"0", "1"})
    model.Node("Gather", {of + " windows", axis}, {"windows " + axis});
  model.Node("Gather", {of + " shape", "0"}, {"images"});
  Concat(model, {"images", "windows 0", "4", "windows 1", "4", "3"}, "target");
  model.Node("Reshape", {of, "target"}, {"y"});
}

TEST(ComputedShapesTest, WindowsAreCountedAsAVector) {
  Model model = ImageModel();
  TakeWindows(model, "x");
  ExpectRightForAll(model, Images({{1, 4, 4}, {2, 8, 12}, {3, 20, 4}}), true);
}

TEST(ComputedShapesTest, WindowsAndTheirSidesAreJoinedInPairs) {
  Model model = ImageModel();
  model.Integers("sides", {4, 4});
  CountWindows(model, "x");
  model.Node("Unsqueeze", {"x windows", "1"}, {"windows column"});
  model.Node("Unsqueeze", {"sides", "1"}, {"sides column"});
  Concat(model, {"windows column", "sides column"}, "pairs", 1);
  model.Node("Reshape", {"pairs", "-1"}, {"flat"});
  model.Node("Gather", {"x shape", "0"}, {"images"});
  Concat(model, {"images", "flat", "3"}, "target");
  model.Node("Reshape", {"x", "target"}, {"y"});
  ExpectRightForAll(model, Images({{1, 4, 4}, {2, 8, 12}, {3, 20, 4}}), true);
}

TEST(ComputedShapesTest, AShapeMayBeSplit) {
  Model model = ImageModel(18);
  model.Node("Shape", {"x"}, {"shape"});
  SetInt(model.Node("Split", {"shape"}, {"n", "h", "w", "c"}), "num_outputs", 4);
  model.Node("Div", {"h", "4"}, {"rows"});
  model.Node("Mul", {"w", "c"}, {"line"});
  Concat(model, {"n", "rows", "4", "line"}, "target");
  model.Node("Reshape", {"x", "target"}, {"y"});
  ExpectRightForAll(model, Images({{1, 4, 5}, {2, 8, 12}, {3, 20, 1}}), true);
}

// As PyTorch's exporter writes paddings: reversed in pairs of both ends, then transposed.
TEST(ComputedShapesTest, ImagesArePaddedToWholeWindows) {
  Model model = ImageModel();
  model.Integers("none", {0, 0}).Integers("in pairs", {-1, 2}).Integers("before all", {-100});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Slice", {"shape", "1", "3", "0"}, {"sides"});
  model.Node("Mod", {"sides", "4, 4"}, {"over"});
  model.Node("Sub", {"4, 4", "over"}, {"missing"});
  model.Node("Mod", {"missing", "4, 4"}, {"after"});
  for (const std::string axis : {"0", "1"})
    model.Node("Gather", {"after", axis}, {"after " + axis});
  // The last axis comes first: channels, width, height, images.
  Concat(model, {"none", "0", "after 1", "0", "after 0", "none"}, "torch pads");
  model.Node("Reshape", {"torch pads", "in pairs"}, {"pairs"});
  model.Node("Slice", {"pairs", "-1", "before all", "0", "-1"}, {"by axis"});
  model.Node("Transpose", {"by axis"}, {"by end"});
  model.Node("Reshape", {"by end", "-1"}, {"pads"});
  model.Node("Pad", {"x", "pads"}, {"padded"});
  TakeWindows(model, "padded");
  ExpectRightForAll(model, Images({{1, 1, 1}, {1, 4, 4}, {2, 7, 13}, {3, 20, 2}}), true);
}

TEST(ComputedShapesTest, ElementsMoveAmongArraysOfAnyRank) {
  Model model = ImageModel();
  model.Integers("square", {2, 2}).Integers("swapped", {1, 0}).Integers("all", {-1});
  // [[n, h], [w, 3]] becomes [[n, w], [h, 3]], [[w, n], [3, h]], [[n], [h]] and [n, h].
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Reshape", {"shape", "square"}, {"table"});
  model.Node("Transpose", {"table"}, {"turned"});
  SetInt(model.Node("Gather", {"turned", "swapped"}, {"columns"}), "axis", 1);
  model.Node("Slice", {"columns", "1", "2", "1"}, {"column"});
  model.Node("Squeeze", {"column", "1"}, {"n, h"});
  Concat(model, {"n, h", "all"}, "target");
  model.Node("Reshape", {"x", "target"}, {"y"});
  const auto results = ExpectRightForAll(model, Images({{1, 4, 5}, {2, 8, 12}, {3, 1, 7}}), true);
  EXPECT_EQ(results.at(1).at(0).shape(), (Shape{2, 8, 36}));
}

}  // namespace
}  // namespace tenon::onnx_import
