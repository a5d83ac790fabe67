// Operators on boxes in images. Their loops depend on values, so library functions run them.
#include "tenon/jit/library_functions.h"
#include "tenon/ops/boxes/vision_attrs.h"
#include "tenon/ops/shape_rules.h"
#include "tenon/strategies/te/empty.h"
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
  const std::vector<Expr> shape = call.te_shape();
  const std::vector<Expr>& from = call.input(0).shape();
  if (IsEmpty(shape) || IsEmpty(from)) return {Zeros(call)};
  const Tensor pooled = te::Extern(
      {shape}, {AsType(call.input(0), Float32), AsType(call.input(1), Float32)}, {Float32},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(
            jit::RoiAlignFunction(),
            {in[0], in[1], out[0], from[0], from[1], from[2], from[3], shape[0], shape[2], shape[3],
             loop::FloatImm(Float64, attrs.spatial_scale), Expr(attrs.sample_ratio),
             Expr(attrs.mode == "max" ? 1 : 0), Expr(attrs.aligned ? 1 : 0)});
      },
      "roi_align")[0];
  return {AsType(pooled, call.dtype())};
}

std::vector<Tensor> AllClassNonMaximumSuppression(const TeCall& call) {
  const std::vector<Expr>& scores = call.input(1).shape();
  const std::vector<Expr> rows = {ProductOf(scores), 3};
  if (IsEmpty(scores)) {
    return {te::Compute(
                rows, [](const std::vector<Var>&) { return Expr(0); }, "selected"),
            te::Compute(
                {1}, [](const std::vector<Var>&) { return Expr(0); }, "found")};
  }
  std::vector<Tensor> results = te::Extern(
      {rows, {1}, {Expr(4) * scores[2]}},
      {call.input(0), call.input(1), AsType(call.input(2), Int64), AsType(call.input(3), Float32),
       AsType(call.input(4), Float32)},
      {Int64, Int64, Int64},
      [&](const std::vector<Expr>& in, const std::vector<Expr>& out) {
        return te::ExternCall(jit::SuppressFunction(),
                              {in[0], in[1], in[2], in[3], in[4], out[0], out[1], out[2], scores[0],
                               scores[1], scores[2]});
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
