// Losses: sums over all targets.
#include <functional>

#include "tenon/ops/norm/loss_attrs.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/math.h"
#include "tenon/te/reduce.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::IterVar;
using te::Tensor;
using te::Var;

// The sum over all elements of `shape`.
Tensor SumOf(const std::vector<Expr>& shape, const char* name,
             const std::function<Expr(const std::vector<Expr>& at)>& term) {
  std::vector<IterVar> axes;
  std::vector<Expr> at;
  for (const Expr& extent : shape) {
    axes.push_back(te::ReduceAxis(0, extent));
    at.emplace_back(axes.back().var);
  }
  if (axes.empty())
    return te::Compute(
        {}, [&](const std::vector<Var>&) { return term(at); }, name);
  return te::Compute(
      {}, [&](const std::vector<Var>&) { return te::Sum(term(at), axes); }, name, "comm_reduce");
}

std::vector<Tensor> NllLoss(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::NLLLossAttrs>();
  const Tensor& x = call.input(0);
  const Tensor& targets = call.input(1);
  const Tensor& weights = call.input(2);
  const std::int64_t classes = ExtentOf(weights, 0);
  const DataType dtype = SumType(call.dtype());
  const Expr zero = te::Cast(dtype, 0);
  const auto target_at = [&](const std::vector<Expr>& at) { return te::Cast(Int64, targets[at]); };
  const auto counts = [&](const Expr& target) {
    return target != Expr(attrs.ignore_index) && target >= Expr(0) && target < Expr(classes);
  };
  const auto class_of = [&](const Expr& target) {
    return te::Max(te::Min(target, Expr(classes - 1)), Expr(0));
  };
  const auto weight_at = [&](const std::vector<Expr>& at) {
    const Expr target = target_at(at);
    if (classes == 0) return zero;
    return te::Select(counts(target), te::Cast(dtype, weights(class_of(target))), zero);
  };
  const auto loss_at = [&](const std::vector<Expr>& at) {
    const Expr target = target_at(at);
    if (classes == 0) return zero;
    std::vector<Expr> from = at;
    from.insert(from.begin() + (at.empty() ? 0 : 1), class_of(target));
    const Expr loss = te::Cast(dtype, x[from]) * te::Cast(dtype, weights(class_of(target)));
    return te::Select(counts(target), -loss, zero);
  };
  if (attrs.reduction == "none")
    return {te::Compute(
        call.te_shape(),
        [&](const std::vector<Var>& i) { return te::Cast(call.dtype(), loss_at(ToExprs(i))); },
        "nll_loss")};
  const Tensor sum = SumOf(targets.shape(), "loss_sum", loss_at);
  if (attrs.reduction == "sum") return {AsType(sum, call.dtype())};
  const Tensor weight = SumOf(targets.shape(), "weight_sum", weight_at);
  return {te::Compute(
      {}, [&](const std::vector<Var>&) { return te::Cast(call.dtype(), sum() / weight()); },
      "nll_loss")};
}

std::vector<Tensor> CrossEntropy(const TeCall& call, bool of_logarithms) {
  const Tensor& x = call.input(0);
  const Tensor& targets = call.input(1);
  const DataType dtype = SumType(call.dtype());
  const std::vector<Expr>& shape = x.shape();
  // Terms are stored row by row, so that logarithms are taken of whole vectors.
  const Tensor terms = te::Compute(
      shape,
      [&](const std::vector<Var>& i) {
        const Expr value = te::Cast(dtype, x[ToExprs(i)]);
        return te::Cast(dtype, targets[ToExprs(i)]) * (of_logarithms ? value : te::Log(value));
      },
      "terms");
  const IterVar k = te::ReduceAxis(0, shape[1]);
  const Tensor rows = te::Compute(
      {shape[0]}, [&](const Var& row) { return te::Sum(terms(row, k.var), {k}); }, "row_sums",
      "comm_reduce");
  const Tensor sum =
      SumOf({shape[0]}, "sum", [&](const std::vector<Expr>& at) { return rows[at]; });
  const Expr batch = te::Cast(dtype, shape[0]);
  return {te::Compute(
      {}, [&](const std::vector<Var>&) { return te::Cast(call.dtype(), -sum() / batch); },
      "cross_entropy")};
}

}  // namespace

void AttachLossComputes(ops::OpRegistry& registry) {
  registry.Definition("nn.nll_loss").SetColumn(TeCompute{NllLoss});
  registry.Definition("nn.cross_entropy").SetColumn(TeCompute{[](const TeCall& call) {
    return CrossEntropy(call, false);
  }});
  registry.Definition("nn.cross_entropy_with_logits").SetColumn(TeCompute{[](const TeCall& call) {
    return CrossEntropy(call, true);
  }});
}

}  // namespace tenon::strategies
