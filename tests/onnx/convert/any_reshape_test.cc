// Reshapes whose targets are expressions of variables, as exporters compute them from shapes.
#include <sstream>
#include <utility>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::HasSubstr;
using testing_graphs::Random;

// Adds `name`, the target whose extents are products of numbers and extents of x, "2*h".
void AddTarget(Model& model, const std::string& name, const Names& x, const Names& target) {
  Names extents;
  for (const std::string& extent : target) {
    std::istringstream factors(extent);
    std::string product;
    for (std::string factor; std::getline(factors, factor, '*');) {
      const std::string value = StrCat(name, extents.size(), "_", factor);
      const auto axis = std::find(x.begin(), x.end(), factor);
      if (axis == x.end()) {
        model.Integers(value, {std::stoll(factor)});
      } else {
        model.Integers(value + "_axis", {axis - x.begin()});
        model.Node("Gather", {"shape", value + "_axis"}, {value});
      }
      if (!product.empty()) model.Node("Mul", {product, value}, {product + "*" + factor});
      product = product.empty() ? value : product + "*" + factor;
    }
    extents.push_back(product);
  }
  SetInt(model.Node("Concat", extents, {name}), "axis", 0);
}

struct ReshapeCase {
  const char* name;
  Names x, first, second;
  std::vector<Shape> shapes;
};
void PrintTo(const ReshapeCase& c, std::ostream* out) { *out << c.name; }

class AnyReshapeTest : public ::testing::TestWithParam<ReshapeCase> {};

// Both reshapes lie between operators that change elements, so that neither is a mere view.
TEST_P(AnyReshapeTest, IsRightForAllExtents) {
  const ReshapeCase& c = GetParam();
  Model model;
  NamedInput(model, "x", c.x).Output("y").Output("first");
  model.Node("Shape", {"x"}, {"shape"});
  AddTarget(model, "to_first", c.x, c.first);
  AddTarget(model, "to_second", c.x, c.second);
  model.Node("Neg", {"x"}, {"negative"});
  model.Node("Reshape", {"negative", "to_first"}, {"first"});
  model.Node("Softmax", {"first"}, {"rows"});
  model.Node("Reshape", {"rows", "to_second"}, {"back"});
  model.Node("Relu", {"back"}, {"y"});
  std::vector<runtime::Inputs> runs;
  for (const Shape& shape : c.shapes) runs.push_back({{"x", Random(shape, 1)}});
  ExpectRightForAll(model, runs);
}

const std::vector<Shape> kSequences = {{2, 3, 16}, {1, 1, 16}, {1, 33, 16}, {5, 1, 16}};
const std::vector<Shape> kImages = {{2, 8, 5, 7}, {1, 8, 1, 1}, {3, 8, 1, 16}, {1, 8, 17, 2}};

INSTANTIATE_TEST_SUITE_P(
    All, AnyReshapeTest,
    ::testing::Values(
        ReshapeCase{"Rows", {"b", "t", "16"}, {"b*t", "16"}, {"b", "t", "16"}, kSequences},
        ReshapeCase{"Turned", {"b", "t", "16"}, {"t*b", "16"}, {"t", "b", "16"}, kSequences},
        ReshapeCase{"Heads", {"b", "t", "16"}, {"t", "4*b", "4"}, {"b", "t", "2", "8"}, kSequences},
        ReshapeCase{
            "Groups", {"n", "8", "h", "w"}, {"n", "4", "-1"}, {"n", "8", "h", "w"}, kImages},
        ReshapeCase{
            "Pixels", {"n", "8", "h", "w"}, {"n", "8", "h*w"}, {"n", "8", "h", "w"}, kImages},
        ReshapeCase{
            "Columns", {"n", "8", "h", "w"}, {"n*h", "w", "8"}, {"n", "h", "w", "8"}, kImages},
        ReshapeCase{"All", {"n", "8", "h", "w"}, {"-1", "8"}, {"n", "h*w", "8"}, kImages},
        ReshapeCase{"WhatIsLeft", {"n", "8", "h", "w"}, {"n*h*w", "8"}, {"n", "-1", "8"}, kImages},
        ReshapeCase{"HalvesOfWhatMayBeOdd",
                    {"n", "6", "h"},
                    {"h", "-1", "4"},
                    {"n", "h", "6"},
                    {{2, 6, 5}, {4, 6, 1}, {6, 6, 17}}},
        ReshapeCase{"ThreeMerged",
                    {"b", "4", "6", "h", "w"},
                    {"24*b", "h", "w"},
                    {"2*b", "12", "h*w"},
                    {{2, 4, 6, 5, 7}, {1, 4, 6, 1, 1}, {3, 4, 6, 2, 9}}}),
    [](const auto& info) { return info.param.name; });

// Of a model like this one it is only known at the run.
TEST(AnyReshapeFailureTest, ValuesOfAnotherNumberOfElementsAreRefused) {
  Model model;
  NamedInput(NamedInput(model, "x", {"n", "6"}), "like", {"m", "k"}).Output("y");
  model.Node("Shape", {"like"}, {"shape"});
  model.Node("Neg", {"x"}, {"negative"});
  model.Node("Reshape", {"negative", "shape"}, {"parts"});
  model.Node("Add", {"parts", "like"}, {"y"});
  ExpectRightForAll(model, {{{"x", Random({2, 6}, 1)}, {"like", Random({3, 4}, 2)}},
                            {{"x", Random({1, 6}, 1)}, {"like", Random({6, 1}, 2)}}});
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  const auto run = exe.Run({{"x", Random({2, 6}, 1)}, {"like", Random({3, 5}, 2)}});
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("the two shapes have different numbers of elements"));
}

// How many columns that makes is known at the run alone.
TEST(AnyReshapeOfARunTest, AVariableDividesTheElements) {
  Model model;
  NamedInput(NamedInput(model, "x", {"n", "6"}), "like", {"m", "2"}).Output("y").Output("sums");
  model.Node("Shape", {"like"}, {"shape"});
  model.Integers("axis", {0}).Integers("rest", {-1});
  model.Node("Gather", {"shape", "axis"}, {"rows"});
  SetInt(model.Node("Concat", {"rows", "rest"}, {"target"}), "axis", 0);
  model.Node("Neg", {"x"}, {"negative"});
  model.Node("Reshape", {"negative", "target"}, {"parts"});
  model.Node("Softmax", {"parts"}, {"y"});
  model.Node("ReduceSum", {"y", "axis"}, {"sums"});
  const ir::Module module = ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()));
  const Executable exe = ValueOrThrow(Compile(module, {.verify = true, .check_bounds = true}));
  for (const auto& [n, m] : {std::pair{2, 3}, {2, 12}, {1, 1}, {17, 34}, {5, 5}}) {
    const runtime::Inputs inputs = {{"x", Random({n, 6}, 1)}, {"like", Random({m, 2}, 2)}};
    SCOPED_TRACE(ShapesOf(inputs));
    const auto results = ValueOrThrow(exe.Run(inputs));
    EXPECT_EQ(results[0].shape(), (Shape{m, n * 6 / m}));
    testing_graphs::ExpectClose(results, testing_graphs::Outcome(OfNumbers(model, inputs), inputs));
  }
  const auto run = exe.Run({{"x", Random({2, 6}, 1)}, {"like", Random({5, 2}, 2)}});
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("the two shapes have different numbers of elements"));
}

// As detectors count the anchors of a feature map. Nothing but that the map has the extent says
// that it is not negative, so that the range has so many numbers.
TEST(AnyReshapeBesideACountTest, ARangeToAnExtentOfAValueHasSoManyNumbers) {
  Model model;
  NamedInput(model, "x", {"1", "2", "w"}).Output("y");
  SetInts(model.Node("AveragePool", {"x"}, {"map"}), "kernel_shape", {3});
  model.Node("Shape", {"map"}, {"shape"});
  model.Integers("axis", {2}).Integers("from", {0}).Integers("by", {1}).Integers("rest", {-1});
  model.Node("Gather", {"shape", "axis"}, {"count"});
  for (const char* bound : {"from", "count", "by"})
    model.Node("Squeeze", {bound}, {StrCat("the_", bound)});
  model.Node("Range", {"the_from", "the_count", "the_by"}, {"ids"});
  model.Node("Shape", {"ids"}, {"ids_shape"});
  SetInt(model.Node("Concat", {"ids_shape", "rest"}, {"target"}), "axis", 0);
  model.Node("Relu", {"map"}, {"positive"});
  model.Node("Reshape", {"positive", "target"}, {"rows"});
  model.Node("Neg", {"rows"}, {"y"});
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t columns : {3, 4, 19, 40})
    runs.push_back({{"x", Random({1, 2, columns}, 1)}});
  ExpectRightForAll(model, runs);
}

// An extent that comes of a broadcast is the greater of two; the model says which one it takes.
TEST(AnyReshapeFailureTest, ExtentsOfABroadcastBecomeThoseOfAnInput) {
  Model model;
  NamedInput(NamedInput(model, "x", {"b", "t", "8"}), "y", {"c", "u", "8"}).Output("z");
  model.Node("Shape", {"x"}, {"shape"});
  AddTarget(model, "target", {"b", "t", "8"}, {"b", "2*t", "4"});
  model.Node("Add", {"x", "y"}, {"sum"});
  model.Node("Reshape", {"sum", "target"}, {"halves"});
  model.Node("Softmax", {"halves"}, {"z"});
  ExpectRightForAll(model, {{{"x", Random({2, 3, 8}, 1)}, {"y", Random({2, 3, 8}, 2)}},
                            {{"x", Random({4, 1, 8}, 1)}, {"y", Random({4, 1, 8}, 2)}},
                            {{"x", Random({2, 5, 8}, 1)}, {"y", Random({1, 5, 8}, 2)}},
                            {{"x", Random({1, 1, 8}, 1)}, {"y", Random({1, 1, 8}, 2)}}});
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  const auto run = exe.Run({{"x", Random({1, 3, 8}, 1)}, {"y", Random({2, 3, 8}, 2)}});
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("the two shapes have different numbers of elements"));
}

}  // namespace
}  // namespace tenon::onnx_import
