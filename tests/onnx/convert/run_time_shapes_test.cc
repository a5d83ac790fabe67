// Ranges, constants, repeats and images whose extents are values of a run: inputs of the model, or
// what it computes from them. Models are compiled once; a few lines say what is right.
#include <algorithm>
#include <limits>
#include <numeric>

#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using testing_graphs::ExpectClose;
using testing_graphs::Random;

constexpr auto kInt64 = TensorProto::INT64;
constexpr auto kInt32 = TensorProto::INT32;
constexpr std::int64_t kCounts[] = {0, 1, 2, 3, 7, 15, 16, 17, 31, 200};

using Integers = std::vector<std::int64_t>;

NDArray Scalar(std::int64_t value) { return NDArray::Scalar(value); }
NDArray Vector(const Integers& values) {
  return NDArray::FromVector({static_cast<std::int64_t>(values.size())}, values);
}

Executable Compiled(const Model& model, bool symbolic = true) {
  ImportOptions options = AnyShapes();
  options.symbolic = symbolic;
  return ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), options)), {.verify = true}));
}

// One compile, against the interpreter. The import for numbers has such extents, too.
std::vector<std::vector<NDArray>> Ran(const Model& model,
                                      const std::vector<runtime::Inputs>& runs) {
  std::vector<std::vector<NDArray>> all;
  for (const bool symbolic : {true, false}) {
    ImportOptions options = AnyShapes();
    options.symbolic = symbolic;
    if (!symbolic) {
      for (const auto& [name, value] : runs.at(0)) options.shapes.emplace(name, value.shape());
    }
    const ir::Module module = ValueOrThrow(ImportOnnx(model.Bytes(), options));
    const ir::Module typed = passes::InferType(module);
    const Executable exe = ValueOrThrow(Compile(module, {.verify = true, .check_bounds = true}));
    for (const runtime::Inputs& inputs : runs) {
      bool fits = true;
      for (const auto& [name, value] : inputs)
        fits = fits && value.shape() == runs[0].at(name).shape();
      if (!symbolic && !fits) continue;
      SCOPED_TRACE(StrCat(symbolic ? "symbolic " : "numbers ", ShapesOf(inputs)));
      std::vector<NDArray> in_order;
      for (const ir::Expr& param : typed.Main().params)
        in_order.push_back(inputs.at(ir::Var(param).name()));
      const std::vector<NDArray> results = ValueOrThrow(exe.Run(inputs));
      ExpectClose(results, verify::Interpret(typed, in_order));
      if (symbolic) all.push_back(results);
    }
  }
  return all;
}

std::string Refusal(const Executable& exe, const runtime::Inputs& inputs) {
  const auto result = exe.Run(inputs);
  return result.ok() ? "it was taken" : std::string(result.status().message());
}

TEST(RunTimeShapesTest, ARangeEndsWhereAnInputSays) {
  Model model;
  model.Input("n", {}, kInt64).Output("ids").Output("squares");
  model.Initializer("zero", Scalar(0)).Initializer("one", Scalar(1));
  model.Node("Range", {"zero", "n", "one"}, {"ids"}, "places");
  model.Node("Mul", {"ids", "ids"}, {"squares"});
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : kCounts) runs.push_back({{"n", Scalar(n)}});
  runs.push_back({{"n", Scalar(-5)}});
  const auto results = Ran(model, runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Integers expected(static_cast<std::size_t>(results[i][0].size()));
    EXPECT_EQ(results[i][0].size(), std::max<std::int64_t>(*runs[i]["n"].data<std::int64_t>(), 0));
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(results[i][0].ToVector<std::int64_t>(), expected);
  }
}

TEST(RunTimeShapesTest, ARangeTakesAllOfItsNumbersFromARun) {
  Model model;
  model.Input("from", {}, kInt64).Input("to", {}, kInt64).Input("by", {}, kInt64).Output("y");
  model.Node("Range", {"from", "to", "by"}, {"y"}, "places");
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::vector<runtime::Inputs> runs;
  std::vector<Integers> expected;
  for (const std::int64_t from : Integers{-7, 0, 3}) {
    for (const std::int64_t to : Integers{-9, -7, 0, 4, 20}) {
      for (const std::int64_t by : Integers{1, 2, 7, -1, -3}) {
        Integers numbers;
        for (std::int64_t i = from; by > 0 ? i < to : i > to; i += by) numbers.push_back(i);
        runs.push_back({{"from", Scalar(from)}, {"to", Scalar(to)}, {"by", Scalar(by)}});
        expected.push_back(numbers);
      }
    }
  }
  runs.push_back({{"from", Scalar(kMax - 3)}, {"to", Scalar(kMax)}, {"by", Scalar(2)}});
  expected.push_back({kMax - 3, kMax - 1});
  runs.push_back({{"from", Scalar(kMax)}, {"to", Scalar(kMin)}, {"by", Scalar(1)}});
  expected.emplace_back();
  const auto results = Ran(model, runs);
  for (std::size_t i = 0; i < runs.size(); ++i)
    EXPECT_EQ(results[i][0].ToVector<std::int64_t>(), expected[i]) << i;
  const Executable exe = Compiled(model);
  for (const Integers& absurd : {Integers{0, kMax, 1}, {kMin, kMax, 1}, {0, 5, 0}})
    EXPECT_THAT(Refusal(exe, {{"from", Scalar(absurd[0])},
                              {"to", Scalar(absurd[1])},
                              {"by", Scalar(absurd[2])}}),
                AllOf(HasSubstr("the node places (Range)"), HasSubstr("at most 134217728")));
}

TEST(RunTimeShapesTest, ARangeOfFloatsRuns) {
  Model model;
  model.Input("to", {}).Input("by", {}).Output("y").Constant("from", NDArray::Scalar(0.5F));
  model.Node("Range", {"from", "to", "by"}, {"y"}, "places");
  const auto inputs = [](float to, float by) {
    return runtime::Inputs{{"to", NDArray::Scalar(to)}, {"by", NDArray::Scalar(by)}};
  };
  const auto results =
      Ran(model, {inputs(3, 0.75F), inputs(0.5F, 1), inputs(-2, -0.5F), inputs(-2, 1)});
  EXPECT_THAT(results[0][0].ToVector<float>(), ElementsAre(0.5F, 1.25F, 2, 2.75F));
  EXPECT_EQ(results[1][0].size(), 0);
  EXPECT_THAT(results[2][0].ToVector<float>(), ElementsAre(0.5F, 0, -0.5F, -1, -1.5F));
  EXPECT_EQ(results[3][0].size(), 0);
  const Executable exe = Compiled(model);
  for (const float by : {0.F, 1e-30F})
    EXPECT_THAT(Refusal(exe, inputs(1, by)), HasSubstr("the node places (Range)"));
}

// A mask of the places within each sequence, as long as the longest, as text models write it.
TEST(RunTimeShapesTest, AMaskOfLengthsIsAsLongAsTheLongest) {
  for (const bool is_expanded : {false, true}) {
    Model model;
    NamedInput(model, "lengths", {"n"}, kInt32).Output("mask").Output("bias");
    model.Initializer("zero", Scalar(0)).Initializer("one", Scalar(1));
    model.Integers("i0", {0}).Integers("i1", {1}).Constant("low", NDArray::Scalar(-1e4F));
    model.Constant("none", NDArray::Scalar(0.F));
    SetInt(model.Node("ReduceMax", {"lengths"}, {"most"}), "keepdims", 0);
    SetInt(model.Node("Cast", {"most"}, {"most64"}), "to", kInt64);
    SetInt(model.Node("Cast", {"lengths"}, {"lengths64"}), "to", kInt64);
    model.Node("Range", {"zero", "most64", "one"}, {"ids"}, "places");
    model.Node("Unsqueeze", {"lengths64", "i1"}, {"column"});
    model.Node("Unsqueeze", {"ids", "i0"}, {"row"});
    std::string row = "row";
    if (is_expanded) {
      // torch.arange(most)[None, :].expand(n, most)
      model.Node("Shape", {"lengths"}, {"count"});
      model.Node("Unsqueeze", {"most64", "i0"}, {"width"});
      SetInt(model.Node("Concat", {"count", "width"}, {"wanted"}), "axis", 0);
      model.Integers("two", {2}).Integers("less", {-1});
      NodeProto& ones = model.Node("ConstantOfShape", {"two"}, {"ones"});
      AttributeProto* value = ones.add_attribute();
      value->set_name("value");
      value->set_type(AttributeProto::TENSOR);
      ToTensorProto(Vector({1}), "", value->mutable_t());
      model.Node("Mul", {"ones", "less"}, {"negative"});
      model.Node("Equal", {"wanted", "negative"}, {"keeps"});
      model.Node("Where", {"keeps", "ones", "wanted"}, {"shape"});
      model.Node("Expand", {"row", "shape"}, {"rows"});
      row = "rows";
    }
    model.Node("Less", {row, "column"}, {"mask"});
    model.Node("Where", {"mask", "none", "low"}, {"bias"});
    std::vector<runtime::Inputs> runs;
    for (const std::vector<std::int32_t>& lengths :
         {std::vector<std::int32_t>{3, 1, 5}, {1}, {17, 16, 0, 2}, {31}, {2, 2}, {0, 0, 1}, {0, 0}})
      runs.push_back({{"lengths", NDArray::FromVector<std::int32_t>(
                                      {static_cast<std::int64_t>(lengths.size())}, lengths)}});
    const auto results = Ran(model, runs);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto lengths = runs[i]["lengths"].ToVector<std::int32_t>();
      const std::int64_t most = *std::max_element(lengths.begin(), lengths.end());
      const NDArray& mask = results[i][0];
      ASSERT_EQ(mask.shape(), (Shape{static_cast<std::int64_t>(lengths.size()), most}));
      for (std::int64_t at = 0; at < mask.size(); ++at)
        EXPECT_EQ(mask.data<bool>()[at], at % most < lengths[static_cast<std::size_t>(at / most)]);
    }
  }
}

TEST(RunTimeShapesTest, AConstantHasTheShapeThatAnInputSays) {
  Model model;
  model.Input("shape", {2}, kInt64).Output("zeros").Output("sum");
  model.Node("ConstantOfShape", {"shape"}, {"zeros"}, "filled");
  model.Node("Exp", {"zeros"}, {"ones"});
  model.Integers("axis", {0});
  SetInt(model.Node("ReduceSum", {"ones", "axis"}, {"sum"}), "keepdims", 0);
  std::vector<runtime::Inputs> runs;
  for (const Integers& shape :
       {Integers{3, 5}, {1, 1}, {16, 17}, {31, 1}, {1, 2}, {0, 3}, {3, 0}, {0, 0}, {5, 5}})
    runs.push_back({{"shape", Vector(shape)}});
  const auto results = Ran(model, runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Integers shape = runs[i]["shape"].ToVector<std::int64_t>();
    EXPECT_EQ(results[i][0].shape(), Shape(shape));
    EXPECT_THAT(results[i][1].ToVector<float>(),
                ElementsAreArray(std::vector<float>(static_cast<std::size_t>(shape[1]),
                                                    static_cast<float>(shape[0]))));
  }
  const Executable exe = Compiled(model);
  EXPECT_THAT(Refusal(exe, {{"shape", Vector({2, -1})}}),
              HasSubstr("the node filled (ConstantOfShape): values of the run ask for an extent of "
                        "-1; it must be at least 0"));
  EXPECT_THAT(Refusal(exe, {{"shape", Vector({std::int64_t{1} << 40, 1})}}),
              HasSubstr("the node filled (ConstantOfShape)"));
  // The run goes on to be used.
  EXPECT_TRUE(exe.Run({{"shape", Vector({2, 2})}}).ok());
}

TEST(RunTimeShapesTest, RowsAreExpandedToACount) {
  Model model;
  NamedInput(model, "x", {"1", "c"}).Input("n", {1}, kInt64).Output("y");
  model.Node("Shape", {"x"}, {"shape"});
  model.Integers("i1", {1});
  model.Node("Gather", {"shape", "i1"}, {"columns"});
  SetInt(model.Node("Concat", {"n", "columns"}, {"wanted"}), "axis", 0);
  model.Node("Expand", {"x", "wanted"}, {"rows"}, "expanded");
  SetInt(model.Node("Softmax", {"rows"}, {"y"}), "axis", 0);
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : kCounts) {
    for (const std::int64_t columns : {1, 5, 17})
      runs.push_back({{"x", Random({1, columns}, 1)}, {"n", Vector({n})}});
  }
  for (const auto& result : Ran(model, runs)) {
    const float share = 1 / static_cast<float>(result[0].shape()[0]);
    for (std::int64_t i = 0; i < result[0].size(); ++i)
      EXPECT_NEAR(result[0].data<float>()[i], share, 1e-6);
  }
  EXPECT_THAT(Refusal(Compiled(model), {{"x", Random({1, 3}, 1)}, {"n", Vector({-2})}}),
              HasSubstr("the node expanded (Expand): values of the run ask for an extent of -2"));
}

// A count of 1 keeps an extent, and a count that is neither 1 nor the extent does not fit.
TEST(RunTimeShapesTest, ACountMayKeepTheExtentThatIsThere) {
  Model model;
  NamedInput(model, "x", {"a", "3"}).Input("n", {2}, kInt64).Output("y");
  model.Node("Expand", {"x", "n"}, {"wide"}, "expanded");
  model.Node("Neg", {"wide"}, {"y"});
  const auto inputs = [](std::int64_t a, const Integers& n) {
    return runtime::Inputs{{"x", Random({a, 3}, 1)}, {"n", Vector(n)}};
  };
  const auto results = Ran(model, {inputs(4, {4, 3}), inputs(4, {1, 1}), inputs(4, {1, 3}),
                                   inputs(1, {5, 3}), inputs(1, {1, 1}), inputs(1, {17, 1})});
  EXPECT_EQ(results[1][0].shape(), (Shape{4, 3}));
  EXPECT_EQ(results[3][0].shape(), (Shape{5, 3}));
  EXPECT_EQ(results[5][0].shape(), (Shape{17, 3}));
  const Executable exe = Compiled(model);
  for (const runtime::Inputs& wrong : {inputs(4, {5, 3}), inputs(4, {4, 2}), inputs(2, {0, 3})})
    EXPECT_FALSE(exe.Run(wrong).ok());
}

TEST(RunTimeShapesTest, ATensorIsRepeatedAsOftenAsAnInputSays) {
  Model model;
  NamedInput(model, "x", {"a", "3"}).Input("n", {2}, kInt64).Output("y");
  model.Node("Tile", {"x", "n"}, {"tiled"}, "repeated");
  model.Node("Neg", {"tiled"}, {"y"});
  std::vector<runtime::Inputs> runs;
  for (const Integers& n : {Integers{2, 3}, {1, 1}, {5, 1}, {1, 7}, {16, 2}}) {
    for (const std::int64_t a : {1, 2, 17})
      runs.push_back({{"x", Random({a, 3}, 1)}, {"n", Vector(n)}});
  }
  const auto results = Ran(model, runs);
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const NDArray &x = runs[r]["x"], &y = results[r][0];
    const std::int64_t rows = x.shape()[0], columns = y.shape()[1];
    for (std::int64_t i = 0; i < y.size(); ++i)
      EXPECT_EQ(y.data<float>()[i], -x.data<float>()[i / columns % rows * 3 + i % columns % 3]);
  }
  EXPECT_THAT(Refusal(Compiled(model), {{"x", Random({1, 3}, 1)}, {"n", Vector({2, -1})}}),
              HasSubstr("the node repeated (Tile)"));
}

// One count in several shapes has one variable.
TEST(RunTimeShapesTest, OneCountHasOneVariable) {
  Model model;
  model.Input("n", {}, kInt64).Output("y").Integers("i0", {0}).Integers("two", {2});
  model.Node("Unsqueeze", {"n", "i0"}, {"count"});
  SetInt(model.Node("Concat", {"count", "two"}, {"tall"}), "axis", 0);
  SetInt(model.Node("Concat", {"two", "count"}, {"wide"}), "axis", 0);
  model.Node("ConstantOfShape", {"tall"}, {"a"});
  model.Node("ConstantOfShape", {"wide"}, {"b"});
  model.Node("MatMul", {"a", "b"}, {"y"});
  const ir::Module module = ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()));
  EXPECT_EQ(ir::ToString(module.Main().body.checked_type()),
            "Tensor[(#ConstantOfShape, #ConstantOfShape), float32]");
  Ran(model, {{{"n", Scalar(3)}}, {{"n", Scalar(0)}}, {{"n", Scalar(1)}}, {{"n", Scalar(18)}}});
}

TEST(RunTimeShapesTest, AnImageBecomesAsLargeAsInputsSay) {
  Model model;
  NamedInput(model, "x", {"n", "2", "h", "w"}).Input("size", {2}, kInt64).Output("y");
  model.Integers("i0", {0}).Integers("i2", {2});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Slice", {"shape", "i0", "i2"}, {"outer"});
  SetInt(model.Node("Concat", {"outer", "size"}, {"sizes"}), "axis", 0);
  SetString(model.Node("Resize", {"x", "", "", "sizes"}, {"y"}, "resized"), "mode", "linear");
  std::vector<runtime::Inputs> runs;
  for (const Integers& size : {Integers{5, 9}, {1, 1}, {16, 17}, {3, 40}})
    runs.push_back({{"x", Random({1, 2, 4, 7}, 1)}, {"size", Vector(size)}});
  for (const auto& result : Ran(model, runs)) EXPECT_EQ(result[0].shape().size(), 4U);
  EXPECT_THAT(Refusal(Compiled(model), {{"x", Random({1, 2, 4, 7}, 1)}, {"size", Vector({-3, 2})}}),
              HasSubstr("the node resized (Resize)"));
}

// In the body of a loop each turn has its own count.
TEST(RunTimeShapesTest, EachTurnOfALoopCountsForItself) {
  Model model(16);
  model.Input("turns", {}, kInt64).Output("total");
  model.Initializer("start", Scalar(0))
      .Initializer("zero", Scalar(0))
      .Initializer("one", Scalar(1));
  NodeProto& node = model.Node("Loop", {"turns", "", "start"}, {"total"});
  AttributeProto* a = node.add_attribute();
  a->set_name("body");
  a->set_type(AttributeProto::GRAPH);
  onnx::GraphProto* body = a->mutable_g();
  body->set_name("body");
  for (const char* name : {"turn", "was", "sum"}) body->add_input()->set_name(name);
  const auto add = [&](const char* type, const Names& inputs, const char* output) -> NodeProto& {
    NodeProto* made = body->add_node();
    made->set_op_type(type);
    for (const std::string& input : inputs) made->add_input(input);
    made->add_output(output);
    return *made;
  };
  add("Identity", {"was"}, "goes_on");
  add("Range", {"zero", "turn", "one"}, "ids");
  SetInt(add("ReduceSum", {"ids"}, "of_ids"), "keepdims", 0);
  add("Add", {"sum", "of_ids"}, "next");
  for (const char* name : {"goes_on", "next"}) body->add_output()->set_name(name);
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t turns : {0, 1, 5, 30}) runs.push_back({{"turns", Scalar(turns)}});
  const auto results = Ran(model, runs);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::int64_t total = 0;
    for (std::int64_t turn = 0; turn < *runs[i]["turns"].data<std::int64_t>(); ++turn)
      total += turn * (turn - 1) / 2;
    EXPECT_EQ(*results[i][0].data<std::int64_t>(), total);
  }
}

// --- extents that are computed from extents

std::vector<runtime::Inputs> OfLengths(const Integers& lengths) {
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t n : lengths) runs.push_back({{"x", Random({n}, 1)}});
  return runs;
}

// A bound below 0 counts from the end.
TEST(ExtentArithmeticTest, ABoundMayBeBelowZeroForSomeExtents) {
  for (const bool is_start : {true, false}) {
    Model model;
    NamedInput(model, "x", {"n"}).Output("y").Integers("three", {3}).Integers("zero", {0});
    model.Integers("end", {1000});
    model.Node("Shape", {"x"}, {"shape"});
    model.Node("Sub", {"shape", "three"}, {"bound"});
    model.Node("Slice", is_start ? Names{"x", "bound", "end"} : Names{"x", "zero", "bound"}, {"y"});
    const Executable exe =
        ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
    for (const runtime::Inputs& inputs : OfLengths({1, 2, 3, 4, 17})) {
      const auto expected = testing_graphs::Outcome(OfNumbers(model, inputs), inputs);
      testing_graphs::ExpectClose(ValueOrThrow(exe.Run(inputs)), expected);
    }
  }
}

TEST(ExtentArithmeticTest, QuotientsAreRoundedTowardZero) {
  Model model;
  NamedInput(model, "x", {"n"}).Output("y");
  model.Integers("four", {4}).Integers("three", {3}).Integers("one", {1});
  model.Node("Shape", {"x"}, {"shape"});
  model.Node("Sub", {"shape", "four"}, {"less"});
  model.Node("Div", {"less", "three"}, {"quotient"});
  model.Node("Add", {"quotient", "one"}, {"count"});
  model.Node("ConstantOfShape", {"count"}, {"zeros"});
  model.Node("Concat", {"x", "zeros"}, {"y"});
  SetInt(*model.proto.mutable_graph()->mutable_node(model.proto.graph().node_size() - 1), "axis",
         0);
  ExpectRightForAll(model, OfLengths({2, 3, 4, 5, 7, 17}));
}

// Where it does, there are no elements.
TEST(ExtentArithmeticTest, AStartMayLieBeforeTheFirstElement) {
  Model model;
  NamedInput(model, "x", {"n"}).Output("y");
  model.Integers("start", {-2})
      .Integers("end", {-1000})
      .Integers("axis", {0})
      .Integers("step", {-2});
  model.Node("Slice", {"x", "start", "end", "axis", "step"}, {"y"});
  ExpectRightForAll(model, OfLengths({1, 2, 3, 4, 7}));
}

TEST(ExtentArithmeticTest, AShapeOfNoValuesAndOneValueMakeNone) {
  Model model;
  NamedInput(model, "x", {"n"}).Input("z", {}).Output("y");
  model.Node("Shape", {"z"}, {"none"});
  model.Node("Shape", {"x"}, {"one"});
  model.Node("Add", {"none", "one"}, {"sum"});
  model.Node("ConstantOfShape", {"sum"}, {"scalar"});
  model.Node("Add", {"scalar", "x"}, {"y"});
  EXPECT_TRUE(ImportOnnx(model.Bytes(), AnyShapes()).ok());
}

}  // namespace
}  // namespace tenon::onnx_import
