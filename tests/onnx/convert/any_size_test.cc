// Images that are resized to any size, imported and compiled once. Coordinates have the bits that a
// compile for the numbers gives them, and so have nearest elements. Sums of taps may fuse another
// multiplication and addition.
#include <cmath>
#include <limits>
#include <string_view>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using testing_graphs::Random;

struct Mode {
  const char* mode;
  const char* coordinates;
  const char* rounding = "round_prefer_floor";
  bool excludes_outside = false;

  bool is_exact() const { return std::string_view(mode) == "nearest"; }
};

constexpr Mode kModes[] = {
    {"nearest", "half_pixel"},
    {"nearest", "half_pixel", "ceil"},
    {"nearest", "asymmetric", "floor"},
    {"nearest", "pytorch_half_pixel", "round_prefer_ceil"},
    {"nearest", "align_corners", "round_prefer_ceil"},
    {"nearest", "tf_half_pixel_for_nn", "floor"},
    {"linear", "half_pixel"},
    {"linear", "pytorch_half_pixel"},
    {"linear", "asymmetric"},
    {"linear", "align_corners"},
    {"cubic", "half_pixel"},
    {"cubic", "align_corners"},
    {"cubic", "half_pixel", "floor", true},
};

void SetMode(NodeProto& node, const Mode& mode) {
  SetString(node, "mode", mode.mode);
  SetString(node, "coordinate_transformation_mode", mode.coordinates);
  SetString(node, "nearest_mode", mode.rounding);
  if (mode.excludes_outside) SetInt(node, "exclude_outside", 1);
}

// "sizes": the first two extents of x, and those of `like` after them.
void AddSizes(Model& model) {
  model.Integers("i0", {0}).Integers("i2", {2}).Integers("i9", {9});
  model.Node("Shape", {"x"}, {"of_x"});
  model.Node("Shape", {"like"}, {"of_like"});
  model.Node("Slice", {"of_x", "i0", "i2"}, {"outer"});
  model.Node("Slice", {"of_like", "i2", "i9"}, {"inner"});
  SetInt(model.Node("Concat", {"outer", "inner"}, {"sizes"}), "axis", 0);
}

runtime::Inputs Images(const Shape& x, const Shape& like) {
  return {{"x", Random(x, 1)}, {"like", Random(like, 2)}};
}

// Of all pairs of these extents along one axis, and of some along the other.
std::vector<runtime::Inputs> AllSizes() {
  constexpr std::int64_t kExtents[] = {1, 2, 7, 16, 31};
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t in : kExtents) {
    for (const std::int64_t out : kExtents) {
      const std::int64_t other = 1 + (3 * in + out) % 13, wanted = 1 + (in + 5 * out) % 11;
      runs.push_back(Images({1 + (in + out) % 2, 2, other, in}, {1, 1, wanted, out}));
      runs.push_back(Images({1, 2, in, other}, {1, 1, out, wanted}));
    }
  }
  return runs;
}

class AnySizeTest : public ::testing::TestWithParam<Mode> {};

TEST_P(AnySizeTest, AsLargeAsAnotherImage) {
  Model model;
  NamedInput(model, "x", {"n", "2", "h", "w"});
  NamedInput(model, "like", {"1", "1", "a", "b"}).Output("y");
  AddSizes(model);
  SetMode(model.Node("Resize", {"x", "", "", "sizes"}, {"y"}), GetParam());
  ExpectRightForAll(model, AllSizes(), GetParam().is_exact());
}

// 5 times 2.6F is 13, of which a little less than 2.6 falls short before it is rounded.
TEST_P(AnySizeTest, ByScalesThatAreNoWholeNumbers) {
  const std::vector<std::vector<float>> scales = {
      {1, 1, 1.5F, 2.6F}, {1, 1, 0.7F, 1.1F}, {1, 1, 1 / 3.F, 1}, {1, 1, 1, 1 / 41.F}};
  for (const std::vector<float>& each : scales) {
    Model model;
    NamedInput(model, "x", {"n", "2", "h", "w"}).Output("y");
    model.Constant("scales", NDArray::FromVector<float>({4}, each));
    SetMode(model.Node("Resize", {"x", "", "scales"}, {"y"}), GetParam());
    std::vector<runtime::Inputs> runs;
    for (const auto& [height, width] : {std::pair<std::int64_t, std::int64_t>{3, 1},
                                        {3, 41},
                                        {5, 45},
                                        {7, 82},
                                        {16, 50},
                                        {17, 123},
                                        {33, 85}})
      runs.push_back({{"x", Random({height % 2 + 1, 2, height, width}, 1)}});
    ExpectRightForAll(model, runs, GetParam().is_exact());
  }
}

INSTANTIATE_TEST_SUITE_P(, AnySizeTest, ::testing::ValuesIn(kModes));

TEST(AnySizeOfModelsTest, SignalsAndVolumes) {
  for (const bool is_signal : {true, false}) {
    for (const Mode& mode : {kModes[0], kModes[6], kModes[9]}) {
      Model model;
      NamedInput(model, "x", is_signal ? Names{"n", "2", "w"} : Names{"n", "2", "d", "h", "w"});
      NamedInput(model, "like", is_signal ? Names{"1", "1", "a"} : Names{"1", "1", "a", "b", "c"});
      model.Output("y");
      AddSizes(model);
      SetMode(model.Node("Resize", {"x", "", "", "sizes"}, {"y"}), mode);
      if (is_signal) {
        ExpectRightForAll(model,
                          {Images({1, 2, 5}, {1, 1, 17}), Images({3, 2, 33}, {1, 1, 32}),
                           Images({1, 2, 1}, {1, 1, 9}), Images({2, 2, 19}, {1, 1, 1})},
                          mode.is_exact());
      } else {
        ExpectRightForAll(
            model,
            {Images({1, 2, 3, 4, 5}, {1, 1, 5, 3, 17}), Images({2, 2, 1, 7, 16}, {1, 1, 4, 9, 16})},
            mode.is_exact());
      }
    }
  }
}

// As networks for super-resolution end.
TEST(AnySizeOfModelsTest, ChannelsBecomePixels) {
  for (const char* mode : {"DCR", "CRD"}) {
    Model model;
    NamedInput(model, "x", {"n", "8", "h", "w"}).Output("y").Output("z");
    NodeProto& up = model.Node("DepthToSpace", {"x"}, {"y"});
    SetInt(up, "blocksize", 2);
    SetString(up, "mode", mode);
    SetInt(model.Node("SpaceToDepth", {"y"}, {"z"}), "blocksize", 2);
    std::vector<runtime::Inputs> runs;
    for (const Shape& shape : {Shape{1, 8, 1, 1}, {2, 8, 7, 5}, {1, 8, 16, 17}, {3, 8, 2, 33}})
      runs.push_back({{"x", testing_graphs::Random(shape, 1)}});
    ExpectRightForAll(model, runs, true);
  }
}

TEST(AnySizeOfModelsTest, AnImageMustBeMadeOfBlocks) {
  Model model;
  NamedInput(model, "x", {"1", "1", "h", "w"}).Output("y");
  SetInt(model.Node("SpaceToDepth", {"x"}, {"y"}), "blocksize", 3);
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  EXPECT_TRUE(exe.Run({{"x", testing_graphs::Random({1, 1, 6, 9}, 1)}}).ok());
  const auto result = exe.Run({{"x", testing_graphs::Random({1, 1, 6, 8}, 1)}});
  EXPECT_THAT(std::string(result.status().message()),
              ::testing::HasSubstr("the width is 8, which 3 does not divide"));
}

TEST(AnySizeOfModelsTest, ImagesOfAnySizeBecomeOneSize) {
  for (const Mode& mode : {kModes[2], kModes[7]}) {
    Model model;
    NamedInput(model, "x", {"n", "3", "h", "w"}).Output("y").Integers("sizes", {6, 17});
    model.Integers("i0", {0}).Integers("i2", {2});
    model.Node("Shape", {"x"}, {"shape"});
    model.Node("Slice", {"shape", "i0", "i2"}, {"outer"});
    SetInt(model.Node("Concat", {"outer", "sizes"}, {"all"}), "axis", 0);
    SetMode(model.Node("Resize", {"x", "", "", "all"}, {"y"}), mode);
    std::vector<runtime::Inputs> runs;
    for (const Shape& shape : {Shape{1, 3, 1, 1}, Shape{2, 3, 6, 17}, Shape{1, 3, 5, 40}})
      runs.push_back({{"x", Random(shape, 3)}});
    ExpectRightForAll(model, runs, mode.is_exact());
  }
}

// Regions inside the image and beyond it, to the size of another one and to numbers.
TEST(AnySizeOfModelsTest, RegionsOfImagesOfAnySize) {
  const std::vector<std::vector<float>> regions = {{0, 0, 0.25F, 0, 1, 1, 0.75F, 0.5F},
                                                   {0, 0, -0.25F, 0.5F, 1, 1, 1.5F, 1},
                                                   {0, 0, 0, 0, 1, 1, 1, 1}};
  for (const std::vector<float>& region : regions) {
    for (const char* mode : {"nearest", "linear", "cubic"}) {
      SCOPED_TRACE(mode);
      const auto set = [&](NodeProto& node) {
        SetString(node, "mode", mode);
        SetString(node, "coordinate_transformation_mode", "tf_crop_and_resize");
        SetFloat(node, "extrapolation_value", -7.5F);
      };
      Model model;
      NamedInput(model, "x", {"n", "2", "h", "w"});
      NamedInput(model, "like", {"1", "1", "a", "b"}).Output("y");
      model.Constant("roi", NDArray::FromVector<float>({8}, region));
      AddSizes(model);
      set(model.Node("Resize", {"x", "roi", "", "sizes"}, {"y"}));
      ExpectRightForAll(model, AllSizes(), std::string_view(mode) == "nearest");
    }
  }
}

TEST(AnySizeOfModelsTest, RegionsByScalesThatMakeWholeMultiples) {
  const auto model_of = [](float scale) {
    Model model;
    NamedInput(model, "x", {"n", "2", "h", "w"}).Output("y");
    model.Constant("roi", NDArray::FromVector<float>({8}, {0, 0, 0.25F, 0, 1, 1, 0.75F, 1}));
    model.Constant("scales", NDArray::FromVector<float>({4}, {1, 1, scale, 0.5F}));
    NodeProto& node = model.Node("Resize", {"x", "roi", "scales"}, {"y"});
    SetString(node, "mode", "linear");
    SetString(node, "coordinate_transformation_mode", "tf_crop_and_resize");
    return model;
  };
  std::vector<runtime::Inputs> runs;
  for (const Shape& shape : {Shape{1, 2, 1, 2}, Shape{3, 2, 7, 5}, Shape{2, 2, 16, 33}})
    runs.push_back({{"x", Random(shape, 3)}});
  ExpectRightForAll(model_of(4), runs);
  EXPECT_THAT(std::string(ImportOnnx(model_of(3).Bytes(), AnyShapes()).status().message()),
              ::testing::HasSubstr("a region of 1.5 times h elements"));
}

// Levels of a pyramid: each is enlarged to the next, whose extents were rounded on the way down.
TEST(AnySizeOfModelsTest, LevelsOfAPyramidAreAdded) {
  for (const Mode& mode : {kModes[2], kModes[7]}) {
    Model model;
    NamedInput(model, "x", {"n", "3", "h", "w"}).Output("y");
    model.Integers("i2", {2}).Integers("i4", {4}).Integers("i0", {0});
    std::string last = "x";
    for (int level = 0; level < 3; ++level) {
      const std::string k = StrCat(level);
      model.Constant("k" + k, Random({4, level == 0 ? 3 : 4, 3, 3}, level));
      NodeProto& conv = model.Node("Conv", {last, "k" + k}, {"c" + k});
      SetInts(conv, "strides", {2, 2});
      SetInts(conv, "pads", {1, 1, 1, 1});
      last = "c" + k;
    }
    for (int level = 1; level >= 0; --level) {
      const std::string k = StrCat(level);
      model.Node("Shape", {"c" + k}, {"shape" + k});
      model.Node("Shape", {last}, {"from" + k});
      model.Node("Slice", {"shape" + k, "i2", "i4"}, {"inner" + k});
      model.Node("Slice", {"from" + k, "i0", "i2"}, {"outer" + k});
      SetInt(model.Node("Concat", {"outer" + k, "inner" + k}, {"size" + k}), "axis", 0);
      SetMode(model.Node("Resize", {last, "", "", "size" + k}, {"up" + k}), mode);
      model.Node("Add", {"up" + k, "c" + k}, {level == 0 ? "y" : "sum" + k});
      last = "sum" + k;
    }
    std::vector<runtime::Inputs> runs;
    for (const Shape& shape : {Shape{1, 3, 9, 13}, Shape{2, 3, 33, 64}, Shape{1, 3, 1, 50}})
      runs.push_back({{"x", Random(shape, 9)}});
    ExpectRightForAll(model, runs);
  }
}

// An infinity beside an element that stays has no weight there, as in a compile for the numbers.
TEST(AnySizeOfModelsTest, AnAxisThatStaysReadsNoNeighbour) {
  Model model;
  NamedInput(model, "x", {"n", "2", "h", "w"});
  NamedInput(model, "like", {"1", "1", "a", "b"}).Output("y");
  AddSizes(model);
  SetMode(model.Node("Resize", {"x", "", "", "sizes"}, {"y"}), kModes[6]);
  runtime::Inputs inputs = Images({1, 2, 4, 5}, {1, 1, 4, 9});
  for (std::int64_t row = 0; row < 8; row += 2)
    inputs.at("x").data<float>()[5 * row] = std::numeric_limits<float>::infinity();
  const auto results = ExpectRightForAll(model, {inputs}, true);
  EXPECT_TRUE(std::isfinite(results[0][0].data<float>()[9]));
}

}  // namespace
}  // namespace tenon::onnx_import
