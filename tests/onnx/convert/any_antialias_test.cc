// Resize with antialias over extents that are variables, and to sizes and scales of a run, against
// loops over the standard's definition.
#include <algorithm>
#include <cmath>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

struct Filter {
  bool is_cubic = false, excludes = false;
  std::string coordinates = "half_pixel";
};

double KernelAt(const Filter& f, double t) {
  constexpr double a = -0.75;
  t = std::fabs(t);
  if (!f.is_cubic) return std::max(0.0, 1 - t);
  if (t <= 1) return (a + 2) * t * t * t - (a + 3) * t * t + 1;
  return t < 2 ? a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a : 0;
}

// Every place of the data, and far beyond it, with its weight.
NDArray Along(const NDArray& x, std::size_t axis, std::int64_t size, double scale,
              const Filter& f) {
  Shape shape = x.shape();
  const std::int64_t in = shape[axis];
  std::int64_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= shape[d];
  shape[axis] = size;
  const double narrowed = std::min(scale, 1.0);
  std::vector<float> values;
  for (std::int64_t at = 0; at < NumElements(shape); ++at) {
    const std::int64_t outer = at / inner / size, i = at / inner % size;
    const double from =
        f.coordinates == "asymmetric" ? static_cast<double>(i) / scale
        : f.coordinates == "align_corners"
            ? (size == 1 ? 0 : static_cast<double>(i * (in - 1)) / static_cast<double>(size - 1))
            : (static_cast<double>(i) + 0.5) / scale - 0.5;
    double sum = 0, total = 0;
    for (std::int64_t place = -5 * in - 5; place < 6 * in + 5; ++place) {
      if (f.excludes && (place < 0 || place >= in)) continue;
      const double weight = KernelAt(f, (static_cast<double>(place) - from) * narrowed);
      const std::int64_t row = std::clamp<std::int64_t>(place, 0, in - 1);
      sum += weight * x.data<float>()[(outer * in + row) * inner + at % inner];
      total += weight;
    }
    values.push_back(static_cast<float>(total == 0 ? 0 : sum / total));
  }
  return NDArray::FromVector(shape, values);
}

// Of the last two axes.
NDArray Resized(const NDArray& x, const Ints& sizes, const std::vector<double>& scales,
                const Filter& f) {
  const std::size_t rank = x.shape().size();
  return Along(Along(x, rank - 2, sizes[0], scales[0], f), rank - 1, sizes[1], scales[1], f);
}
NDArray ToSizes(const NDArray& x, const Ints& sizes, const Filter& f) {
  const Shape& shape = x.shape();
  const auto scale = [&](std::size_t i) {
    return static_cast<double>(sizes[i]) / static_cast<double>(shape[shape.size() - 2 + i]);
  };
  return Resized(x, sizes, {scale(0), scale(1)}, f);
}

NodeProto& AddResize(Model& model, const Names& inputs, const Filter& f) {
  NodeProto& node = model.Node("Resize", inputs, {"y"}, "smaller");
  SetString(node, "mode", f.is_cubic ? "cubic" : "linear");
  SetString(node, "coordinate_transformation_mode", f.coordinates);
  SetInt(node, "exclude_outside", f.excludes ? 1 : 0);
  SetInt(node, "antialias", 1);
  SetInts(node, "axes", {-2, -1});
  return node;
}

const Filter kFilters[] = {{},
                           {.is_cubic = true},
                           {.is_cubic = true, .excludes = true},
                           {.excludes = true, .coordinates = "align_corners"},
                           {.coordinates = "asymmetric"}};

TEST(AnyAntialiasTest, ImagesOfAnyNumberAndSizeBecomeThoseOfOneSize) {
  for (const Filter& f : kFilters) {
    for (const Names& extents :
         {Names{"n", "c", "11", "9"}, {"n", "2", "h", "w"}, {"h", "5"}, {"n", "2", "4", "w"}}) {
      SCOPED_TRACE(StrCat(f.is_cubic, f.excludes, f.coordinates, StrJoin(extents, ",")));
      Model model(18);
      NamedInput(model, "x", extents).Integers("sizes", {4, 3}).Output("y");
      AddResize(model, {"x", "", "", "sizes"}, f);
      std::vector<runtime::Inputs> runs;
      for (const Shape& like : {Shape{2, 2, 11, 9}, {1, 2, 4, 3}, {3, 2, 37, 2}, {1, 2, 1, 1}}) {
        Shape shape;
        for (std::size_t d = 0; d < extents.size(); ++d)
          shape.push_back(std::isdigit(extents[d][0]) != 0
                              ? std::stoll(extents[d])
                              : like[like.size() - extents.size() + d]);
        runs.push_back({{"x", Random(shape, 1)}});
      }
      const auto results = ExpectRightForAll(model, runs);
      for (std::size_t i = 0; i < runs.size(); ++i)
        ExpectClose(results.at(i).at(0), ToSizes(runs[i].at("x"), {4, 3}, f));
    }
  }
}

TEST(AnyAntialiasTest, SizesMayBeThoseOfARun) {
  for (const Filter& f : kFilters) {
    SCOPED_TRACE(StrCat(f.is_cubic, f.excludes, f.coordinates));
    Model model(18);
    NamedInput(model, "x", {"n", "2", "h", "w"}).Input("sizes", {2}, TensorProto::INT64);
    AddResize(model.Output("y"), {"x", "", "", "sizes"}, f);
    const Executable exe =
        ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes())),
                             {.verify = true, .check_bounds = true}));
    for (const auto& [shape, sizes] : std::initializer_list<std::pair<Shape, Ints>>{
             {{1, 2, 11, 9}, {4, 3}}, {{2, 2, 5, 40}, {9, 7}}, {{1, 2, 1, 3}, {1, 1}}}) {
      const NDArray x = Random(shape, 1);
      const auto result = exe.Run({{"x", x}, {"sizes", NDArray::FromVector({2}, sizes)}});
      ExpectClose(ValueOrThrow(result)[0], ToSizes(x, sizes, f));
    }
    const auto none = exe.Run({{"x", Random({1, 2, 3, 3}, 1)},
                               {"sizes", NDArray::FromVector<std::int64_t>({2}, {0, 3})}});
    EXPECT_EQ(ValueOrThrow(none)[0].shape(), (Shape{1, 2, 0, 3}));
    const auto wrong = exe.Run({{"x", Random({1, 2, 3, 3}, 1)},
                                {"sizes", NDArray::FromVector<std::int64_t>({2}, {-1, 3})}});
    EXPECT_THAT(std::string(wrong.status().message()), HasSubstr("smaller (Resize)"));
  }
}

TEST(AnyAntialiasTest, ScalesMayBeNumbersOrThoseOfARun) {
  for (const bool is_known : {true, false}) {
    for (const Filter& f : {Filter{}, {.is_cubic = true, .excludes = true}}) {
      const std::vector<float> scales = {0.4F, 2.5F};
      Model model(18);
      NamedInput(model, "x", {"n", "2", "h", "w"}).Output("y");
      const NDArray given = NDArray::FromVector<float>({2}, scales);
      if (is_known) {
        model.Constant("scales", given);
      } else {
        model.InputLike("scales", given);
      }
      AddResize(model, {"x", "", "scales"}, f);
      const Executable exe =
          ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes())),
                               {.verify = true, .check_bounds = true}));
      for (const Shape& shape : {Shape{2, 2, 11, 3}, {1, 2, 3, 7}, {3, 2, 40, 1}}) {
        runtime::Inputs inputs = {{"x", Random(shape, 1)}};
        if (!is_known) inputs.emplace("scales", given);
        const auto size = [&](std::size_t i) {
          return static_cast<std::int64_t>(static_cast<float>(shape[i + 2]) * scales[i]);
        };
        ExpectClose(ValueOrThrow(exe.Run(inputs))[0],
                    Resized(inputs.at("x"), {size(0), size(1)}, {scales[0], scales[1]}, f));
      }
    }
  }
}

TEST(AnyAntialiasTest, BothSidesMayHaveOneScale) {
  for (const std::string policy : {"not_larger", "not_smaller"}) {
    Model model(18);
    NamedInput(model, "x", {"n", "h", "w"}).Integers("sizes", {4, 4}).Output("y");
    SetString(AddResize(model, {"x", "", "", "sizes"}, {}), "keep_aspect_ratio_policy", policy);
    std::vector<runtime::Inputs> runs;
    for (const Shape& shape : {Shape{2, 11, 5}, {1, 3, 9}, {1, 4, 4}})
      runs.push_back({{"x", Random(shape, 1)}});
    const auto results = ExpectRightForAll(model, runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const Shape& shape = runs[i].at("x").shape();
      const double a = 4.0 / static_cast<double>(shape[1]), b = 4.0 / static_cast<double>(shape[2]);
      const double scale = policy == "not_larger" ? std::min(a, b) : std::max(a, b);
      const auto size = [&](std::int64_t extent) {
        return static_cast<std::int64_t>(std::floor(static_cast<double>(extent) * scale + 0.5));
      };
      ExpectClose(results.at(i).at(0),
                  Resized(runs[i].at("x"), {size(shape[1]), size(shape[2])}, {scale, scale}, {}));
    }
  }
}

// What is far away has no weight, and not one of 0.
TEST(AnyAntialiasTest, NaNSpoilsWhatItsWeightReaches) {
  Model model(18);
  NamedInput(model, "x", {"1", "w"}).Integers("sizes", {1, 8}).Output("y");
  AddResize(model, {"x", "", "", "sizes"}, {});
  NDArray x = Random({1, 80}, 1);
  x.data<float>()[0] = std::nanf("");
  const auto results = ExpectRightForAll(model, {{{"x", x}}});
  for (std::int64_t i = 0; i < 8; ++i)
    EXPECT_EQ(std::isnan(results.at(0).at(0).data<float>()[i]), i < 1) << i;
}

TEST(AnyAntialiasTest, WhatIsNotSupportedIsNamed) {
  Model model(18);
  NamedInput(model, "x", {"n", "h", "w"}).Integers("sizes", {4, 4}).Output("y");
  AddResize(model, {"x", "", "", "sizes"}, {.coordinates = "wide"});
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kUnimplemented),
              AllOf(HasSubstr("smaller (Resize)"), HasSubstr("the coordinates wide")));
}

// Rounded weights do not add up to exactly 1.
TEST(AnyAntialiasTest, IntegersAreTheNearestOnes) {
  for (const Filter& f : kFilters) {
    SCOPED_TRACE(StrCat(f.is_cubic, f.excludes, f.coordinates));
    Model model(18);
    NamedInput(model, "x", {"h", "w"}, TensorProto::UINT8).Integers("sizes", {10, 6}).Output("y");
    AddResize(model, {"x", "", "", "sizes"}, f);
    std::vector<runtime::Inputs> runs;
    for (const Shape& shape : {Shape{31, 16}, {11, 7}, {5, 31}})
      runs.push_back({{"x", NDArray::FromVector(
                                shape, std::vector<std::uint8_t>(
                                           static_cast<std::size_t>(NumElements(shape)), 255))}});
    for (const auto& result : ExpectRightForAll(model, runs, true)) {
      for (const std::uint8_t value : result[0].ToVector<std::uint8_t>()) EXPECT_EQ(value, 255);
    }
  }
}

}  // namespace
}  // namespace tenon::onnx_import
