// Extents that are variables, beside numbers at the ends of their types and counts of 0.
#include <algorithm>
#include <limits>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing_graphs::Random;

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::vector<runtime::Inputs> OfLengths(const Ints& lengths) {
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : lengths) runs.push_back({{"x", Random({n}, 1)}});
  return runs;
}

std::string ImportError(const Model& model) {
  const auto module = ImportOnnx(model.Bytes(), AnyShapes());
  return module.ok() ? "it was taken" : std::string(module.status().message());
}

// A count of a run may be 0, so its minimum with 1 is no 1.
TEST(ExtentLimitsTest, TheLesserOfACountAndOneMayBeZero) {
  Model model;
  NamedInput(model, "x", {"8"}).Output("y").Integers("one", {1});
  model.Initializer("none", NDArray::Scalar<float>(0));
  model.Node("Greater", {"x", "none"}, {"positive"});
  model.Node("NonZero", {"positive"}, {"places"});
  model.Node("Shape", {"places"}, {"shape"});
  NodeProto& gather = model.Node("Gather", {"shape", "one"}, {"count"});
  SetInt(gather, "axis", 0);
  model.Node("Min", {"count", "one"}, {"least"});
  model.Node("ConstantOfShape", {"least"}, {"y"});
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  const auto shape_for = [&](std::vector<float> values) {
    return ValueOrThrow(exe.Run({{"x", NDArray::FromVector<float>({8}, values)}}))[0].shape();
  };
  EXPECT_EQ(shape_for({-1, -2, -3, -4, -5, -6, -7, -8}), Shape{0});
  EXPECT_EQ(shape_for({-1, -2, -3, 4, -5, -6, -7, -8}), Shape{1});
  EXPECT_EQ(shape_for({1, -2, -3, 4, -5, -6, -7, -8}), Shape{1});
}

Model SliceOf(std::int64_t start, std::int64_t end, std::int64_t step) {
  Model model;
  NamedInput(model, "x", {"n"}).Output("y");
  model.Integers("start", {start}).Integers("end", {end});
  model.Integers("axis", {0}).Integers("step", {step});
  model.Node("Slice", {"x", "start", "end", "axis", "step"}, {"y"});
  return model;
}

TEST(ExtentLimitsTest, BoundsAndStepsOfSlicesMayBeEndsOfTheirType) {
  for (const std::int64_t start : {kMin, std::int64_t{-1}, std::int64_t{3}, kMax}) {
    for (const std::int64_t end : {kMin, kMin + 1, std::int64_t{0}, kMax}) {
      for (const std::int64_t step : {kMin, std::int64_t{-1}, std::int64_t{1}, kMax}) {
        SCOPED_TRACE(StrCat(start, ":", end, ":", step));
        ExpectRightForAll(SliceOf(start, end, step), OfLengths({1, 3, 4, 17}), true);
      }
    }
  }
}

TEST(ExtentLimitsTest, AStepOfARangeMayBeTheEndOfItsType) {
  for (const std::int64_t step : {kMin, kMax}) {
    Model model;
    NamedInput(model, "x", {"n"}).Output("y");
    model.Initializer("zero", NDArray::Scalar<std::int64_t>(0));
    model.Initializer("step", NDArray::Scalar(step));
    model.Node("Shape", {"x"}, {"shape"});
    model.Node("Squeeze", {"shape"}, {"n"});
    model.Node("Range", step > 0 ? Names{"zero", "n", "step"} : Names{"n", "zero", "step"}, {"y"});
    ExpectRightForAll(model, OfLengths({1, 2, 17}), true);
  }
}

Model SplitOf(const Ints& lengths, std::size_t outputs) {
  Model model;
  NamedInput(model, "x", {"n"}).Integers("lengths", lengths);
  Names names;
  for (std::size_t i = 0; i < outputs; ++i) {
    names.push_back(StrCat("y", i));
    model.Output(names.back());
  }
  SetInt(model.Node("Split", {"x", "lengths"}, names), "axis", 0);
  return model;
}

// The last parts may be shorter, or have no elements.
TEST(ExtentLimitsTest, PartsOfOneLengthNeedNotMakeUpAnExtent) {
  for (const std::int64_t count : {2, 3, 4}) {
    Model model(18);
    NamedInput(model, "x", {"n", "2"});
    Names parts;
    for (std::int64_t i = 0; i < count; ++i) {
      parts.push_back(StrCat("y", i));
      model.Output(parts.back());
    }
    SetInt(model.Node("Split", {"x"}, parts), "num_outputs", count);
    std::vector<runtime::Inputs> runs;
    for (const std::int64_t n : {1, 2, 3, 4, 5, 6, 9}) runs.push_back({{"x", Random({n, 2}, 1)}});
    const auto results = ExpectRightForAll(model, runs);
    for (std::size_t run = 0; run < results.size(); ++run) {
      const NDArray& x = runs[run].at("x");
      const std::int64_t n = x.shape()[0], length = (n + count - 1) / count;
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t begin = std::min(n, i * length), end = std::min(n, begin + length);
        const NDArray& part = results[run][static_cast<std::size_t>(i)];
        ASSERT_EQ(part.shape(), (Shape{end - begin, 2}));
        for (std::int64_t k = 0; k < part.size(); ++k)
          EXPECT_EQ(part.data<float>()[k], x.data<float>()[2 * begin + k]);
      }
    }
  }
}

TEST(ExtentLimitsTest, AnExtentBelowZeroNamesItsNode) {
  Model model;
  NamedInput(model, "x", {"n", "4"}).Output("y").Integers("pads", {-3, 0, -3, 0});
  model.Node("Pad", {"x", "pads"}, {"y"}, "crop");
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  EXPECT_EQ(ValueOrThrow(exe.Run({{"x", Random({9, 4}, 1)}}))[0].shape(), (Shape{3, 4}));
  const auto refused = exe.Run({{"x", Random({4, 4}, 1)}});
  EXPECT_THAT(std::string(refused.status().message()),
              AllOf(HasSubstr("crop (Pad)"),
                    HasSubstr("the extent n - 6, which is -2; it must be at least 0")));
}

// Windows of 7 rows and 2 columns, and pairs of rows: the run must have whole ones.
TEST(ExtentLimitsTest, AnAxisIsTakenApartWhereItIsAMultiple) {
  Model model;
  NamedInput(model, "x", {"n", "h", "w", "3"}).Output("y").Output("pairs");
  model.Integers("i0", {0}).Integers("i1", {1}).Integers("i2", {2}).Integers("i3", {3});
  model.Integers("i7", {7}).Integers("in_pairs", {0, -1, 2, 3});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Gather", {"shape", "i0"}, {"images"});
  model.Node("Gather", {"shape", "i1"}, {"height"});
  model.Node("Gather", {"shape", "i2"}, {"width"});
  model.Node("Div", {"height", "i7"}, {"rows"});
  model.Node("Div", {"width", "i2"}, {"columns"});
  SetInt(model.Node("Concat", {"images", "rows", "i7", "columns", "i2", "i3"}, {"target"}), "axis",
         0);
  model.Node("Reshape", {"x", "target"}, {"y"}, "window");
  model.Node("Reshape", {"x", "in_pairs"}, {"pairs"});
  std::vector<runtime::Inputs> runs;
  for (const Shape& size : std::vector<Shape>{{1, 7, 2, 3}, {3, 14, 6, 3}, {2, 7, 10, 3}})
    runs.push_back({{"x", Random(size, 1)}});
  ExpectRightForAll(model, runs, true);
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  EXPECT_THAT(std::string(exe.Run({{"x", Random({1, 8, 2, 3}, 1)}}).status().message()),
              AllOf(HasSubstr("window (Reshape)"), HasSubstr("8")));
}

TEST(ExtentLimitsTest, PartsOfAnExtentMustMakeItUp) {
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(SplitOf({2, 3}, 2).Bytes(), AnyShapes()))));
  const auto parts = ValueOrThrow(exe.Run({{"x", Random({5}, 1)}}));
  EXPECT_EQ(parts[1].shape(), Shape{3});
  for (const std::int64_t n : {1, 2, 4, 6}) {
    const auto parts = exe.Run({{"x", Random({n}, 1)}});
    ASSERT_FALSE(parts.ok()) << n;
    EXPECT_EQ(parts.status().code(), absl::StatusCode::kInvalidArgument) << parts.status();
  }
}

TEST(ExtentLimitsTest, AnEmptyLastPartLeavesNothingOver) {
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(SplitOf({3, 0}, 2).Bytes(), AnyShapes()))));
  EXPECT_EQ(ValueOrThrow(exe.Run({{"x", Random({3}, 1)}}))[1].shape(), Shape{0});
  EXPECT_EQ(exe.Run({{"x", Random({5}, 1)}}).status().code(), absl::StatusCode::kInvalidArgument);
}

// k is the extent of one input, along an axis of another.
TEST(ExtentLimitsTest, AsManyOfTheGreatestAsThereAre) {
  Model model;
  NamedInput(NamedInput(model, "x", {"2", "n"}), "like", {"k"}).Output("y").Output("at");
  model.Node("Shape", {"like"}, {"shape"});
  model.Node("TopK", {"x", "shape"}, {"y", "at"});
  const auto inputs = [](std::int64_t n, std::int64_t k) {
    return runtime::Inputs{{"x", Random({2, n}, 1)}, {"like", Random({k}, 1)}};
  };
  ExpectRightForAll(model, {inputs(5, 1), inputs(17, 16), inputs(7, 7), inputs(1, 1)});
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  EXPECT_EQ(exe.Run(inputs(5, 6)).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(ExtentLimitsTest, MoreOfTheGreatestThanThereAreAreRefused) {
  for (const char* extent : {"6", "n"}) {
    Model model;
    NamedInput(model, "x", {"2", extent})
        .Input("k", {1}, TensorProto::INT64)
        .Output("y")
        .Output("at");
    model.Node("TopK", {"x", "k"}, {"y", "at"}, "best");
    const Executable exe =
        ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
    const auto status = [&](std::int64_t k) {
      return exe.Run({{"x", Random({2, 6}, 1)}, {"k", NDArray::FromVector<std::int64_t>({1}, {k})}})
          .status();
    };
    EXPECT_EQ(status(6), absl::OkStatus());
    EXPECT_EQ(status(7).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(
        std::string(status(7).message()),
        AllOf(HasSubstr("best (TopK)"), HasSubstr("axis 1 has 6 elements, fewer than the 7")));
    EXPECT_THAT(std::string(status(-1).message()), HasSubstr("best (TopK)"));
  }
}

TEST(ExtentLimitsTest, LengthsThatAreNoPartsAreRefused) {
  EXPECT_THAT(ImportError(SplitOf({2, 3}, 3)), HasSubstr("there are 2 lengths for the 3 outputs"));
  EXPECT_THAT(ImportError(SplitOf({2, 3, 4}, 2)),
              HasSubstr("there are 3 lengths for the 2 outputs"));
  EXPECT_THAT(ImportError(SplitOf({2, -3}, 2)), HasSubstr("a part has the length -3"));
  EXPECT_THAT(ImportError(SplitOf({kMax, kMax, 1}, 3)), HasSubstr("64 bits"));
}

// An end of n + 2^63 - 5 is one after the last element for n below 5, and then far before the
// first.
TEST(ExtentLimitsTest, ABoundThatWrapsAroundDoesSoForAllExtents) {
  Model model(18);
  NamedInput(model, "x", {"n", "33"}).Integers("start", {31}).Integers("one", {1});
  model.Integers("most", {kMax - 4}).Output("y");
  SetInt(model.Node("Shape", {"x"}, {"shape"}), "end", 1);
  model.Node("Add", {"shape", "most"}, {"end"});
  model.Node("Slice", {"x", "start", "end", "one"}, {"y"});
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : {1, 4, 5, 9}) runs.push_back({{"x", Random({n, 33}, 1)}});
  ExpectRightForAll(model, runs, true);
}

// Splits x along its last axis into two parts: as many elements as `like` has, and others.
Model SplitByExtent(const Names& extents, const Names& lengths) {
  Model model(18);
  NamedInput(NamedInput(model, "x", extents), "like", {"n"}).Output("a").Output("b");
  model.Integers("six", {6}).Integers("two", {2});
  model.Node("Shape", {"like"}, {"n"});
  model.Node("Sub", {"six", "n"}, {"rest"});
  SetInt(model.Node("Concat", lengths, {"lengths"}), "axis", 0);
  SetInt(model.Node("Split", {"x", "lengths"}, {"a", "b"}, "apart"), "axis", -1);
  return model;
}

TEST(ExtentLimitsTest, LengthsOfPartsMayBeExtents) {
  const auto inputs = [](const Shape& x, std::int64_t n) {
    return runtime::Inputs{{"x", Random(x, 1)}, {"like", Random({n}, 1)}};
  };
  const Model of_number = SplitByExtent({"2", "6"}, {"n", "rest"});
  ExpectRightForAll(of_number, {inputs({2, 6}, 1), inputs({2, 6}, 5), inputs({2, 6}, 6)}, true);
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(of_number.Bytes(), AnyShapes()))));
  EXPECT_FALSE(exe.Run(inputs({2, 6}, 7)).ok());
  for (const Names& lengths : {Names{"n", "two"}, {"two", "n"}}) {
    const Model model = SplitByExtent({"m", "k"}, lengths);
    ExpectRightForAll(model, {inputs({3, 5}, 3), inputs({1, 4}, 2), inputs({2, 3}, 1)}, true);
    const Executable any =
        ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
    EXPECT_FALSE(any.Run(inputs({3, 6}, 3)).ok());
  }
}

}  // namespace
}  // namespace tenon::onnx_import
