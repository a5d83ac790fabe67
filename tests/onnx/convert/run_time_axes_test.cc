// Reductions along axes that are inputs of the model, against loops over the elements. Each model
// is compiled once for all axes.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr auto kInt64 = TensorProto::INT64;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Numbers = std::vector<double>;

// What a reduction gives of the elements that become one.
double Joined(const std::string& type, const Numbers& elements) {
  double sum = 0, product = 1, absolute = 0, squares = 0, exponentials = 0;
  double least = kInfinity, greatest = -kInfinity;
  for (const double e : elements) {
    sum += e;
    product *= e;
    absolute += std::abs(e);
    squares += e * e;
    exponentials += std::exp(e);
    least = std::isnan(e) || std::isnan(least) ? std::nan("") : std::min(least, e);
    greatest = std::isnan(e) || std::isnan(greatest) ? std::nan("") : std::max(greatest, e);
  }
  if (type == "ReduceSum") return sum;
  if (type == "ReduceMean") return sum / static_cast<double>(elements.size());
  if (type == "ReduceProd") return product;
  if (type == "ReduceMax") return greatest;
  if (type == "ReduceMin") return least;
  if (type == "ReduceL1") return absolute;
  if (type == "ReduceL2") return std::sqrt(squares);
  if (type == "ReduceSumSquare") return squares;
  if (type == "ReduceLogSum") return std::log(sum);
  return std::log(exponentials);
}

// The rank stays. Axes may be negative.
std::pair<Shape, Numbers> Reduced(const std::string& type, const Shape& shape, const Numbers& x,
                                  const Ints& axes) {
  const auto rank = static_cast<std::int64_t>(shape.size());
  Shape result = shape;
  for (const std::int64_t axis : axes)
    result[static_cast<std::size_t>(axis < 0 ? axis + rank : axis)] = 1;
  std::vector<Numbers> elements(static_cast<std::size_t>(NumElements(result)));
  for (std::size_t i = 0; i < x.size(); ++i) {
    std::int64_t rest = static_cast<std::int64_t>(i), at = 0, step = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      if (result[axis] != 1) at += step * (rest % shape[axis]);
      rest /= shape[axis];
      step *= result[axis];
    }
    elements[static_cast<std::size_t>(at)].push_back(x[i]);
  }
  Numbers values;
  for (const Numbers& joined : elements) values.push_back(Joined(type, joined));
  return {result, values};
}

NDArray Axes(const Ints& axes) {
  return NDArray::FromVector({static_cast<std::int64_t>(axes.size())}, axes);
}

template <typename T>
NDArray ArrayOf(const Shape& shape, const Numbers& values) {
  return NDArray::FromVector(shape, std::vector<T>(values.begin(), values.end()));
}

template <typename T>
void ExpectReduced(const NDArray& got, const std::string& type, const Shape& shape,
                   const Numbers& x, const Ints& axes, double tolerance = 2e-6) {
  const auto [extents, values] = Reduced(type, shape, x, axes);
  ASSERT_EQ(got.shape(), extents) << type;
  const std::vector<T> numbers = got.ToVector<T>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto number = static_cast<double>(numbers[i]);
    if (std::isnan(values[i])) {
      EXPECT_TRUE(std::isnan(number)) << type << " " << i << ": " << number;
    } else if (std::isinf(values[i])) {
      EXPECT_EQ(number, values[i]) << type << " " << i;
    } else {
      EXPECT_NEAR(number, values[i], tolerance * (1 + std::abs(values[i]))) << type << " " << i;
    }
  }
}

// One node of each type over x.
Model Reductions(const Names& types, int element, const Names& extents, const Names& axes,
                 bool is_noop = false) {
  Model model(18);
  NamedInput(model, "x", extents, element);
  NamedInput(model, "axes", axes, kInt64);
  for (const std::string& type : types) {
    NodeProto& node = model.Output(type).Node(type, {"x", "axes"}, {type}, "r_" + type);
    if (is_noop) SetInt(node, "noop_with_empty_axes", 1);
  }
  return model;
}

Executable CompiledFor(const Model& model) {
  return ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes())),
                              {.verify = true, .check_bounds = true}));
}

const Names& AllTypes() {
  static const Names types = {"ReduceSum",    "ReduceMean",     "ReduceProd", "ReduceMax",
                              "ReduceMin",    "ReduceL1",       "ReduceL2",   "ReduceSumSquare",
                              "ReduceLogSum", "ReduceLogSumExp"};
  return types;
}

Numbers Elements(const Shape& shape, double least, double step) {
  Numbers x;
  for (std::int64_t i = 0; i < NumElements(shape); ++i)
    x.push_back(static_cast<float>(least + step * static_cast<double>(i * 7 % 11)));
  return x;
}

TEST(RunTimeAxesTest, EachReductionTakesItsAxesFromARun) {
  const Shape shape = {3, 1, 5, 2};
  Numbers x = Elements(shape, 0.125, 0.25);
  for (const bool has_specials : {false, true}) {
    if (has_specials) {
      x[3] = std::nan("");
      x[13] = kInfinity;
      x[22] = -kInfinity;
    }
    const Executable exe =
        CompiledFor(Reductions(AllTypes(), TensorProto::FLOAT, {"3", "1", "5", "2"}, {"2"}));
    for (const Ints& axes :
         {Ints{0, 1}, Ints{2, 0}, Ints{-1, 2}, Ints{1, -2}, Ints{-4, 3}, Ints{-3, 2}}) {
      SCOPED_TRACE(StrCat("axes ", axes[0], " ", axes[1]));
      const auto results =
          ValueOrThrow(exe.Run({{"x", ArrayOf<float>(shape, x)}, {"axes", Axes(axes)}}));
      for (std::size_t i = 0; i < results.size(); ++i)
        ExpectReduced<float>(results[i], AllTypes()[i], shape, x, axes);
    }
  }
}

TEST(RunTimeAxesTest, ExtentsAndTheNumberOfAxesMayBeVariables) {
  for (const bool is_noop : {false, true}) {
    const Executable exe =
        CompiledFor(Reductions(AllTypes(), TensorProto::FLOAT, {"n", "3", "m"}, {"#k"}, is_noop));
    for (const Shape& shape : {Shape{4, 3, 1}, Shape{1, 3, 17}, Shape{5, 3, 9}}) {
      const Numbers x = Elements(shape, 0.5, 0.125);
      for (const Ints& axes : {Ints{}, Ints{1}, Ints{-1, 0}, Ints{2, 1, 0}}) {
        SCOPED_TRACE(StrCat(ShapeToString(shape), ", ", axes.size(), " axes, ", is_noop));
        const auto results =
            ValueOrThrow(exe.Run({{"x", ArrayOf<float>(shape, x)}, {"axes", Axes(axes)}}));
        const Ints meant = axes.empty() && !is_noop ? Ints{0, 1, 2} : axes;
        for (std::size_t i = 0; i < results.size(); ++i)
          ExpectReduced<float>(results[i], AllTypes()[i], shape, x, meant);
      }
    }
  }
}

TEST(RunTimeAxesTest, NothingAddsUpToZero) {
  const Names types = {"ReduceSum", "ReduceProd", "ReduceL2"};
  const Executable exe = CompiledFor(Reductions(types, TensorProto::FLOAT, {"#n", "3"}, {"1"}));
  const NDArray none = NDArray::Empty({0, 3}, Float32);
  const auto reduced = ValueOrThrow(exe.Run({{"x", none}, {"axes", Axes({0})}}));
  for (std::size_t i = 0; i < types.size(); ++i) {
    EXPECT_EQ(reduced[i].shape(), (Shape{1, 3}));
    EXPECT_EQ(reduced[i].ToVector<float>(), std::vector<float>(3, i == 1 ? 1 : 0));
  }
  EXPECT_EQ(ValueOrThrow(exe.Run({{"x", none}, {"axes", Axes({1})}}))[0].shape(), (Shape{0, 1}));
}

TEST(RunTimeAxesTest, IntegersAreExact) {
  const Names types = {"ReduceSum", "ReduceMean", "ReduceMax",      "ReduceMin",
                       "ReduceL1",  "ReduceProd", "ReduceSumSquare"};
  const Shape shape = {3, 5};
  const Numbers x = Elements(shape, -4, 1);
  const Executable wide = CompiledFor(Reductions(types, kInt64, {"3", "5"}, {"1"}));
  const Executable narrow = CompiledFor(Reductions(types, TensorProto::INT32, {"3", "5"}, {"1"}));
  for (const Ints& axes : {Ints{0}, Ints{-1}}) {
    const auto of_wide =
        ValueOrThrow(wide.Run({{"x", ArrayOf<std::int64_t>(shape, x)}, {"axes", Axes(axes)}}));
    const auto of_narrow =
        ValueOrThrow(narrow.Run({{"x", ArrayOf<std::int32_t>(shape, x)}, {"axes", Axes(axes)}}));
    for (std::size_t i = 0; i < types.size(); ++i) {
      auto [extents, values] = Reduced(types[i], shape, x, axes);
      for (double& value : values) value = std::trunc(value);
      EXPECT_THAT(of_wide[i].ToVector<std::int64_t>(), ElementsAreArray(values)) << types[i];
      EXPECT_THAT(of_narrow[i].ToVector<std::int32_t>(), ElementsAreArray(values)) << types[i];
    }
  }
}

// A sum of 70000 overflows, its mean does not.
TEST(RunTimeAxesTest, HalvesAreRoundedOnce) {
  const Executable exe =
      CompiledFor(Reductions({"ReduceMean", "ReduceSum"}, TensorProto::FLOAT16, {"7", "5"}, {"2"}));
  const NDArray x = NDArray::Empty({7, 5}, Float16);
  Numbers values;
  auto* halves = static_cast<_Float16*>(x.raw());
  for (int i = 0; i < 35; ++i) {
    halves[i] = static_cast<_Float16>(1000 + i * 67.3);
    values.push_back(static_cast<float>(halves[i]));
  }
  const auto results = ValueOrThrow(exe.Run({{"x", x}, {"axes", Axes({0, 1})}}));
  const double sum = Joined("ReduceSum", values);
  EXPECT_GT(sum, 65504);
  const auto first = [&](std::size_t i) { return *static_cast<const _Float16*>(results[i].raw()); };
  EXPECT_EQ(static_cast<float>(first(0)), static_cast<float>(static_cast<_Float16>(sum / 35)));
  EXPECT_TRUE(std::isinf(static_cast<float>(first(1))));
}

TEST(RunTimeAxesTest, WhatFollowsHasTheExtents) {
  Model model(18);
  NamedInput(model, "x", {"n", "m"});
  model.Input("axes", {1}, kInt64).Output("centred").Output("shape");
  model.Node("ReduceMean", {"x", "axes"}, {"mean"}, "mean");
  model.Node("Sub", {"x", "mean"}, {"centred"});
  model.Node("Shape", {"mean"}, {"shape"});
  const Executable exe = CompiledFor(model);
  const Shape shape = {3, 17};
  const Numbers x = Elements(shape, -1, 0.5);
  for (const std::int64_t axis : {0, 1}) {
    const auto results =
        ValueOrThrow(exe.Run({{"x", ArrayOf<float>(shape, x)}, {"axes", Axes({axis})}}));
    const auto [extents, means] = Reduced("ReduceMean", shape, x, {axis});
    EXPECT_THAT(results[1].ToVector<std::int64_t>(), ElementsAreArray(extents));
    const std::vector<float> centred = results[0].ToVector<float>();
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(centred[i], x[i] - means[axis == 0 ? i % 17 : i / 17], 1e-5);
  }
}

TEST(RunTimeAxesTest, AnAxisThatIsNotThereIsRefusedByTheRun) {
  const Executable exe =
      CompiledFor(Reductions({"ReduceSum"}, TensorProto::FLOAT, {"3", "5"}, {"1"}));
  const NDArray x = testing_graphs::Random({3, 5}, 1);
  for (const std::int64_t axis : {2, -3}) {
    const auto refused = exe.Run({{"x", x}, {"axes", Axes({axis})}});
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("the node r_ReduceSum"));
  }
}

TEST(RunTimeAxesTest, AxesOfOneElementAreCheckedToo) {
  const Executable exe =
      CompiledFor(Reductions({"ReduceSum"}, TensorProto::FLOAT, {"1", "1"}, {"1"}));
  const NDArray x = testing_graphs::Random({1, 1}, 1);
  for (const std::int64_t axis : {0, 1, -1, -2}) {
    const auto results = ValueOrThrow(exe.Run({{"x", x}, {"axes", Axes({axis})}}));
    EXPECT_EQ(results[0].shape(), (Shape{1, 1}));
    EXPECT_EQ(results[0].ToVector<float>(), x.ToVector<float>());
  }
  for (const std::int64_t axis : {2, -3}) {
    const auto refused = exe.Run({{"x", x}, {"axes", Axes({axis})}});
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("the node r_ReduceSum"));
  }
}

TEST(RunTimeAxesTest, AnAxisThatIsNamedTwiceIsRefusedByTheRun) {
  const Executable exe =
      CompiledFor(Reductions({"ReduceSum"}, TensorProto::FLOAT, {"3", "5"}, {"2"}));
  const NDArray x = testing_graphs::Random({3, 5}, 1);
  for (const Ints& axes : {Ints{0, 0}, Ints{1, -1}}) {
    const auto refused = exe.Run({{"x", x}, {"axes", Axes(axes)}});
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("the node r_ReduceSum"));
  }
}

TEST(RunTimeAxesTest, AxesMayBeDroppedWhereTheirNumberIsKnown) {
  Model model(18);
  NamedInput(model, "x", {"3", "n", "5", "2"});
  NamedInput(model, "axes", {"2"}, kInt64);
  for (const std::string& type : AllTypes())
    SetInt(model.Output(type).Node(type, {"x", "axes"}, {type}, "r_" + type), "keepdims", 0);
  const Executable exe = CompiledFor(model);
  for (const std::int64_t n : {1, 4}) {
    const Shape shape = {3, n, 5, 2};
    const Numbers x = Elements(shape, 0.125, 0.25);
    for (const Ints& axes : {Ints{0, 1}, Ints{2, 0}, Ints{-1, 2}, Ints{1, -2}, Ints{-4, 3}}) {
      SCOPED_TRACE(StrCat("axes ", axes[0], " ", axes[1]));
      const auto results =
          ValueOrThrow(exe.Run({{"x", ArrayOf<float>(shape, x)}, {"axes", Axes(axes)}}));
      Shape left;
      for (std::int64_t axis = 0; axis < 4; ++axis) {
        if (std::ranges::none_of(axes, [&](auto a) { return (a + 4) % 4 == axis; }))
          left.push_back(shape[static_cast<std::size_t>(axis)]);
      }
      for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_EQ(results[i].shape(), left);
        const Shape with_axes = Reduced(AllTypes()[i], shape, x, axes).first;
        ExpectReduced<float>(results[i].Reshape(with_axes), AllTypes()[i], shape, x, axes, 2e-5);
      }
    }
  }
}

TEST(RunTimeAxesTest, ARankThatARunWouldDecideIsRefused) {
  Model model(18);
  model.Input("x", {3, 5}).Output("y");
  NamedInput(model, "axes", {"k"}, kInt64);
  SetInt(model.Node("ReduceMax", {"x", "axes"}, {"y"}, "greatest"), "keepdims", 0);
  EXPECT_THAT(MessageOf(ImportOnnx(model.Bytes(), AnyShapes()), absl::StatusCode::kUnimplemented),
              AllOf(HasSubstr("greatest (ReduceMax)"),
                    HasSubstr("must be known when the model is imported")));
}

}  // namespace
}  // namespace tenon::onnx_import
