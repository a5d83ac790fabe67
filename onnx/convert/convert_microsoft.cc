// Operators of ONNX Runtime's domain com.microsoft into which its optimiser fuses standard ones, as
// its document of contributed operators defines them. The passes fuse again in their own way.
#include <limits>
#include <optional>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/gelu.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/onnx/convert/matmul.h"
#include "tenon/ops/builders.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// What a fused node does last.
class Activation {
 public:
  // A parameter that is missing has its default value.
  Activation(std::string name, std::vector<std::optional<double>> parameters)
      : name_(std::move(name)), parameters_(std::move(parameters)) {}

  Expr operator()(const Expr& x) const {
    if (name_.empty()) return x;
    if (name_ == "Relu") return ops::Relu(x);
    if (name_ == "Sigmoid") return ops::Sigmoid(x);
    if (name_ == "Tanh") return ops::Tanh(x);
    if (name_ == "LeakyRelu") return ops::LeakyRelu(x, Parameter(0, 0.01));
    if (name_ == "Clip")
      return ops::Clip(x, Parameter(0, -std::numeric_limits<double>::infinity()),
                       Parameter(1, std::numeric_limits<double>::infinity()));
    if (name_ == "HardSigmoid") {
      const Expr slope = ops::Scalar(Parameter(0, 0.2), DataTypeOf(x));
      const Expr offset = ops::Scalar(Parameter(1, 0.5), DataTypeOf(x));
      return ops::Clip(ops::Add(ops::Multiply(x, slope), offset), 0, 1);
    }
    throw Unimplemented(StrCat("the activation ", name_,
                               " is not supported; Relu, Sigmoid, Tanh, LeakyRelu, Clip and "
                               "HardSigmoid are"));
  }

 private:
  double Parameter(std::size_t i, double otherwise) const {
    return i < parameters_.size() ? parameters_[i].value_or(otherwise) : otherwise;
  }

  std::string name_;
  std::vector<std::optional<double>> parameters_;
};

std::vector<Expr> FusedConv(Node& node) {
  const std::string name = node.String("activation", "");
  std::vector<std::optional<double>> parameters;
  if (const auto* list = node.Find("activation_params"))
    parameters.assign(list->floats().begin(), list->floats().end());
  Expr y = Converters().at("Conv")(node).at(0);
  if (node.has_input(3)) y = node.Typed(ops::Add(y, node.input(3)));
  return {node.Typed(Activation(name, parameters)(y))};
}

std::vector<Expr> FusedGemm(Node& node) {
  const std::string name = node.String("activation", "");
  std::vector<std::optional<double>> parameters;
  for (const char* attribute : {"activation_alpha", "activation_beta"})
    parameters.push_back(node.Has(attribute) ? std::optional(node.Float(attribute, 0))
                                             : std::nullopt);
  node.Ignore("activation_gamma");  // for activations that are refused
  return {node.Typed(Activation(name, parameters)(Converters().at("Gemm")(node).at(0)))};
}

// Swaps the last two axes; a vector stays as it is.
Expr Transposed(const Node& node, const Expr& x) {
  const std::int64_t rank = RankOf(x);
  if (rank < 2) return x;
  Ints axes;
  for (std::int64_t i = 0; i < rank; ++i) axes.push_back(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return node.Typed(ops::Transpose(x, axes));
}

std::vector<Expr> FusedMatMul(Node& node) {
  for (const char* attribute : {"transBatchA", "transBatchB"})
    if (node.Int(attribute, 0) != 0)
      throw Unimplemented(StrCat("the attribute ", attribute, " is not supported"));
  const auto operand = [&](std::size_t i, const char* attribute) {
    return node.Int(attribute, 0) != 0 ? Transposed(node, node.input(i)) : node.input(i);
  };
  const Expr a = operand(0, "transA"), b = operand(1, "transB");
  const double alpha = node.Float("alpha", 1);
  if (alpha == 1) return {ProductOfAnyRank(node, a, b)};
  // Sums of halves may overflow before they are scaled.
  const DataType type = DataTypeOf(a);
  const DataType sums = type.is_half() ? Float32 : DataType::Void();
  const Expr product = ProductOfAnyRank(
      node, a, b,
      [&](const Expr& x, const Expr& y) { return ops::Matmul(x, y, {.out_dtype = sums}); },
      [&](const Expr& x, const Expr& y) {
        return ops::BatchMatmul(x, y, {.out_dtype = sums, .transpose_b = false});
      });
  const Expr scaled = node.Typed(ops::Multiply(product, ops::Scalar(alpha, DataTypeOf(product))));
  return {type.is_half() ? node.Typed(ops::Cast(scaled, type)) : scaled};
}

// --- kinds of Gelu, with an optional bias before them

Expr WithBias(const Node& node) {
  const Expr& x = node.input(0);
  return node.has_input(1) ? node.Typed(ops::Add(x, node.input(1))) : x;
}

std::vector<Expr> Gelu(Node& node) { return {node.Typed(GeluByErf(WithBias(node)))}; }

std::vector<Expr> FastGelu(Node& node) { return {node.Typed(GeluByTanh(WithBias(node)))}; }

std::vector<Expr> QuickGelu(Node& node) {
  const Expr& x = node.input(0);
  const Expr alpha = ops::Scalar(node.Float("alpha", 1.702), DataTypeOf(x));
  return {node.Typed(ops::Multiply(x, ops::Sigmoid(ops::Multiply(x, alpha))))};
}

}  // namespace

void AddMicrosoftConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["BiasGelu"] = InFloat32(Gelu);
  t["FastGelu"] = InFloat32(FastGelu);
  t["FusedConv"] = Converter(FusedConv).With(
      {.other = "one to three spatial axes; Relu, Sigmoid, Tanh, LeakyRelu, Clip, HardSigmoid"});
  t["FusedGemm"] = Converter(FusedGemm).With({.other = "the same activations"});
  t["FusedMatMul"] = Converter(FusedMatMul).With({.other = "no transBatchA and transBatchB"});
  t["Gelu"] = InFloat32(Gelu);
  t["QuickGelu"] = InFloat32(QuickGelu);
}

}  // namespace tenon::onnx_import
