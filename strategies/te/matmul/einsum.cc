// Sums of Einstein's notation. Two operands that share summed labels are a product of matrices.
// Labels of both that are in the result are its batch, those of one are its rows or its columns,
// and the summed ones its depth. Everything else is one sum over all labels that the result lacks.
#include <algorithm>
#include <map>
#include <optional>

#include "tenon/ops/matmul/einsum_rules.h"
#include "tenon/strategies/te/matmul/product.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/strings.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using ops::EinsumLabels;
using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// An einsum with the extent of each label.
struct Summation {
  const TeCall& call;
  ops::EinsumAxes axes;
  std::map<int, std::int64_t> extents;

  explicit Summation(const TeCall& of) : call(of) {
    std::vector<std::size_t> ranks;
    for (const Tensor& x : call.inputs) ranks.push_back(x.ndim());
    axes = ops::ParseEinsum(call.attrs.As<ops::EinsumAttrs>().equation, ranks);
    for (std::size_t k = 0; k < ranks.size(); ++k) {
      for (std::size_t d = 0; d < ranks[k]; ++d) {
        std::int64_t& extent = extents.emplace(axes.operands[k][d], 1).first->second;
        if (extent == 1) extent = ExtentOf(call.input(k), d);
      }
    }
  }

  Shape ExtentsOf(const EinsumLabels& labels) const {
    Shape shape;
    for (const int label : labels) shape.push_back(extents.at(label));
    return shape;
  }

  // The element of an operand for these values of the labels. Axes of one element are broadcast.
  Expr Element(std::size_t operand, const std::map<int, Expr>& at) const {
    const Tensor& x = call.input(operand);
    std::vector<Expr> from;
    for (std::size_t d = 0; d < x.ndim(); ++d)
      from.push_back(ExtentOf(x, d) == 1 ? Expr(0) : at.at(axes.operands[operand][d]));
    return x[from];
  }
};

std::vector<Tensor> Sum(const Summation& summation) {
  const TeCall& call = summation.call;
  const ops::EinsumAxes& axes = summation.axes;
  std::vector<IterVar> summed;
  for (const int label : axes.summed)
    summed.push_back(te::ReduceAxis(0, summation.extents.at(label), StrCat("k", summed.size())));
  const auto product = [&](const std::vector<Var>& i) {
    std::map<int, Expr> at;
    for (std::size_t d = 0; d < i.size(); ++d) at.emplace(axes.result[d], i[d]);
    for (std::size_t d = 0; d < summed.size(); ++d) at.emplace(axes.summed[d], summed[d].var);
    Expr all = summation.Element(0, at);
    for (std::size_t k = 1; k < call.inputs.size(); ++k) all = all * summation.Element(k, at);
    return all;
  };
  if (summed.empty()) return {te::Compute(call.te_shape(), product, "einsum")};
  return {te::Compute(
      call.te_shape(), [&](const std::vector<Var>& i) { return te::Sum(product(i), summed); },
      "einsum", "comm_reduce")};
}

bool Has(const EinsumLabels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

// Which operand is the right one of a product of matrices, and what its labels are there.
struct MatrixLabels {
  std::size_t right = 1;
  EinsumLabels batch, rows, columns, depth;

  std::size_t left() const { return 1 - right; }
};

std::optional<MatrixLabels> MatrixLabelsOf(const Summation& summation) {
  const ops::EinsumAxes& axes = summation.axes;
  if (axes.operands.size() != 2 || axes.result.empty()) return std::nullopt;
  for (std::size_t k = 0; k < 2; ++k) {
    const EinsumLabels& labels = axes.operands[k];
    for (std::size_t d = 0; d < labels.size(); ++d) {
      const bool is_diagonal = std::count(labels.begin(), labels.end(), labels[d]) > 1;
      if (is_diagonal || ExtentOf(summation.call.input(k), d) != summation.extents.at(labels[d]))
        return std::nullopt;
    }
  }
  MatrixLabels matrix;
  // Columns lie together in the result.
  if (!Has(axes.operands[1], axes.result.back())) matrix.right = 0;
  const EinsumLabels &left = axes.operands[matrix.left()], &right = axes.operands[matrix.right];
  for (const int label : axes.result) {
    const bool is_left = Has(left, label), is_right = Has(right, label);
    (is_left && is_right ? matrix.batch : is_left ? matrix.rows : matrix.columns).push_back(label);
  }
  for (const int label : axes.summed) {
    if (!Has(left, label) || !Has(right, label)) return std::nullopt;
  }
  // The labels are in the order of memory on the left.
  std::copy_if(left.begin(), left.end(), std::back_inserter(matrix.depth),
               [&](int label) { return Has(axes.summed, label); });
  if (matrix.rows.empty() || matrix.columns.empty() || matrix.depth.empty()) return std::nullopt;
  return matrix;
}

std::vector<Tensor> MatrixProduct(const Summation& summation, const MatrixLabels& labels) {
  const TeCall& call = summation.call;
  const Shape batch = summation.ExtentsOf(labels.batch), rows = summation.ExtentsOf(labels.rows),
              columns = summation.ExtentsOf(labels.columns),
              depth = summation.ExtentsOf(labels.depth);
  const auto element = [&](std::size_t operand, const std::vector<Expr>& of_batch,
                           const EinsumLabels& others, const Expr& other, const Expr& k) {
    std::map<int, Expr> at;
    const auto put = [&](const EinsumLabels& of, const std::vector<Expr>& values) {
      for (std::size_t i = 0; i < of.size(); ++i) at.emplace(of[i], values[i]);
    };
    put(labels.batch, of_batch);
    put(others, Unflatten(other, summation.ExtentsOf(others)));
    put(labels.depth, Unflatten(k, depth));
    return summation.Element(operand, at);
  };
  const Tensor& left = call.input(labels.left());
  const auto ends_in_depth = [&](std::size_t operand) {
    return Has(labels.depth, summation.axes.operands[operand].back());
  };
  const Product product = {
      .batch = Sizes(batch.begin(), batch.end()),
      .rows = NumElements(rows),
      .columns = NumElements(columns),
      .depth = NumElements(depth),
      .dtype = call.dtype(),
      .target = call.target,
      .left = [&](const std::vector<Expr>& at, const Expr& row,
                  const Expr& k) { return element(labels.left(), at, labels.rows, row, k); },
      .right =
          [&](const std::vector<Expr>& at, const Expr& k, const Expr& column) {
            return element(labels.right, at, labels.columns, column, k);
          },
      .least_rows = LeastRows(call, call.IsConstant(labels.right), ends_in_depth(labels.right)),
      .right_has = std::vector<bool>(batch.size(), true),
      .prepared = [&](const Tensor& packed) { return call.Prepared(packed); },
      .left_in_rows = ends_in_depth(labels.left()) && left.op()->is_placeholder()};
  Shape shape = batch;
  shape.insert(shape.end(), {NumElements(rows), NumElements(columns)});
  const Tensor result = Multiply(product, ToExprs(shape));
  EinsumLabels in_order = labels.batch;
  in_order.insert(in_order.end(), {labels.rows[0], labels.columns[0]});
  if (in_order == summation.axes.result) return {result};
  return {te::Compute(
      call.te_shape(),
      [&](const std::vector<Var>& i) {
        std::map<int, Expr> at;
        for (std::size_t d = 0; d < i.size(); ++d) at.emplace(summation.axes.result[d], i[d]);
        const auto values = [&](const EinsumLabels& of) {
          std::vector<Expr> found;
          for (const int label : of) found.push_back(at.at(label));
          return found;
        };
        std::vector<Expr> from = values(labels.batch);
        from.push_back(Flatten(values(labels.rows), rows));
        from.push_back(Flatten(values(labels.columns), columns));
        return result[from];
      },
      "einsum")};
}

std::vector<Tensor> Einsum(const TeCall& call) {
  const Summation summation(call);
  const std::optional<MatrixLabels> matrix = MatrixLabelsOf(summation);
  return matrix ? MatrixProduct(summation, *matrix) : Sum(summation);
}

}  // namespace

void AttachEinsumCompute(ops::OpRegistry& registry) {
  registry.Definition("einsum").SetColumn(TeCompute{Einsum});
}

}  // namespace tenon::strategies
