// Normalisations that Tenon composes: by groups of channels, by Lp norms, and by the root of the
// mean square.
#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/onnx/convert/rms_norm.h"
#include "tenon/onnx/convert/stash_type.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/index_builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

// Opset 18 has a scale and a bias for each group, opset 21 for each channel.
std::vector<Expr> GroupNormalization(Node& node) {
  const Expr& x = node.input(0);
  const StashType stash = StashTypeOf(node, DataTypeOf(x));
  const std::vector<Dim> shape = DimsOf(x);
  if (shape.size() < 2 || !shape[1].is_static())
    throw InvalidArgument("input 0 must have a known number of channels along axis 1");
  const std::int64_t groups = node.Int("num_groups", 0), channels = shape[1].value();
  if (groups < 1 || channels % groups != 0)
    throw InvalidArgument(
        StrCat("num_groups is ", groups, "; it must divide the ", channels, " channels"));
  const std::int64_t wanted = node.opset() < 21 ? groups : channels;
  const auto of_channels = [&](std::size_t i) -> Expr {
    if (ShapeOf(node.input(i)) != Shape{wanted})
      throw InvalidArgument(StrCat("input ", i, " has the shape (",
                                   StrJoin(ShapeOf(node.input(i)), ", "), "); opset ", node.opset(),
                                   " takes (", wanted, ")"));
    if (wanted == channels) return node.input(i);
    return node.Typed(ops::Repeat(node.input(i), channels / groups, 0));
  };
  const ops::GroupNormAttrs attrs{.num_groups = groups, .epsilon = node.Float("epsilon", 1e-5)};
  if (stash.computed == Float32)
    return {node.Typed(ops::GroupNorm(x, of_channels(1), of_channels(2), attrs))};
  const auto wide = [&](const Expr& e) { return InType(node, e, stash.computed); };
  const Expr y =
      node.Typed(ops::GroupNorm(wide(x), wide(of_channels(1)), wide(of_channels(2)), attrs));
  return {InType(node, y, DataTypeOf(x))};
}

// Rows whose norm is 0 stay as they are.
std::vector<Expr> LpNormalization(Node& node) {
  const Expr& x = node.input(0);
  const std::int64_t p = node.Int("p", 2);
  if (p != 1 && p != 2) throw InvalidArgument(StrCat("p is ", p, "; it may be 1 or 2"));
  const ops::ReduceAttrs reduce{.axis = Ints{AxisOf(node, -1)}, .keepdims = true};
  const Expr norm = node.Typed(p == 1 ? ops::Sum(ops::Abs(x), reduce)
                                      : ops::Sqrt(ops::Sum(ops::Multiply(x, x), reduce)));
  const DataType type = DataTypeOf(x);
  const Expr is_zero = ir::Call::Make(ops::Known().equal, {norm, ops::Scalar(0, type)});
  return {node.Typed(ops::Divide(x, ops::Where(is_zero, ops::Scalar(1, type), norm)))};
}

// ONNX Runtime writes the same as SimplifiedLayerNormalization, in the standard's domain.
std::vector<Expr> RmsNormalization(Node& node) {
  const Expr& x = node.input(0);
  const StashType stash = StashTypeOf(node, DataTypeOf(x));
  Ints axes;
  for (std::int64_t i = AxisOf(node, -1); i < RankOf(x); ++i) axes.push_back(i);
  return {ScaledByRms(node, x, node.input(1), axes, node.Float("epsilon", 1e-5), stash.computed)};
}

}  // namespace

void AddNormConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["GroupNormalization"] = GroupNormalization;
  t["LpNormalization"] = InFloat32(LpNormalization);
  t["RMSNormalization"] = RmsNormalization;
  t["SimplifiedLayerNormalization"] =
      Converter(RmsNormalization).With({.other = "as RMSNormalization; ONNX Runtime writes it"});
}

}  // namespace tenon::onnx_import
