// Which values of a module are worth keeping as bytes. This is the first half of post-training
// quantisation.
//
// Products of float32 (nn.conv2d, nn.dense, nn.matmul, nn.batch_matmul) read both operands as
// bytes. Means, and sums, differences, products and concatenations of two values, do so if
// everything that reads their result does. So residual branches stay in bytes. Other operators stay
// in floating point. What ifs and function literals compute is left as it is.
//
//   QuantizationPlan plan = PlanQuantization(InferType(module));
//   // measure the range of each of plan.values
//   Module bytes = InsertQuantization(module, plan, ranges);  //
//   passes/quantize/insert_quantization.h
#ifndef TENON_PASSES_QUANTIZE_QUANTIZATION_PLAN_H_
#define TENON_PASSES_QUANTIZE_QUANTIZATION_PLAN_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/module.h"

namespace tenon::passes {

struct QuantizationPlan {
  // An argument that is read as bytes. For a concatenation, it is a field of its tuple. `call` is
  // `reader`, or what moves the elements to it.
  struct Operand {
    ir::Expr call;
    std::size_t index;
    std::size_t value;  // in `values`
    ir::Expr reader;
  };
  // An argument that is a constant, with a scale for each channel along `axis` or one for all.
  struct Weight {
    ir::Expr call;
    std::size_t index;
    std::optional<std::size_t> axis;
  };
  struct Refusal {
    ir::Expr call;
    std::string reason;
  };

  std::vector<ir::Expr> values;  // of float32, each before what is computed from it
  std::vector<Operand> operands;
  std::vector<Weight> weights;
  std::vector<ir::Expr> products;  // that are computed on bytes, in the order of the module
  std::vector<Refusal> refusals;   // products that are not, except those that are not wanted
};

// The plan of @main. Requires checked types. `wanted` says which products to take; null: all.
QuantizationPlan PlanQuantization(
    const ir::Module& module, const std::function<bool(const ir::Expr& product)>& wanted = nullptr);

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_QUANTIZATION_PLAN_H_
