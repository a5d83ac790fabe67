#include "tenon/passes/combine/combine_parallel_dense.h"

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/combine/combine_branches.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

std::size_t RankOf(const Expr& e) {
  return e.checked_type().As<ir::TensorTypeNode>()->shape.size();
}
DataType OutType(const CallNode& call) { return call.attrs.As<ops::DenseAttrs>().out_dtype; }

Expr Batched(const std::vector<const CallNode*>& branches, const Expr& data) {
  std::vector<Expr> weights;
  for (const CallNode* branch : branches) weights.push_back(branch->args[1]);
  return ops::BatchMatmul(Stack(std::vector<Expr>(branches.size(), data)),
                          Stack(std::move(weights)),
                          {.out_dtype = OutType(*branches[0]), .transpose_b = true});
}

Expr Flat(const std::vector<const CallNode*>& branches, const Expr& data) {
  std::vector<Expr> weights;
  std::int64_t units = 0;
  for (const CallNode* branch : branches) {
    weights.push_back(branch->args[1]);
    units += WeightShape(*branch)[0];
  }
  return ops::Dense(data, ops::Concatenate(std::move(weights), 0),
                    {.units = units, .out_dtype = OutType(*branches[0])});
}

}  // namespace

ir::Module CombineParallelDense(const ir::Module& module, int min_num_branches, DenseForm form) {
  const bool is_batch = form == DenseForm::kBatch;
  return CombineBranches(
      module,
      {.op = ops::Known().dense,
       .is_supported =
           [is_batch](const CallNode& call) {
             return IsStaticWeight(call) && (!is_batch || RankOf(call.args[0]) == 2);
           },
       .are_alike =
           [is_batch](const CallNode& a, const CallNode& b) {
             // Weights must be equal along the axis that is summed over, and in a batch also along
             // the other one.
             return OutType(a) == OutType(b) && HaveOneWeightType(a, b) &&
                    WeightShape(a)[1] == WeightShape(b)[1] &&
                    (!is_batch || WeightShape(a)[0] == WeightShape(b)[0]);
           },
       .combine = is_batch ? Batched : Flat,
       .axis =
           [is_batch](const CallNode& call) {
             return is_batch ? std::nullopt : std::optional(RankOf(call.args[0]) - 1);
           }},
      min_num_branches);
}

}  // namespace tenon::passes
