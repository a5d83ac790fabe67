// Extents that are variables and must fit each other, or numbers of the model: runs that the model
// of their shapes would refuse are refused, too.
#include "tenon/tests/onnx/any_shapes.h"

namespace tenon::onnx_import {
namespace {

using ::testing::ElementsAre;
using testing_graphs::Random;

// Whether a run of the model, which is compiled once, takes the inputs.
bool Takes(const Model& model, const runtime::Inputs& inputs) {
  const Executable exe =
      ValueOrThrow(Compile(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes()))));
  const absl::Status status = exe.Run(inputs).status();
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
  return status.ok();
}

Model WriteOf(const std::string& update_length) {
  Model model(24);
  NamedInput(model, "cache", {"2", "m", "3"});
  NamedInput(model, "update", {"2", update_length, "3"});
  model.Integers("begins", {0, 1}).Output("y");
  SetInt(model.Node("TensorScatter", {"cache", "update", "begins"}, {"y"}), "axis", 1);
  return model;
}
runtime::Inputs CacheAndUpdate(std::int64_t cache, std::int64_t update) {
  return {{"cache", Random({2, cache, 3}, 1)}, {"update", Random({2, update, 3}, 2)}};
}

TEST(ExtentsThatFitTest, AnUpdateIsNotLongerThanItsCache) {
  const Model model = WriteOf("n");
  ExpectRightForAll(model, {CacheAndUpdate(7, 5), CacheAndUpdate(4, 4), CacheAndUpdate(33, 1)},
                    true);
  EXPECT_FALSE(Takes(model, CacheAndUpdate(3, 5)));
  EXPECT_FALSE(Takes(model, CacheAndUpdate(1, 2)));
}

TEST(ExtentsThatFitTest, AnUpdateOfANumberOfElementsFitsItsCache) {
  const Model model = WriteOf("3");
  ExpectRightForAll(model, {CacheAndUpdate(3, 3), CacheAndUpdate(17, 3)}, true);
  EXPECT_FALSE(Takes(model, CacheAndUpdate(1, 3)));
  EXPECT_FALSE(Takes(model, CacheAndUpdate(2, 3)));
}

TEST(ExtentsThatFitTest, AnUpdateMayHaveNoElements) {
  const auto results = ExpectRightForAll(
      WriteOf("#n"), {CacheAndUpdate(4, 0), CacheAndUpdate(4, 1), CacheAndUpdate(5, 3)}, true);
  testing_graphs::ExpectClose(results.at(0).at(0), CacheAndUpdate(4, 0).at("cache"));
}

// Without places, the update is the first of the cache.
TEST(ExtentsThatFitTest, AnUpdateOfAnyBatchMayHaveNoPlaces) {
  Model model(24);
  NamedInput(model, "cache", {"b", "m", "3"});
  NamedInput(model, "update", {"b", "n", "3"});
  SetInt(model.Output("y").Node("TensorScatter", {"cache", "update"}, {"y"}), "axis", 1);
  std::vector<runtime::Inputs> runs;
  for (const std::int64_t batch : {2, 1})
    runs.push_back({{"cache", Random({batch, 4, 3}, 1)}, {"update", Random({batch, 2, 3}, 2)}});
  const auto results = ExpectRightForAll(model, runs, true);
  for (std::size_t i = 0; i < runs.size(); ++i)
    for (std::int64_t at = 0; at < results.at(i).at(0).size(); ++at) {
      const std::int64_t row = at / 3 % 4, from = (at / 12 * 2 + row) * 3 + at % 3;
      EXPECT_EQ(results[i][0].data<float>()[at], row < 2 ? runs[i].at("update").data<float>()[from]
                                                         : runs[i].at("cache").data<float>()[at]);
    }
}

TEST(ExtentsThatFitTest, EveryTokenHasAPlace) {
  Model model(17);
  NamedInput(model, "tokens", {"b", "s"}, TensorProto::INT32);
  NamedInput(model, "places", {"p", "8"});
  model.Constant("words", Random({13, 8}, 1));
  model.Constant("scale", Random({8}, 3)).Constant("shift", Random({8}, 4));
  model.Node("EmbedLayerNormalization", {"tokens", "", "words", "places", "", "scale", "shift"},
             {"y", "counts"}, "embed", "com.microsoft");
  model.Output("y");
  const auto inputs = [](std::int64_t batch, std::int64_t length, std::int64_t places) {
    return runtime::Inputs{{"tokens", NDArray::Zeros({batch, length}, Int32)},
                           {"places", Random({places, 8}, 2)}};
  };
  ExpectRightForAll(model, {inputs(2, 5, 7), inputs(1, 7, 7), inputs(3, 1, 17)});
  EXPECT_FALSE(Takes(model, inputs(2, 8, 7)));
  EXPECT_FALSE(Takes(model, inputs(2, 5, 1)));
}

// The total is a number of the model, the new positions are those of a run.
TEST(ExtentsThatFitTest, ATotalLengthHasTheNewPositions) {
  Model model(17);
  for (const auto& [name, width] : {std::pair("q", "12"), {"k", "4"}, {"v", "4"}})
    NamedInput(model, name, {"1", "n", width});
  for (const char* name : {"past_k", "past_v"}) NamedInput(model, name, {"1", "2", "p", "2"});
  model.Initializer("last", NDArray::FromVector<std::int32_t>({1}, {6}));
  model.Initializer("total", NDArray::Scalar<std::int32_t>(7));
  NodeProto& node =
      model.Node("GroupQueryAttention", {"q", "k", "v", "past_k", "past_v", "last", "total"},
                 {"y", "present_k", "present_v"}, "heads", "com.microsoft");
  model.Output("y").Output("present_k");
  SetInt(node, "num_heads", 6);
  SetInt(node, "kv_num_heads", 2);
  const auto inputs = [](std::int64_t length, std::int64_t past) {
    return runtime::Inputs{{"q", Random({1, length, 12}, 1)},
                           {"k", Random({1, length, 4}, 2)},
                           {"v", Random({1, length, 4}, 3)},
                           {"past_k", Random({1, 2, past, 2}, 4)},
                           {"past_v", Random({1, 2, past, 2}, 5)}};
  };
  ExpectRightForAll(model, {inputs(3, 4), inputs(7, 9), inputs(1, 6)});
  EXPECT_FALSE(Takes(model, inputs(17, 4)));
  EXPECT_FALSE(Takes(model, inputs(8, 20)));
}

TEST(ExtentsThatFitTest, NoSequenceIsLongerThanTheSteps) {
  Model model(14);
  NamedInput(model, "x", {"n", "2", "3"});
  model.Constant("w", Random({1, 12, 3}, 1)).Constant("r", Random({1, 12, 4}, 2));
  model.Initializer("lengths", NDArray::FromVector<std::int32_t>({2}, {2, 1}));
  model.Output("y").Output("last");
  SetInt(model.Node("GRU", {"x", "w", "r", "", "lengths"}, {"y", "last"}), "hidden_size", 4);
  const auto inputs = [](std::int64_t steps) {
    return runtime::Inputs{{"x", Random({steps, 2, 3}, 3)}};
  };
  ExpectRightForAll(model, {inputs(2), inputs(5), inputs(17)});
  EXPECT_FALSE(Takes(model, inputs(1)));
}

TEST(ExtentsThatFitTest, NoElementsHaveNoPlaces) {
  Model model;
  NamedInput(model, "x", {"#n", "3"}).Output("y");
  model.Node("NonZero", {"x"}, {"y"});
  const auto results = ExpectRightForAll(
      model, {{{"x", NDArray::Zeros({0, 3}, Float32)}}, {{"x", Random({5, 3}, 1)}}}, true);
  EXPECT_EQ(results.at(0).at(0).shape(), (Shape{2, 0}));
}

// The lengths say no more than the steps, but how many sequences there are.
TEST(ExtentsThatFitTest, EachSequenceHasALength) {
  Model model(14);
  NamedInput(model, "x", {"2", "b", "3"});
  model.Constant("w", Random({1, 4, 3}, 1)).Constant("r", Random({1, 4, 4}, 2));
  model.Initializer("lengths", NDArray::FromVector<std::int32_t>({3}, {2, 2, 2}));
  model.Output("y");
  SetInt(model.Node("RNN", {"x", "w", "r", "", "lengths"}, {"y", "last"}), "hidden_size", 4);
  const auto inputs = [](std::int64_t batch) {
    return runtime::Inputs{{"x", Random({2, batch, 3}, 3)}};
  };
  ExpectRightForAll(model, {inputs(3)});
  EXPECT_FALSE(Takes(model, inputs(1)));
  EXPECT_FALSE(Takes(model, inputs(4)));
}

// Padding of more than a window: the standard's shape inference drops one window, not all that
// start in the padding.
TEST(ExtentsThatFitTest, OneWindowInThePaddingIsDropped) {
  for (const char* op : {"AveragePool", "MaxPool"}) {
    Model model(12);
    NamedInput(model, "x", {"1", "1", "h", "w"}).Output("y");
    NodeProto& node = model.Node(op, {"x"}, {"y"});
    SetInts(node, "kernel_shape", {1, 1});
    SetInts(node, "strides", {2, 1});
    SetInts(node, "pads", {2, 2, 2, 2});
    SetInt(node, "ceil_mode", 1);
    std::vector<runtime::Inputs> runs;
    for (const auto& [h, w] : {std::pair(8, 8), {7, 3}, {1, 17}, {4, 1}})
      runs.push_back({{"x", Random({1, 1, h, w}, 1)}});
    const auto results = ExpectRightForAll(model, runs);
    EXPECT_EQ(results.at(0).at(0).shape(), (Shape{1, 1, 6, 11})) << op;
  }
}

// A product would broadcast one element.
TEST(ExtentsThatFitTest, AGateHasTheShapeOfWhatGoesThroughIt) {
  for (const Names& names : {Names{"w", "x"}, Names{"x", "w"}}) {
    Model model(27);
    NamedInput(model, "x", {"n", "m", "2"}).Constant("w", Random({13, 8, 2}, 1)).Output("y");
    model.Node("SwiGLU", names, {"y"});
    const auto inputs = [](std::int64_t n, std::int64_t m) {
      return runtime::Inputs{{"x", Random({n, m, 2}, 2)}};
    };
    ExpectRightForAll(model, {inputs(13, 8)});
    for (const auto& [n, m] : {std::pair(1, 8), {13, 1}, {1, 1}, {14, 8}, {13, 7}, {8, 13}})
      EXPECT_FALSE(Takes(model, inputs(n, m))) << n << " " << m;
  }
}

// Expand broadcasts in both directions.
TEST(ExtentsThatFitTest, AShapeOfOneKeepsTheElementsOfTheModel) {
  Model model(13);
  NamedInput(model, "x", {"n"}).Constant("w", Random({5, 3}, 1)).Integers("three", {3});
  model.Node("Shape", {"x"}, {"count"});
  model.Node("Concat", {"count", "three"}, {"shape"});
  SetInt(*model.proto.mutable_graph()->mutable_node(1), "axis", 0);
  model.Node("Expand", {"w", "shape"}, {"y"});
  model.Output("y");
  const auto inputs = [](std::int64_t n) { return runtime::Inputs{{"x", Random({n}, 2)}}; };
  ExpectRightForAll(model, {inputs(5), inputs(1)}, true);
  EXPECT_FALSE(Takes(model, inputs(3)));
  EXPECT_FALSE(Takes(model, inputs(6)));
}

// Flags that the run computes, and those of the model.
TEST(ExtentsThatFitTest, ThereAreNoMoreFlagsThanElements) {
  for (const bool is_flat : {true, false}) {
    Model model(11);
    NamedInput(model, "x", {"n", "2"});
    NamedInput(model, "flags", {"k"}, TensorProto::BOOL);
    model.Output("y").Output("some");
    model.Initializer("known", NDArray::FromVector<bool>({3}, {true, false, false}));
    for (const auto& [flags, result] : {std::pair("flags", "y"), {"known", "some"}}) {
      NodeProto& node = model.Node("Compress", {"x", flags}, {result});
      if (!is_flat) SetInt(node, "axis", 0);
    }
    const auto inputs = [](std::int64_t n, std::int64_t k) {
      return runtime::Inputs{
          {"x", Random({n, 2}, 1)},
          {"flags",
           NDArray::FromVector({k}, std::vector<bool>(static_cast<std::size_t>(k), true))}};
    };
    ExpectRightForAll(model, {inputs(3, 3), inputs(7, 5), inputs(17, 1)}, true);
    const std::int64_t elements = is_flat ? 2 : 1;  // of a row
    ExpectRightForAll(model, {inputs(5, 5 * elements)}, true);
    EXPECT_FALSE(Takes(model, inputs(5, 5 * elements + 1)));
    EXPECT_FALSE(Takes(model, inputs(1, 1 + elements)));
    EXPECT_EQ(Takes(model, inputs(2, 1)), is_flat);  // of three known flags
  }
}

// A value of several elements that meets a shape of one has them all, which of two variables is a
// condition of the run.
TEST(ExtentsThatFitTest, AShapeHasAtLeastTheElementsOfAVariable) {
  Model model(13);
  NamedInput(model, "x", {"m"});
  NamedInput(model, "like", {"n"}).Output("y");
  model.Node("Shape", {"like"}, {"shape"});
  model.Node("Expand", {"x", "shape"}, {"y"});
  const auto inputs = [](std::int64_t m, std::int64_t n) {
    return runtime::Inputs{{"x", Random({m}, 1)}, {"like", Random({n}, 2)}};
  };
  ExpectRightForAll(model, {inputs(1, 7), inputs(5, 5), inputs(1, 1)}, true);
  EXPECT_FALSE(Takes(model, inputs(5, 7)));
  EXPECT_FALSE(Takes(model, inputs(5, 1)));
  const ir::Module module = passes::InferType(ValueOrThrow(ImportOnnx(model.Bytes(), AnyShapes())));
  std::vector<std::string> conditions;
  for (const ExtentCondition& condition : passes::ConditionsOf(module.Main().body))
    conditions.push_back(condition.ToString());
  EXPECT_THAT(conditions, ElementsAre("m <= n, for broadcast_to_extents of making y (Expand)"));
}

TEST(ExtentsThatFitTest, AResizeToNoElementsHasNone) {
  for (const char* mode : {"linear", "nearest"}) {
    Model model(18);
    NamedInput(model, "x", {"1", "2", "h", "5"}).Output("y");
    model.Integers("two", {2}).Integers("three", {3});
    SetInt(model.Node("Shape", {"x"}, {"rows"}), "start", 2);
    SetInt(*model.proto.mutable_graph()->mutable_node(0), "end", 3);
    model.Node("Div", {"rows", "two"}, {"half"});
    SetInt(model.Node("Concat", {"half", "three"}, {"sizes"}), "axis", 0);
    NodeProto& node = model.Node("Resize", {"x", "", "", "sizes"}, {"y"});
    SetInts(node, "axes", {2, 3});
    SetString(node, "mode", mode);
    std::vector<runtime::Inputs> runs;
    for (const std::int64_t rows : {1, 7, 2}) runs.push_back({{"x", Random({1, 2, rows, 5}, 1)}});
    EXPECT_EQ(ExpectRightForAll(model, runs).at(0).at(0).shape(), (Shape{1, 2, 0, 3}));
  }
}

}  // namespace
}  // namespace tenon::onnx_import
