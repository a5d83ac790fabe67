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

std::vector<runtime::Inputs> Pairs(const std::vector<std::int64_t>& rows) {
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : rows) runs.push_back({{"x", Random({n, 2}, 1)}});
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

// The rows of x in these types, one after the other, are the extent of the result.
Model CountedModel(const std::vector<std::pair<const char*, int>>& casts) {
  Model model(13);
  NamedInput(model, "x", {"n", "2"}).Output("y");
  model.Integers("0", {0});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Gather", {"shape", "0"}, {"row"});
  std::string last = "row";
  for (const auto& [name, type] : casts) {
    SetInt(model.Node("Cast", {last}, {name}), "to", type);
    last = name;
  }
  model.Node("Reshape", {last, "one"}, {"count"});
  model.Integers("one", {1});
  model.Node("ConstantOfShape", {"count"}, {"y"});
  return model;
}

TEST(ComputedShapesTest, AnExtentInANarrowTypeWrapsAround) {
  for (const int narrow : {TensorProto::UINT8, TensorProto::INT8, TensorProto::UINT16}) {
    const Model model = CountedModel({{"narrow", narrow}, {"wide", TensorProto::INT64}});
    ExpectRightForAll(model, Pairs({5, 300, 70000}), true);
  }
  const Model kept = CountedModel({{"narrow", TensorProto::INT32}, {"wide", TensorProto::INT64}});
  ExpectRightForAll(kept, Pairs({5, 300, 70000}), true);
}

// Places of pixels, as grids of samples begin with them, and distances between places.
TEST(ComputedShapesTest, RealNumbersCountUpToExtents) {
  for (const int type : {TensorProto::FLOAT, TensorProto::DOUBLE}) {
    Model model(13);
    NamedInput(model, "x", {"n", "2"}).Output("up").Output("down");
    model.Integers("0", {0}).Integers("1", {1}).Integers("-1", {-1});
    model.Node("Shape", {"x"}, {"shape"});
    model.Node("Gather", {"shape", "0"}, {"row"});
    model.Node("Squeeze", {"row"}, {"n"});
    model.Node("Neg", {"n"}, {"below"});
    for (const std::string name : {"0", "1", "-1"}) {
      model.Node("Squeeze", {name}, {name + " scalar"});
      SetInt(model.Node("Cast", {name + " scalar"}, {name + " real"}), "to", type);
    }
    for (const std::string name : {"n", "below"})
      SetInt(model.Node("Cast", {name}, {name + " real"}), "to", type);
    model.Node("Range", {"0 real", "n real", "1 real"}, {"up"});
    model.Node("Range", {"n real", "below real", "-1 real"}, {"down"});
    const auto results = ExpectRightForAll(model, Pairs({1, 2, 31}), true);
    EXPECT_EQ(results.at(2).at(1).shape(), Shape{62});
    EXPECT_TRUE(Lower(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))).ok());
  }
}

// Of an array whose other extents are variables.
TEST(ComputedShapesTest, ANumberAmongVariablesIsANumber) {
  Model model(13);
  NamedInput(model, "x", {"n", "2"}).Output("y");
  model.Node("Shape", {"x"}, {"shape"});
  model.Initializer("at", NDArray::Scalar<std::int64_t>(1));
  model.Initializer("0", NDArray::Scalar<std::int64_t>(0));
  model.Node("Gather", {"shape", "at"}, {"columns"});
  SetInt(model.Node("Cast", {"columns"}, {"same"}), "to", TensorProto::INT64);
  model.Node("Range", {"0", "same", "at"}, {"y"});
  const ir::Module module = passes::InferType(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes())));
  EXPECT_EQ(ir::ToString(module.Main().body.checked_type()), "Tensor[(2), int64]");
}

}  // namespace
}  // namespace tenon::onnx_import
