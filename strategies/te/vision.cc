// Operators on boxes in images, whose loops run as values say: library functions.
#include "tenon/jit/library_functions.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/ops/vision_attrs.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/te/extern.h"
#include "tenon/te/math.h"

namespace tenon::strategies {
namespace {

using te::Expr;
using te::Tensor;
using te::Var;

std::vector<Tensor> RoiAlign(const TeCall& call) {
  const auto& attrs = call.attrs.As<ops::RoiAlignAttrs>();
  const Shape shape = call.shape();
  const Shape from = ShapeOf(call.input(0));
  if (NumElements(shape) == 0 || NumElements(from) == 0) return {Zeros(call)};
  const Tensor pooled = te::Extern(
      {call.te_shape()}, {AsType(call.input(0), Float32), AsType(call.input(1), Float32)},
      {Float32},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(
            jit::RoiAlignFunction(),
            {in[0], in[1], out[0], Expr(from[0]), Expr(from[1]), Expr(from[2]), Expr(from[3]),
             Expr(shape[0]), Expr(shape[2]), Expr(shape[3]),
             loop::FloatImm(Float64, attrs.spatial_scale), Expr(attrs.sample_ratio),
             Expr(attrs.mode == "max" ? 1 : 0), Expr(attrs.aligned ? 1 : 0)});
      },
      "roi_align")[0];
  return {AsType(pooled, call.dtype())};
}

std::vector<Tensor> AllClassNonMaximumSuppression(const TeCall& call) {
  const Shape scores = ShapeOf(call.input(1));
  const std::vector<Expr> rows = {NumElements(scores), 3};
  if (NumElements(scores) == 0) {
    return {te::Compute(
                rows, [](const std::vector<Var>&) { return Expr(0); }, "selected"),
            te::Compute(
                {1}, [](const std::vector<Var>&) { return Expr(0); }, "found")};
  }
  std::vector<Tensor> results = te::Extern(
      {rows, {1}, {4 * scores[2]}},
      {call.input(0), call.input(1), AsType(call.input(2), Int64), AsType(call.input(3), Float32),
       AsType(call.input(4), Float32)},
      {Int64, Int64, Int64},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(jit::SuppressFunction(),
                              {in[0], in[1], in[2], in[3], in[4], out[0], out[1], out[2],
                               Expr(scores[0]), Expr(scores[1]), Expr(scores[2])});
      },
      "suppress");
  results.pop_back();
  return results;
}

}  // namespace

void AttachVisionComputes(ops::OpRegistry& registry) {
  registry.Definition("vision.roi_align").SetColumn(TeCompute{RoiAlign});
  registry.Definition("vision.all_class_non_max_suppression")
      .SetColumn(TeCompute{AllClassNonMaximumSuppression});
}

}  // namespace tenon::strategies
