// Models whose extents are variables: imported and compiled once. Two oracles say what is right:
// the model imported for the shapes of a run, and the interpreter of the symbolic module.
#ifndef TENON_TESTS_ONNX_ANY_SHAPES_H_
#define TENON_TESTS_ONNX_ANY_SHAPES_H_

#include <cstring>
#include <string>
#include <vector>

#include "tenon/support/strings.h"
#include "tenon/tests/onnx/written_model.h"
#include "tenon/verify/interpret.h"

namespace tenon::onnx_import {

// Extents are names of variables or numbers.
inline Model& NamedInput(Model& model, const std::string& name, const Names& extents,
                         int type = TensorProto::FLOAT) {
  model.Input(name, Shape(extents.size(), -1), type);
  onnx::GraphProto& graph = *model.proto.mutable_graph();
  auto* info = graph.mutable_input(graph.input_size() - 1);
  auto* shape = info->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (std::size_t i = 0; i < extents.size(); ++i) {
    auto* dim = shape->mutable_dim(static_cast<int>(i));
    if (extents[i].find_first_not_of("0123456789") == std::string::npos) {
      dim->set_dim_value(std::stoll(extents[i]));
    } else {
      dim->set_dim_param(extents[i]);
    }
  }
  return model;
}

inline void SetStrings(NodeProto& node, const std::string& name, const Names& values) {
  AttributeProto* attribute = node.add_attribute();
  attribute->set_name(name);
  attribute->set_type(AttributeProto::STRINGS);
  for (const std::string& value : values) attribute->add_strings(value);
}

inline ImportOptions AnyShapes() {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  return {.symbolic = true, .evaluate = strategies::EvaluateCall};
}

// Of the extents of these inputs.
inline ir::Module OfNumbers(const Model& model, const runtime::Inputs& inputs) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  ImportOptions options = {.evaluate = strategies::EvaluateCall};
  for (const auto& [name, value] : inputs) options.shapes.emplace(name, value.shape());
  return ValueOrThrow(ImportOnnx(model.Bytes(), options));
}

inline std::string ShapesOf(const runtime::Inputs& inputs) {
  std::string text;
  for (const auto& [name, value] : inputs)
    StrAppend(&text, name, " ", ShapeToString(value.shape()), " ");
  return text;
}

// One compile of the model for all of `runs`; gives the results of each. Where a result is exact,
// it is compared bit by bit.
inline std::vector<std::vector<NDArray>> ExpectRightForAll(const Model& model,
                                                           const std::vector<runtime::Inputs>& runs,
                                                           bool is_exact = false) {
  const auto module = ImportOnnx(model.Bytes(), AnyShapes());
  EXPECT_TRUE(module.ok()) << module.status();
  std::vector<std::vector<NDArray>> all;
  if (!module.ok()) return all;
  const Executable exe = ValueOrThrow(Compile(*module, {.verify = true, .check_bounds = true}));
  EXPECT_TRUE(exe.is_symbolic());
  const ir::Module typed = passes::InferType(*module);
  for (const runtime::Inputs& inputs : runs) {
    SCOPED_TRACE(ShapesOf(inputs));
    all.push_back(ValueOrThrow(exe.Run(inputs)));
    std::vector<NDArray> in_order;
    for (const ir::Expr& param : typed.Main().params)
      in_order.push_back(inputs.at(ir::Var(param).name()));
    testing_graphs::ExpectClose(all.back(), verify::Interpret(typed, in_order));
    const auto expected = testing_graphs::Outcome(OfNumbers(model, inputs), inputs);
    if (!is_exact) {
      testing_graphs::ExpectClose(all.back(), expected);
      continue;
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const NDArray& got = all.back()[i];
      EXPECT_EQ(got.shape(), expected[i].shape());
      EXPECT_TRUE(got.bytes() == expected[i].bytes() &&
                  std::memcmp(got.raw(), expected[i].raw(), got.bytes()) == 0)
          << "result " << i;
    }
  }
  return all;
}

}  // namespace tenon::onnx_import

#endif  // TENON_TESTS_ONNX_ANY_SHAPES_H_
