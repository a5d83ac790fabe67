// Operators over axes without elements: what they compute is empty, or sums of nothing.
#include "tenon/tests/onnx/written_model.h"

namespace tenon::onnx_import {
namespace {

NDArray Zeros(const Shape& shape) { return NDArray::Zeros(shape, Float32); }

// A 0 in a model is an extent that is not known, so the shapes are given.
NDArray ResultOf(const Model& model, const runtime::Inputs& inputs) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, value] : inputs) shapes[name] = value.shape();
  const ir::Module module = ValueOrThrow(Imported(model, shapes));
  return testing_graphs::Outcome(module, inputs)[0];
}

// The result of one node over inputs of these shapes.
NDArray ResultOf(NodeProto& (*add)(Model& model), const std::vector<Shape>& shapes,
                 int opset = 17) {
  Model model(opset);
  runtime::Inputs inputs;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    model.Input(name, shapes[i]);
    inputs[name] = testing_graphs::Random(shapes[i], static_cast<int>(i));
  }
  add(model);
  model.Output("y");
  return ResultOf(model, inputs);
}

TEST(EmptyExtentsTest, BatchesAndRowsOfMatrixProducts) {
  const auto matmul = [](Model& m) -> NodeProto& { return m.Node("MatMul", {"a", "b"}, {"y"}); };
  EXPECT_EQ(ResultOf(matmul, {{2, 1, 0, 4}, {3, 4, 5}}).shape(), (Shape{2, 3, 0, 5}));
  EXPECT_EQ(ResultOf(matmul, {{2, 1, 3, 4}, {3, 4, 0}}).shape(), (Shape{2, 3, 3, 0}));
  EXPECT_EQ(ResultOf(matmul, {{1, 1, 3, 4}, {2, 0, 4, 6}}).shape(), (Shape{2, 0, 3, 6}));
  EXPECT_TRUE(ResultOf(matmul, {{2, 1, 3, 0}, {5, 0, 2}}).SameBytes(Zeros({2, 5, 3, 2})));
}

TEST(EmptyExtentsTest, EinsteinSums) {
  const auto einsum = [](Model& m) -> NodeProto& {
    NodeProto& node = m.Node("Einsum", {"a", "b"}, {"y"});
    SetString(node, "equation", "ij,jk->ik");
    return node;
  };
  EXPECT_EQ(ResultOf(einsum, {{0, 3}, {3, 4}}).shape(), (Shape{0, 4}));
  EXPECT_TRUE(ResultOf(einsum, {{2, 0}, {0, 4}}).SameBytes(Zeros({2, 4})));
}

TEST(EmptyExtentsTest, BlocksOfChannels) {
  const auto to_space = [](Model& m) -> NodeProto& {
    NodeProto& node = m.Node("DepthToSpace", {"a"}, {"y"});
    SetInt(node, "blocksize", 2);
    return node;
  };
  EXPECT_EQ(ResultOf(to_space, {{2, 4, 0, 2}}).shape(), (Shape{2, 1, 0, 4}));
  EXPECT_EQ(ResultOf(to_space, {{0, 4, 3, 2}}).shape(), (Shape{0, 1, 6, 4}));
}

TEST(EmptyExtentsTest, NoImagesAreResized) {
  Model model(17);
  model.Input("a", {0, 3, 4, 4}).Output("y");
  model.Initializer("scales", NDArray::FromVector<float>({4}, {1, 1, 2, 2}));
  model.Node("Resize", {"a", "", "scales"}, {"y"});
  EXPECT_EQ(ResultOf(model, {{"a", Zeros({0, 3, 4, 4})}}).shape(), (Shape{0, 3, 8, 8}));
}

TEST(EmptyExtentsTest, TilesOfNoCopies) {
  Model model(17);
  model.Input("a", {2, 3}).Output("y");
  model.Integers("repeats", {0, 2});
  model.Node("Tile", {"a", "repeats"}, {"y"});
  EXPECT_EQ(ResultOf(model, {{"a", Zeros({2, 3})}}).shape(), (Shape{0, 6}));
}

TEST(EmptyExtentsTest, NoQueriesOfAnAttention) {
  const auto attention = [](Model& m) -> NodeProto& {
    return m.Node("Attention", {"a", "b", "c"}, {"y"});
  };
  EXPECT_EQ(ResultOf(attention, {{1, 2, 0, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}}, 23).shape(),
            (Shape{1, 2, 0, 4}));
}

}  // namespace
}  // namespace tenon::onnx_import
