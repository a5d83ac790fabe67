#include "tenon/passes/combine/combine_parallel_batch_matmul.h"

#include "tenon/ops/builders.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/combine/combine_branches.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

bool IsSupported(const CallNode& call) {
  const auto& attrs = call.attrs.As<ops::BatchMatmulAttrs>();
  return !attrs.transpose_a && attrs.transpose_b && IsStaticWeight(call) &&
         WeightShape(call).size() == 3;
}

bool AreAlike(const CallNode& a, const CallNode& b) {
  return a.attrs == b.attrs && HaveOneWeightType(a, b) && WeightShape(a)[0] == WeightShape(b)[0] &&
         WeightShape(a)[2] == WeightShape(b)[2];
}

Expr Combined(const std::vector<const CallNode*>& branches, const Expr& data) {
  std::vector<Expr> operands;
  for (const CallNode* branch : branches) operands.push_back(branch->args[1]);
  return ir::Call::Make(branches[0]->callee, {data, ops::Concatenate(std::move(operands), 1)},
                        branches[0]->attrs);
}

}  // namespace

ir::Module CombineParallelBatchMatmul(const ir::Module& module, int min_num_branches) {
  return CombineBranches(module,
                         {.op = ops::Known().batch_matmul,
                          .is_supported = IsSupported,
                          .are_alike = AreAlike,
                          .combine = Combined,
                          .axis = [](const CallNode&) { return std::optional<std::size_t>(2); }},
                         min_num_branches);
}

}  // namespace tenon::passes
