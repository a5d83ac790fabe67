// Matrix products and normalisations.
#include <set>
#include <string>

#include "tenon/onnx/convert/converters.h"
#include "tenon/onnx/convert/half_floats.h"
#include "tenon/onnx/convert/matmul.h"
#include "tenon/onnx/convert/stash_type.h"
#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::onnx_import {
namespace {

using attrs::Attrs;

constexpr std::int64_t kMaxByCofactors = 4;

std::vector<Expr> BatchNormalization(Node& node) {
  bool wants_statistics = false;
  for (int i = 1; i < node.num_outputs(); ++i)
    wants_statistics = wants_statistics || node.WantsOutput(i);
  if (node.Int("training_mode", 0) != 0 || wants_statistics)
    throw Unimplemented("training is not supported");
  if (node.Int("spatial", 1) != 1) throw Unimplemented("spatial=0 is not supported");
  node.Ignore("momentum");
  const double epsilon = node.Float("epsilon", 1e-5);
  // Since opset 15 the data, the scales and the statistics may each have a type of their own.
  const DataType given = DataTypeOf(node.input(0));
  std::set<std::string> types;
  for (const Expr& input : node.all_inputs()) types.insert(DataTypeOf(input).ToString());
  const bool has_double = types.contains(Float64.ToString());
  const DataType t = types.size() == 1 ? given : has_double ? Float64 : Float32;
  const auto in = [&](std::size_t i) { return InType(node, node.input(i), t); };
  const Expr y = ops::BatchNorm(in(0), in(1), in(2), in(3), in(4), {.epsilon = epsilon});
  return {InType(node, node.Typed(ir::TupleGetItem::Make(y, 0)), given)};
}

std::vector<Expr> InstanceNormalization(Node& node) {
  return {node.Typed(ops::InstanceNorm(node.input(0), node.input(1), node.input(2),
                                       {.epsilon = node.Float("epsilon", 1e-5)}))};
}

// Also gives the mean and the reciprocal of the deviation when they are wanted.
std::vector<Expr> LayerNormalization(Node& node) {
  const Expr& x = node.input(0);
  const std::int64_t rank = RankOf(x);
  const std::int64_t axis = AxisOf(node, -1);
  const StashType stash = StashTypeOf(node, DataTypeOf(x));
  const double epsilon = node.Float("epsilon", 1e-5);
  const bool center = node.has_input(2);
  const bool wants_statistics = node.WantsOutput(1) || node.WantsOutput(2);
  const bool is_wider = stash.computed != Float32 && DataTypeOf(x) != Float64;
  // Scale and bias may be of any shape that is broadcast to the data's.
  const Dim width = DimsOf(x).back();
  const auto is_row = [&](std::size_t i) {
    const std::vector<Dim> dims = DimsOf(node.input(i));
    return dims.size() == 1 && (dims[0] == width || !(dims[0] == Dim(1)));
  };
  if (axis == rank - 1 && !wants_statistics && is_row(1) && (!center || is_row(2)) && !is_wider)
    return {node.Typed(ops::LayerNorm(x, node.input(1), center ? node.input(2) : node.input(1),
                                      {.epsilon = epsilon, .center = center}))};
  // Mean and reciprocal are returned in the type of the standard's first stage.
  const DataType t = stash.computed;
  const auto as_type = [&](const Expr& e, DataType to) { return InType(node, e, to); };
  Ints axes;
  for (std::int64_t i = axis; i < rank; ++i) axes.push_back(i);
  const ops::ReduceAttrs reduce{.axis = axes, .keepdims = true};
  const Expr wide = as_type(x, t);
  const Expr mean = node.Typed(ops::Mean(wide, reduce));
  const Expr centred = node.Typed(ops::Subtract(wide, mean));
  const Expr variance = ops::Mean(ops::Multiply(centred, centred), reduce);
  const Expr deviation = ops::Sqrt(ops::Add(variance, ops::Scalar(epsilon, t)));
  const Expr inverse = node.Typed(ops::Divide(ops::Scalar(1, t), deviation));
  const Expr normalised = as_type(node.Typed(ops::Multiply(centred, inverse)), DataTypeOf(x));
  Expr y = ops::Multiply(normalised, node.input(1));
  if (center) y = ops::Add(y, node.input(2));
  return {node.Typed(y), as_type(mean, stash.given), as_type(inverse, stash.given)};
}

std::vector<Expr> LocalResponseNormalization(Node& node) {
  return {node.Typed(ir::Call::Make(ops::Known().lrn, {node.input(0)},
                                    Attrs::Make(ops::LRNAttrs{.size = node.Int("size", 0),
                                                              .bias = node.Float("bias", 1),
                                                              .alpha = node.Float("alpha", 1e-4),
                                                              .beta = node.Float("beta", 0.75)})))};
}

std::vector<Expr> MeanVarianceNormalization(Node& node) {
  const Expr& x = node.input(0);
  const ops::ReduceAttrs reduce{.axis = node.IntsOr("axes", {0, 2, 3}), .keepdims = true};
  const Expr centred = node.Typed(ops::Subtract(x, ops::Mean(x, reduce)));
  const Expr variance = ops::Mean(ops::Multiply(centred, centred), reduce);
  const Expr deviation = ops::Add(ops::Sqrt(variance), ops::Scalar(1e-9, DataTypeOf(x)));
  return {node.Typed(ops::Divide(centred, deviation))};
}

std::vector<Expr> Gemm(Node& node) {
  const Expr& a = node.input(0);
  const DataType given = DataTypeOf(a);
  // Halves are rounded once, after all.
  const bool is_half = given.is_half();
  const DataType t = is_half ? Float32 : given;
  const double alpha = node.Float("alpha", 1);
  const double beta = node.Float("beta", 1);
  Expr y = ops::Matmul(a, node.input(1),
                       {.out_dtype = is_half ? Float32 : DataType::Void(),
                        .transpose_a = node.Int("transA", 0) != 0,
                        .transpose_b = node.Int("transB", 0) != 0});
  if (alpha != 1) y = ops::Multiply(y, NumberOf("alpha", alpha, t));
  if (node.has_input(2)) {
    Expr c = is_half ? ops::Cast(node.input(2), t) : node.input(2);
    if (beta != 1) c = ops::Multiply(c, NumberOf("beta", beta, t));
    y = ops::Add(y, c);
  }
  return {node.Typed(is_half ? ops::Cast(y, given) : y)};
}

std::vector<Expr> MatMul(Node& node) {
  return {ProductOfAnyRank(node, node.input(0), node.input(1))};
}

// Of few rows by cofactors: starting with the last row, the determinants for all sets of that many
// columns.
std::vector<Expr> Det(Node& node) {
  const Expr& x = node.input(0);
  const std::vector<Dim> shape = DimsOf(x);
  const std::size_t rank = shape.size();
  if (rank < 2) throw InvalidArgument(StrCat("the input has rank ", rank, "; it must be matrices"));
  const bool are_few = shape[rank - 1].is_static() && shape[rank - 1] == shape[rank - 2] &&
                       shape[rank - 1].value() >= 1 && shape[rank - 1].value() <= kMaxByCofactors;
  if (!are_few) return {node.Typed(ops::CallOp("matrix_determinant", {x}))};
  const std::int64_t n = shape.back().value();
  const auto along_last = [&](const Expr& e, std::int64_t i) {
    return node.Typed(ElementAlong(e, i, RankOf(e) - 1));
  };
  // Indexed by the set of columns, one bit per column.
  std::vector<Expr> minors(std::size_t{1} << n);
  for (std::size_t columns = 1; columns < minors.size(); ++columns) {
    const std::int64_t row = n - __builtin_popcountll(columns);
    bool negative = false;
    for (std::int64_t c = 0; c < n; ++c) {
      const std::size_t bit = std::size_t{1} << c;
      if ((columns & bit) == 0) continue;
      Expr term = along_last(along_last(x, c), row);
      if (columns != bit) term = ops::Multiply(term, minors[columns ^ bit]);
      Expr& sum = minors[columns];
      sum = node.Typed(!sum ? term : negative ? ops::Subtract(sum, term) : ops::Add(sum, term));
      negative = !negative;
    }
  }
  return {minors.back()};
}

std::vector<Expr> Dropout(Node& node) {
  node.Ignore("ratio");
  node.Ignore("seed");
  node.Ignore("is_test");
  // The default ratio. Training drops elements unless the ratio is 0.
  constexpr double kOtherwise = 0.5;
  const bool is_training = node.has_input(2) && node.ConstantScalar(2) != 0;
  if (is_training && (node.has_input(1) ? node.ConstantScalar(1) : kOtherwise) != 0)
    throw Unimplemented("training is not supported");
  if (!node.WantsOutput(1)) return {node.input(0)};
  // Nothing is dropped: the mask is all true, or up to opset 9 all 1 in the input's type.
  const DataType type = node.opset() < 10 ? DataTypeOf(node.input(0)) : Bool;
  const Expr one = node.Typed(ops::Scalar(1, type));
  return {node.input(0), node.Typed(BroadcastTo(node.extents(), one, DimsOf(node.input(0))))};
}

}  // namespace

void AddNnConverters(ConverterTable* table) {
  ConverterTable& t = *table;
  t["BatchNormalization"] = Converter(BatchNormalization).With({.other = "inference"});
  t["Det"] = InFloat32(Det);
  t["Dropout"] = Converter(Dropout).With(
      {.known = {{2, "training_mode"}, {1, "ratio", "where training_mode is true"}},
       .other = "inference, or a ratio of 0"});
  t["Gemm"] = Converter(Gemm).With({.other = "of integers, whole numbers as alpha and beta"});
  t["InstanceNormalization"] = InstanceNormalization;
  t["LRN"] = LocalResponseNormalization;
  t["LayerNormalization"] = LayerNormalization;
  t["MatMul"] = MatMul;
  t["MeanVarianceNormalization"] = InFloat32(MeanVarianceNormalization);
}

}  // namespace tenon::onnx_import
