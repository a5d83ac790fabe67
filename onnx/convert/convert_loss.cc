// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// The loss of log probabilities (N, C, ...) for targets (N, ...): weighted, without the ignored
// targets, and reduced.
Expr Loss(Node& node, const Expr& logarithms) {
  const Expr& target = node.input(1);
  const DataType t = DataTypeOf(logarithms);
  const DataType index = DataTypeOf(target);
  const std::string reduction = node.String("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    throw InvalidArgument(StrCat("reduction is ", reduction, "; it may be none, sum or mean"));
  Expr place = target;
  Expr ignored;
  if (node.Has("ignore_index")) {
    const Expr number = Integer(node.Int("ignore_index", 0));
    ignored = ir::Call::Make(ops::Known().equal, {ops::Cast(target, Int64), number});
    place = ops::Where(ignored, ops::Scalar(0, index), target);
  }
  const Expr picked =
      ops::Squeeze(ir::Call::Make(ops::Known().gather, {logarithms, ops::ExpandDims(place, 1)},
                                  attrs::Attrs::Make(ops::GatherAttrs{.axis = 1})),
                   Ints{1});
  Expr weight;
  if (node.has_input(2))
    weight = ops::Take(node.input(2), place, {.axis = 0});
  else if (ignored)
    weight = ops::Scalar(1, t);
  if (ignored) weight = ops::Where(ignored, ops::Scalar(0, t), weight);
  Expr loss = ops::Negative(picked);
  if (weight) loss = ops::Multiply(loss, weight);
  // An ignored loss may be infinite, and its product with 0 no number.
  if (ignored) loss = ops::Where(ignored, ops::Scalar(0, t), loss);
  if (reduction == "none") return node.Typed(loss);
  if (reduction == "sum") return node.Typed(ops::Sum(loss));
  if (!weight) return node.Typed(ops::Mean(loss));
  return node.Typed(ops::Divide(ops::Sum(loss), ops::Sum(weight)));
}

std::vector<Expr> NegativeLogLikelihood(Node& node) { return {Loss(node, node.input(0))}; }

std::vector<Expr> SoftmaxCrossEntropy(Node& node) {
  const Expr logarithms = node.Typed(ops::LogSoftmax(node.input(0), 1));
  return {Loss(node, logarithms), logarithms};
}

}  // namespace

void AddLossConverters(ConverterTable* table) {
  (*table)["NegativeLogLikelihoodLoss"] = InFloat32(NegativeLogLikelihood);
  (*table)["SoftmaxCrossEntropyLoss"] = InFloat32(SoftmaxCrossEntropy);
}

}  // namespace tenon::onnx_import
