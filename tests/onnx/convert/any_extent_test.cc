// Hardmax, EyeLike and Einsum over extents that are variables.
#include <limits>
#include <utility>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::HasSubstr;
using testing_graphs::Random;

TEST(AnyExtentTest, HardmaxMarksTheGreatest) {
  for (const int opset : {12, 13}) {
    for (const std::int64_t axis : {0, 1, 2}) {
      SCOPED_TRACE(StrCat(opset, " ", axis));
      Model model(opset);
      NamedInput(model, "x", {"n", "3", "m"}).Output("y");
      SetInt(model.Node("Hardmax", {"x"}, {"y"}), "axis", axis);
      ExpectRightForAll(model,
                        {{{"x", Random({2, 3, 5}, 1)}},
                         {{"x", Random({1, 3, 1}, 2)}},
                         {{"x", Random({4, 3, 17}, 3)}}},
                        true);
    }
  }
}

TEST(AnyExtentTest, EyesHaveTheirDiagonal) {
  for (const std::int64_t k :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{-2},
        std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()}) {
    Model model;
    NamedInput(model, "x", {"n", "m"}).Output("y");
    NodeProto& node = model.Node("EyeLike", {"x"}, {"y"});
    SetInt(node, "k", k);
    SetInt(node, "dtype", TensorProto::INT32);
    const auto results = ExpectRightForAll(
        model, {{{"x", Random({2, 3}, 1)}}, {{"x", Random({4, 1}, 2)}}, {{"x", Random({1, 9}, 3)}}},
        true);
    for (const auto& result : results) {
      const Shape& shape = result[0].shape();
      for (std::int64_t i = 0; i < shape[0]; ++i) {
        for (std::int64_t j = 0; j < shape[1]; ++j)
          EXPECT_EQ(result[0].data<std::int32_t>()[i * shape[1] + j], j - i == k ? 1 : 0);
      }
    }
  }
}

struct Sum {
  const char* equation;
  Names a, b;
  std::vector<std::pair<Shape, Shape>> shapes;
};

TEST(AnyExtentTest, EinsumTakesVariables) {
  const Sum sums[] = {
      {"ij,jk->ik", {"n", "m"}, {"m", "5"}, {{{3, 4}, {4, 5}}, {{1, 7}, {7, 5}}}},
      {"bij,bjk->bik",
       {"b", "n", "m"},
       {"b", "m", "k"},
       {{{2, 3, 4}, {2, 4, 5}}, {{1, 6, 2}, {1, 2, 9}}}},
      {"bqhd,bkhd->bhqk",
       {"b", "q", "2", "4"},
       {"b", "k", "2", "4"},
       {{{3, 5, 2, 4}, {3, 6, 2, 4}}, {{1, 2, 2, 4}, {1, 9, 2, 4}}}},
      {"ij,ij->i", {"n", "m"}, {"n", "m"}, {{{3, 4}, {3, 4}}, {{5, 2}, {5, 2}}}},
      {"i,j->ji", {"n"}, {"m"}, {{{3}, {4}}, {{5}, {2}}}},
      {"ii,ij->j", {"n", "n"}, {"n", "m"}, {{{3, 3}, {3, 4}}, {{5, 5}, {5, 2}}}},
      {"...i,ij->...j", {"b", "n", "3"}, {"3", "m"}, {{{2, 4, 3}, {3, 5}}, {{3, 2, 3}, {3, 7}}}},
  };
  for (const Sum& sum : sums) {
    SCOPED_TRACE(sum.equation);
    Model model;
    NamedInput(NamedInput(model, "a", sum.a), "b", sum.b).Output("y");
    SetString(model.Node("Einsum", {"a", "b"}, {"y"}), "equation", sum.equation);
    std::vector<runtime::Inputs> runs;
    for (const auto& [a, b] : sum.shapes)
      runs.push_back({{"a", Random(a, 1)}, {"b", Random(b, 2)}});
    ExpectRightForAll(model, runs);
  }
}

Model SumOf(const char* equation, const Names& a, const Names& b) {
  Model model;
  NamedInput(NamedInput(model, "a", a), "b", b).Output("y");
  SetString(model.Node("Einsum", {"a", "b"}, {"y"}, "sum"), "equation", equation);
  return model;
}
runtime::Inputs Operands(const Shape& a, const Shape& b) {
  return {{"a", Random(a, 1)}, {"b", Random(b, 2)}};
}

// Extents that are all but one equal, or that have the same product, are no less different.
TEST(AnyExtentTest, ALabelOfTwoVariablesHasOneExtentInEachRun) {
  const struct {
    const char* equation;
    Names a, b;
    std::vector<std::pair<Shape, Shape>> right, wrong;
  } cases[] = {
      {"bij,bjk->bik",
       {"b", "i", "#j"},
       {"b", "#j2", "k"},
       {{{2, 3, 4}, {2, 4, 5}}, {{1, 6, 1}, {1, 1, 9}}, {{2, 3, 0}, {2, 0, 4}}},
       {{{2, 3, 4}, {2, 5, 5}}, {{2, 3, 4}, {2, 0, 5}}, {{2, 3, 4}, {2, 1, 5}}}},
      {"ij,ij->i",
       {"#n", "#m"},
       {"#p", "#q"},
       {{{3, 4}, {3, 4}}, {{0, 4}, {0, 4}}, {{3, 0}, {3, 0}}},
       {{{2, 6}, {3, 4}}, {{2, 0}, {3, 0}}, {{0, 2}, {0, 3}}}},
      {"i,i->", {"n"}, {"7"}, {{{7}, {7}}}, {{{6}, {7}}, {{1}, {7}}}},
      {"ii,ij->j", {"n", "m"}, {"5", "k"}, {{{5, 5}, {5, 2}}}, {{{5, 4}, {5, 2}}}},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.equation);
    const Model model = SumOf(c.equation, c.a, c.b);
    std::vector<runtime::Inputs> runs;
    for (const auto& [a, b] : c.right) runs.push_back(Operands(a, b));
    ExpectRightForAll(model, runs);
    const Executable exe =
        ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
    for (const auto& [a, b] : c.wrong) {
      const auto run = exe.Run(Operands(a, b));
      EXPECT_THAT(std::string(run.status().message()), HasSubstr("sum (Einsum)"))
          << ShapeToString(a) << ShapeToString(b);
    }
  }
}

struct Gathering {
  std::int64_t axis;
  Names x, indices;
  std::vector<std::pair<Shape, Shape>> shapes;
};

// Along the other axes the indices may cover less than the data, which the run checks.
TEST(AnyExtentTest, ElementsAreGatheredFromTheFirstOfTheData) {
  const Gathering gatherings[] = {
      {1, {"n", "5"}, {"q", "k"}, {{{4, 5}, {4, 3}}, {{4, 5}, {2, 9}}, {{1, 5}, {1, 1}}}},
      {1, {"n", "5"}, {"2", "3"}, {{{4, 5}, {2, 3}}, {{2, 5}, {2, 3}}}},
      {1, {"n", "m"}, {"n", "k"}, {{{4, 6}, {4, 3}}, {{1, 2}, {1, 9}}}},
      {0, {"n", "m", "3"}, {"k", "l", "2"}, {{{4, 5, 3}, {6, 5, 2}}, {{2, 7, 3}, {1, 3, 2}}}},
  };
  for (const Gathering& c : gatherings) {
    Model model;
    NamedInput(model, "x", c.x);
    NamedInput(model, "i", c.indices, TensorProto::INT64).Output("y");
    SetInt(model.Node("GatherElements", {"x", "i"}, {"y"}), "axis", c.axis);
    std::vector<runtime::Inputs> runs;
    for (const auto& [x, indices] : c.shapes) {
      std::vector<std::int64_t> places(static_cast<std::size_t>(NumElements(indices)));
      for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = static_cast<std::int64_t>(i) % x[static_cast<std::size_t>(c.axis)];
      runs.push_back({{"x", Random(x, 1)}, {"i", NDArray::FromVector(indices, places)}});
    }
    ExpectRightForAll(model, runs, true);
  }
}

TEST(AnyExtentTest, IndicesThatReachBeyondTheDataAreRefused) {
  Model model;
  NamedInput(model, "x", {"n", "5"});
  NamedInput(model, "i", {"q", "k"}, TensorProto::INT64).Output("y");
  SetInt(model.Node("GatherElements", {"x", "i"}, {"y"}), "axis", 1);
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  const auto run = exe.Run({{"x", Random({2, 5}, 1)}, {"i", NDArray::Zeros({3, 4}, Int64)}});
  ASSERT_FALSE(run.ok());
  EXPECT_THAT(std::string(run.status().message()),
              HasSubstr("axis 0 has 2 elements, fewer than the 3 of shape_like"));
}

TEST(AnyExtentTest, ADepthMayBeAnExtent) {
  for (const std::int64_t axis : {-1, 0, 1}) {
    Model model;
    NamedInput(NamedInput(model, "x", {"n", "2"}, TensorProto::INT64), "like", {"d"}).Output("y");
    model.Constant("values", NDArray::FromVector<float>({2}, {-2, 5}));
    model.Node("Shape", {"like"}, {"depth"});
    SetInt(model.Node("OneHot", {"x", "depth", "values"}, {"y"}), "axis", axis);
    const auto run = [](const Ints& places, std::int64_t depth) {
      const auto rows = static_cast<std::int64_t>(places.size()) / 2;
      return runtime::Inputs{{"x", NDArray::FromVector({rows, 2}, places)},
                             {"like", Random({depth}, 1)}};
    };
    ExpectRightForAll(model, {run({0, 2}, 3), run({-1, 5, 1, -9}, 4), run({0, 0}, 1)}, true);
  }
}

TEST(AnyExtentTest, AWindowMayHaveAsManyElementsAsAnInput) {
  for (const std::int64_t is_periodic : {0, 1}) {
    Model model(17);
    NamedInput(model, "x", {"n"}).Output("y");
    model.Initializer("first", NDArray::Scalar<std::int64_t>(0));
    model.Node("Shape", {"x"}, {"shape"});
    model.Node("Gather", {"shape", "first"}, {"size"});
    SetInt(model.Node("HammingWindow", {"size"}, {"y"}), "periodic", is_periodic);
    ExpectRightForAll(model,
                      {{{"x", Random({1}, 1)}}, {{"x", Random({2}, 1)}}, {{"x", Random({9}, 1)}}});
  }
}

}  // namespace
}  // namespace tenon::onnx_import
