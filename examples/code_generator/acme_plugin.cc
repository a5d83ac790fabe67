// A plug-in that registers a code generator: the library in acme.h computes what two patterns
// match.
//
//   tenon run examples/code_generator/acme.relay --plugin libacme_plugin.so --partition=acme
//   --verify
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "acme.h"
#include "tenon/compiler/code_generator.h"
#include "tenon/ir/flatten.h"
#include "tenon/ops/reduce/reduce_attrs.h"
#include "tenon/ops/registry.h"

namespace {

namespace ir = tenon::ir;
using tenon::CompositeKernel;
using tenon::NDArray;
using tenon::Shape;
using tenon::passes::IsOp;
using tenon::passes::Wildcard;
using tenon::strategies::Group;

Shape ShapeOf(const ir::Type& type) { return ir::StaticShape(type, "a value of a composite"); }
acme::Matrix MatrixOf(const ir::Type& type) {
  const Shape shape = ShapeOf(type);
  return {static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1])};
}
// The parameter that an operand of a call is; nothing for what is computed inside.
std::optional<std::size_t> Parameter(const Group& group, const ir::Expr& operand) {
  for (std::size_t i = 0; i < group.function->params.size(); ++i) {
    if (group.function->params[i] == operand) return i;
  }
  return std::nullopt;
}

// --- relu(dense(x, w) + bias); w and bias are packed when the kernel is made

struct DenseOperands {
  std::optional<std::size_t> data, weight, bias;
};
// The pattern takes the operands of the addition in either order.
DenseOperands ReadDense(const Group& group) {
  const auto* relu = group.function->body.As<ir::CallNode>();
  const auto* sum = relu->args[0].As<ir::CallNode>();
  const auto* first = sum->args[0].As<ir::CallNode>();
  const bool is_first = first != nullptr && first->op()->name == "nn.dense";
  const auto* dense = is_first ? first : sum->args[1].As<ir::CallNode>();
  return {Parameter(group, dense->args[0]), Parameter(group, dense->args[1]),
          Parameter(group, sum->args[is_first ? 1 : 0])};
}

class DenseRelu : public tenon::jit::Callable {
 public:
  DenseRelu(acme::Matrix data, acme::Matrix weight, const NDArray& w, const NDArray& bias)
      : data_(data),
        outputs_(weight.rows),
        packed_(weight.rows * weight.columns),
        bias_(bias.data<float>(), bias.data<float>() + weight.rows) {
    acme::PackWeight(weight, w.data<float>(), packed_.data());
  }
  void Call(void* const* buffers, void*) const override {
    acme::DenseRelu(data_, outputs_, static_cast<const float*>(buffers[0]), packed_.data(),
                    bias_.data(), static_cast<float*>(buffers[1]));
  }
  std::string implementation() const override { return "acme dense_relu"; }

 private:
  acme::Matrix data_;
  std::size_t outputs_;
  std::vector<float> packed_, bias_;
};

std::optional<std::string> RefuseDense(const Group& group) {
  const auto [data, weight, bias] = ReadDense(group);
  if (!data || !weight || !bias || !group.constants[*weight].defined() ||
      !group.constants[*bias].defined())
    return "acme packs weights and biases, which must be constant rows";
  if (group.constants[*weight].dtype() != tenon::Float32) return "acme computes float32";
  if (ShapeOf(group.function->params[*data].checked_type()).size() != 2)
    return "acme takes matrices";
  if (tenon::NumElements(group.constants[*bias].shape()) != group.constants[*weight].shape()[0])
    return "the bias is not one row";
  return std::nullopt;
}

CompositeKernel BuildDense(const Group& group) {
  const auto [data, weight, bias] = ReadDense(group);
  const auto type = [&](std::size_t i) { return group.function->params[i].checked_type(); };
  return {.kernel = std::make_shared<DenseRelu>(MatrixOf(type(*data)), MatrixOf(type(*weight)),
                                                group.constants[*weight], group.constants[*bias]),
          .arguments = {static_cast<int>(*data)},
          .results = {group.function->body.checked_type()}};
}

// --- exp(x) and its sum along rows: two results where both are read

class ExpAndSum : public tenon::jit::Callable {
 public:
  ExpAndSum(acme::Matrix shape, int sums_at) : shape_(shape), sums_at_(sums_at) {}
  void Call(void* const* buffers, void*) const override {
    acme::ExpAndSum(shape_, static_cast<const float*>(buffers[0]),
                    static_cast<float*>(buffers[3 - sums_at_]),
                    static_cast<float*>(buffers[sums_at_]));
  }
  std::string implementation() const override { return "acme exp_and_sum"; }

 private:
  acme::Matrix shape_;
  int sums_at_;  // among the buffers: the input, then the two results
};

const ir::CallNode* SumOf(const ir::Expr& result) {
  const auto* call = result.As<ir::CallNode>();
  return call != nullptr && call->op()->name == "sum" ? call : nullptr;
}

std::optional<std::string> RefuseExpAndSum(const Group& group) {
  const auto* results = group.function->body.As<ir::TupleNode>();
  if (results == nullptr || results->fields.size() != 2)
    return "only the sum is read, and acme writes the exponentials, too";
  const auto* x = group.function->params[0].checked_type().As<ir::TensorTypeNode>();
  if (x->dtype != tenon::Float32 || x->shape.size() != 2) return "acme takes matrices of float32";
  for (const ir::Expr& field : results->fields) {
    const ir::CallNode* sum = SumOf(field);
    if (sum == nullptr) continue;
    const auto& axes = sum->attrs.As<tenon::ops::ReduceAttrs>();
    if (axes.axis == std::vector<std::int64_t>{1} && !axes.exclude) return std::nullopt;
  }
  return "acme sums the rows of matrices";
}

CompositeKernel BuildExpAndSum(const Group& group) {
  const auto* results = group.function->body.As<ir::TupleNode>();
  const int sums_at = SumOf(results->fields[0]) != nullptr ? 1 : 2;
  return {.kernel = std::make_shared<ExpAndSum>(MatrixOf(group.function->params[0].checked_type()),
                                                sums_at),
          .arguments = {0},
          .results = ir::Flatten(group.function->body.checked_type())};
}

// --- the generator

bool IsDense(const Group& group) {
  return *group.function->attrs.at("Composite").As<std::string>() == "acme.dense_relu";
}

[[maybe_unused]] const bool registered = tenon::RegisterCodeGenerator(
    {.name = "acme",
     .patterns =
         [] {
           const auto dense = IsOp("nn.dense")(Wildcard(), Wildcard());
           return std::vector<tenon::passes::FusionPattern>{
               {"acme.dense_relu", IsOp("nn.relu")(IsOp("add")(dense, Wildcard()))},
               {"acme.exp_and_sum", IsOp("sum")(IsOp("exp")(Wildcard()))}};
         },
     .refusal =
         [](const Group& group) {
           return IsDense(group) ? RefuseDense(group) : RefuseExpAndSum(group);
         },
     .build =
         [](const Group& group) {
           return IsDense(group) ? BuildDense(group) : BuildExpAndSum(group);
         }});

}  // namespace
