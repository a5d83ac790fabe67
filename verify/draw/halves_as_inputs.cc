#include "tenon/verify/draw/halves_as_inputs.h"

#include <algorithm>

#include "tenon/onnx/import.h"
#include "tenon/onnx/tensor.h"
#include "tenon/passes/infer_type.h"
#include "tenon/runtime/executable.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/support/error.h"

namespace tenon::verify {
namespace {

bool IsHalf(const onnx::TensorProto& tensor) {
  return tensor.data_type() == onnx::TensorProto::FLOAT16 ||
         tensor.data_type() == onnx::TensorProto::BFLOAT16;
}

}  // namespace

std::optional<ModelOfInputs> HalvesAsInputs(onnx::ModelProto model, const ir::Module& module,
                                            const std::vector<NDArray>& inputs) {
  runtime::Inputs named;
  onnx_import::ImportOptions options{.evaluate = strategies::EvaluateCall};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string name = ir::Var(module.Main().params[i]).name();
    named[name] = inputs[i];
    options.shapes[name] = inputs[i].shape();
  }
  onnx::GraphProto& graph = *model.mutable_graph();
  const auto first = std::stable_partition(
      graph.mutable_initializer()->begin(), graph.mutable_initializer()->end(),
      [](const onnx::TensorProto& tensor) { return !IsHalf(tensor); });
  const auto kept = static_cast<int>(first - graph.mutable_initializer()->begin());
  if (kept == graph.initializer_size()) return std::nullopt;
  for (int i = kept; i < graph.initializer_size(); ++i) {
    const onnx::TensorProto& tensor = graph.initializer(i);
    named[tensor.name()] = onnx_import::ToNDArray(tensor, tensor.name());
    options.shapes[tensor.name()] = named[tensor.name()].shape();
    const bool is_declared = std::ranges::any_of(
        graph.input(), [&](const auto& input) { return input.name() == tensor.name(); });
    if (is_declared) continue;
    onnx::ValueInfoProto* input = graph.add_input();
    input->set_name(tensor.name());
    auto* type = input->mutable_type()->mutable_tensor_type();
    type->set_elem_type(tensor.data_type());
    for (const std::int64_t extent : tensor.dims())
      type->mutable_shape()->add_dim()->set_dim_value(extent);
    type->mutable_shape();
  }
  graph.mutable_initializer()->DeleteSubrange(kept, graph.initializer_size() - kept);
  const auto imported = onnx_import::ImportOnnx(model.SerializeAsString(), options);
  if (!imported.ok()) return std::nullopt;
  ModelOfInputs made{passes::InferType(*imported), {}};
  for (const ir::Expr& param : made.module.Main().params)
    made.inputs.push_back(named.at(ir::Var(param).name()));
  return made;
}

}  // namespace tenon::verify
