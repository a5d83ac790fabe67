// GridSample of volumes and DeformConv over extents that are variables.
#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::HasSubstr;
using testing_graphs::Random;

TEST(AnySampleTest, VolumesOfAnySizeAreSampled) {
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (const bool aligned : {false, true}) {
      SCOPED_TRACE(StrCat(padding, aligned ? " aligned" : ""));
      Model model(20);
      NamedInput(model, "x", {"n", "2", "d", "h", "w"});
      NamedInput(model, "grid", {"n", "a", "b", "c", "3"}).Output("y");
      NodeProto& node = model.Node("GridSample", {"x", "grid"}, {"y"});
      SetString(node, "padding_mode", padding);
      SetInt(node, "align_corners", aligned ? 1 : 0);
      std::vector<runtime::Inputs> runs;
      for (const Shape& shape : {Shape{1, 2, 3, 4, 5}, {2, 2, 1, 7, 17}, {3, 2, 1, 1, 1}}) {
        NDArray grid = Random({shape[0], 2, 3, 1, 3}, Float32, 2, -1.7, 1.7);
        grid.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
        runs.push_back({{"x", Random(shape, 1)}, {"grid", grid}});
      }
      ExpectRightForAll(model, runs);
    }
  }
}

Model Deformed() {
  Model model(19);
  NamedInput(model, "x", {"n", "4", "h", "w"}).InputLike("w", Random({6, 2, 3, 2}, 2));
  NamedInput(model, "o", {"n", "24", "oh", "ow"});
  NamedInput(model, "m", {"n", "12", "oh", "ow"}).Output("y");
  NodeProto& node = model.Node("DeformConv", {"x", "w", "o", "", "m"}, {"y"}, "deformed");
  SetInts(node, "kernel_shape", {3, 2});
  SetInts(node, "strides", {2, 1});
  SetInts(node, "pads", {1, 0, 1, 1});
  SetInts(node, "dilations", {1, 2});
  SetInt(node, "group", 2);
  SetInt(node, "offset_group", 2);
  return model;
}

// Of an image and that many places.
runtime::Inputs InputsOf(const Shape& image, std::int64_t height, std::int64_t width) {
  return {{"x", Random(image, 1)},
          {"w", Random({6, 2, 3, 2}, 2)},
          {"o", Random({image[0], 24, height, width}, Float32, 3, -2, 2)},
          {"m", Random({image[0], 12, height, width}, 4)}};
}

TEST(AnySampleTest, TapsOfImagesOfAnySizeAreMoved) {
  ExpectRightForAll(Deformed(), {InputsOf({2, 4, 6, 5}, 3, 4), InputsOf({1, 4, 17, 19}, 9, 18),
                                 InputsOf({1, 4, 1, 2}, 1, 1)});
}

TEST(AnySampleTest, ARunRefusesOffsetsThatAreNotAsManyAsWindows) {
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(Deformed().Bytes(), AnyShapes()))));
  const auto refusal = [&](const Shape& image, std::int64_t height, std::int64_t width) {
    return std::string(exe.Run(InputsOf(image, height, width)).status().message());
  };
  EXPECT_THAT(refusal({2, 4, 6, 5}, 3, 5), HasSubstr("deformed (DeformConv)"));
  EXPECT_THAT(refusal({2, 4, 6, 5}, 4, 4), HasSubstr("deformed (DeformConv)"));
  EXPECT_NE(refusal({2, 4, 0, 5}, 0, 4), "");
}

}  // namespace
}  // namespace tenon::onnx_import
