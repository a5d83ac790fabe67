// Pad and CenterCropPad by widths that are known when the model runs: over variable axes, by
// arithmetic on extents, and by values. Imports of numbers and a few lines say what is right.
#include <algorithm>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing_graphs::Random;

using Integers = std::vector<std::int64_t>;

NDArray Vector(const Integers& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

std::vector<runtime::Inputs> Rows(const Integers& extents) {
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : extents) runs.push_back({{"x", Random({2, n}, 1)}});
  return runs;
}

// The element that NumPy's pad puts at each place of a row; of a row that begins again, those are
// elements that negative widths leave.
std::vector<float> Padded(const NDArray& row, std::int64_t before, std::int64_t after,
                          const std::string& mode) {
  const std::int64_t n = row.size();
  const std::int64_t first = mode == "wrap" ? std::max<std::int64_t>(-before, 0) : 0,
                     kept = n - first - std::max<std::int64_t>(-after, 0);
  std::vector<float> result;
  for (std::int64_t i = -before; i < n + after; ++i) {
    const std::int64_t period = std::max<std::int64_t>(mode == "wrap" ? kept : 2 * (n - 1), 1);
    const std::int64_t turned = ((i - first) % period + period) % period;
    const std::int64_t at = mode == "wrap"      ? first + turned
                            : mode == "reflect" ? std::min(turned, period - turned)
                                                : std::clamp<std::int64_t>(i, 0, n - 1);
    const bool is_filled = mode == "constant" && (i < 0 || i >= n);
    result.push_back(is_filled ? 7 : row.data<float>()[at]);
  }
  return result;
}

TEST(AnyPaddingTest, ARowOfAnyLengthBeginsAgain) {
  for (const Integers& pads :
       {Integers{0, 1, 0, 3}, Integers{0, 0, 1, 4}, Integers{1, -1, 0, 5}, Integers{0, 9, 2, -1}}) {
    Model model(19);
    NamedInput(model, "x", {"2", "n"}).Integers("pads", pads).Output("y");
    SetString(model.Node("Pad", {"x", "pads"}, {"y"}), "mode", "wrap");
    ExpectRightForAll(model, Rows({2, 3, 17, 31}), true);
  }
}

// To a multiple of four, as networks do that halve an image several times.
TEST(AnyPaddingTest, ARowOfWhichNothingIsLeftIsRefused) {
  Model model(19);
  NamedInput(model, "x", {"n"}).Integers("pads", {-2, 3}).Output("y");
  SetString(model.Node("Pad", {"x", "pads"}, {"y"}), "mode", "wrap");
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  EXPECT_TRUE(exe.Run({{"x", Random({3}, 1)}}).ok());
  EXPECT_EQ(exe.Run({{"x", Random({2}, 1)}}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(AnyPaddingTest, WidthsAreComputedFromExtents) {
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    SCOPED_TRACE(mode);
    Model model(19);
    NamedInput(model, "x", {"2", "n"}).Integers("one", {1}).Integers("four", {4});
    model.Integers("zeros", {0, 0, 0}).Constant("fill", NDArray::Scalar<float>(7));
    model.Output("y");
    model.Node("Shape", {"x"}, {"shape"});
    model.Node("Gather", {"shape", "one"}, {"n"});
    model.Node("Mod", {"n", "four"}, {"rest"});
    model.Node("Sub", {"four", "rest"}, {"missing"});
    model.Node("Mod", {"missing", "four"}, {"after"});
    SetInt(model.Node("Concat", {"zeros", "after"}, {"pads"}), "axis", 0);
    SetString(model.Node("Pad", {"x", "pads", "fill"}, {"y"}), "mode", mode);
    const Integers extents = {4, 5, 6, 7, 8, 13, 31};
    const auto results = ExpectRightForAll(model, Rows(extents), true);
    ASSERT_EQ(results.size(), extents.size());
    for (std::size_t i = 0; i < extents.size(); ++i)
      EXPECT_EQ(results[i][0].shape(), (Shape{2, (extents[i] + 3) / 4 * 4}));
  }
}

TEST(AnyPaddingTest, WidthsAreValuesOfARun) {
  for (const char* mode : {"constant", "edge", "reflect", "wrap"}) {
    SCOPED_TRACE(mode);
    Model model(19);
    NamedInput(model, "x", {"n"}).Input("pads", {2}, TensorProto::INT64);
    model.Constant("fill", NDArray::Scalar<float>(7)).Output("y");
    SetString(model.Node("Pad", {"x", "pads", "fill"}, {"y"}), "mode", mode);
    const Executable exe = ValueOrThrow(
        Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes())), {.check_bounds = true}));
    for (const std::int64_t n : {1, 2, 5, 17}) {
      const NDArray x = Random({n}, 1);
      for (const std::int64_t before : {0, 1, 3, 16, -1, -4}) {
        for (const std::int64_t after : {0, 1, 4, -1}) {
          // Something of a row must be left where it begins again.
          const std::int64_t cut =
              std::max<std::int64_t>(-before, 0) + std::max<std::int64_t>(-after, 0);
          if (cut >= n) continue;
          SCOPED_TRACE(StrCat(n, " ", before, " ", after));
          const auto y = exe.Run({{"x", x}, {"pads", Vector({before, after})}});
          ASSERT_TRUE(y.ok()) << y.status();
          EXPECT_THAT((*y)[0].ToVector<float>(), ElementsAreArray(Padded(x, before, after, mode)));
        }
      }
    }
    const auto refused = exe.Run({{"x", Random({3}, 1)}, {"pads", Vector({1, -5})}});
    EXPECT_THAT(refused.status().message(), HasSubstr("making y (Pad)"));
  }
}

// As where the widths are values of a run.
TEST(AnyPaddingTest, AMirrorOfNumbersGoesToAndFro) {
  for (const std::int64_t n : {1, 2, 5}) {
    const NDArray x = Random({n}, 1);
    for (const auto& [before, after] : {std::pair(0, 3), {7, 0}, {16, 9}, {5, -1}, {0, -1}}) {
      SCOPED_TRACE(StrCat(n, " ", before, " ", after));
      Model model(19);
      model.Input("x", {n}).Integers("pads", {before, after}).Output("y");
      SetString(model.Node("Pad", {"x", "pads"}, {"y"}), "mode", "reflect");
      const auto y = testing_graphs::Outcome(OfNumbers(model, {{"x", x}}), {{"x", x}});
      EXPECT_THAT(y.at(0).ToVector<float>(), ElementsAreArray(Padded(x, before, after, "reflect")));
    }
  }
}

// As detectors do that give as many boxes for every image.
TEST(AnyPaddingTest, WhatAValueCountsIsFilledUp) {
  for (const char* op : {"Pad", "CenterCropPad"}) {
    SCOPED_TRACE(op);
    Model model(18);
    model.Input("x", {6}).Integers("one", {1}).Integers("zeros", {0, 0, 0}).Integers("six", {6});
    model.Output("y").Integers("whole", {1, 6});
    model.Node("NonZero", {"x"}, {"places"});
    model.Node("Shape", {"places"}, {"shape"});
    model.Node("Gather", {"shape", "one"}, {"count"});
    model.Node("Sub", {"six", "count"}, {"after"});
    SetInt(model.Node("Concat", {"zeros", "after"}, {"pads"}), "axis", 0);
    model.Node(op, {"places", op == std::string("Pad") ? "pads" : "whole"}, {"y"});
    const Executable exe = ValueOrThrow(
        Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes())), {.check_bounds = true}));
    for (std::int64_t count = 0; count <= 6; ++count) {
      SCOPED_TRACE(count);
      std::vector<float> x(6, 0);
      std::fill_n(x.begin(), count, 1.0F);
      Integers expected(6, 0);
      const std::int64_t first = op == std::string("Pad") ? 0 : (6 - count) / 2;
      for (std::int64_t i = 0; i < count; ++i) expected[static_cast<std::size_t>(first + i)] = i;
      const auto y = exe.Run({{"x", NDArray::FromVector({6}, x)}});
      ASSERT_TRUE(y.ok()) << y.status();
      EXPECT_EQ((*y)[0].ToVector<std::int64_t>(), expected);
    }
  }
}

TEST(AnyPaddingTest, TheMiddleOfARowOfAnyLength) {
  for (const std::int64_t target : {0, 1, 6, 7}) {
    SCOPED_TRACE(target);
    Model model(18);
    NamedInput(model, "x", {"2", "n"}).Integers("target", {target}).Output("y");
    SetInts(model.Node("CenterCropPad", {"x", "target"}, {"y"}), "axes", {1});
    ExpectRightForAll(model, Rows({1, 2, 5, 6, 7, 8, 13, 32}), true);
  }
}

TEST(AnyPaddingTest, TheMiddleIsAsLargeAsAnotherTensor) {
  Model model(18);
  NamedInput(NamedInput(model, "x", {"2", "n"}), "like", {"2", "m"}).Output("y");
  model.Node("Shape", {"like"}, {"shape"});
  model.Node("CenterCropPad", {"x", "shape"}, {"y"});
  std::vector<runtime::Inputs> runs;
  for (const auto& [n, m] : {std::pair{1, 1}, {1, 4}, {7, 1}, {5, 8}, {8, 5}, {17, 3}})
    runs.push_back({{"x", Random({2, n}, 1)}, {"like", Random({2, m}, 2)}});
  ExpectRightForAll(model, runs, true);
}

}  // namespace
}  // namespace tenon::onnx_import
