// A small evaluator of constant calls, for tests of passes: float32, a few operators.
#ifndef TENON_TESTS_PASSES_EVALUATE_H_
#define TENON_TESTS_PASSES_EVALUATE_H_

#include <vector>

#include "tenon/ops/folding_budget.h"
#include "tenon/ops/known_ops.h"
#include "tenon/ops/shape/transform_attrs.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

// The index into `shape` of element `i` of `to`, where `shape` broadcasts to `to`.
inline std::size_t BroadcastIndex(const Shape& shape, const Shape& to, std::int64_t i) {
  std::int64_t index = 0;
  std::int64_t stride = 1;
  for (std::size_t back = 0; back < to.size(); ++back) {
    const std::int64_t at = i % to[to.size() - 1 - back];
    i /= to[to.size() - 1 - back];
    if (back >= shape.size()) continue;
    const std::int64_t extent = shape[shape.size() - 1 - back];
    if (extent != 1) index += at * stride;
    stride *= extent;
  }
  return static_cast<std::size_t>(index);
}

// Nothing for an operator that it does not know.
inline std::vector<NDArray> Evaluate(const ir::CallNode& call,
                                     ops::FoldingBudget* /*budget*/ = nullptr) {
  const ops::KnownOps& known = ops::Known();
  const auto floats = [](const ir::Expr& e) {
    return e.As<ir::ConstantNode>()->data.ToVector<float>();
  };
  const bool binary =
      call.callee == known.add || call.callee == known.multiply || call.callee == known.divide;
  if (binary || call.callee == known.negative) {
    const Shape shape = ir::StaticShape(call.checked_type, "the result");
    std::vector<float> out;
    for (std::int64_t i = 0; i < NumElements(shape); ++i) {
      std::vector<float> in;
      for (const ir::Expr& arg : call.args)
        in.push_back(
            floats(arg)[BroadcastIndex(arg.As<ir::ConstantNode>()->data.shape(), shape, i)]);
      out.push_back(call.callee == known.add        ? in[0] + in[1]
                    : call.callee == known.multiply ? in[0] * in[1]
                    : call.callee == known.divide   ? in[0] / in[1]
                                                    : -in[0]);
    }
    return {NDArray::FromVector<float>(shape, out)};
  }
  if (call.callee == known.concatenate) {  // of vectors
    std::vector<float> out;
    for (const ir::Expr& field : call.args[0].As<ir::TupleNode>()->fields) {
      const std::vector<float> values = floats(field);
      out.insert(out.end(), values.begin(), values.end());
    }
    return {NDArray::FromVector<float>({static_cast<std::int64_t>(out.size())}, out)};
  }
  if (call.callee == known.split) {  // of a vector into halves
    const std::vector<float> in = floats(call.args[0]);
    const auto half = static_cast<std::ptrdiff_t>(in.size() / 2);
    return {NDArray::FromVector<float>({half}, {in.begin(), in.begin() + half}),
            NDArray::FromVector<float>({half}, {in.begin() + half, in.end()})};
  }
  return {};
}

}  // namespace tenon::passes

#endif  // TENON_TESTS_PASSES_EVALUATE_H_
