// Lowers a fused function to tensor expressions.
#ifndef TENON_STRATEGIES_LOWER_FUNCTION_H_
#define TENON_STRATEGIES_LOWER_FUNCTION_H_

#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/jit/host_target.h"
#include "tenon/ops/folding_budget.h"
#include "tenon/strategies/choice/candidate.h"
#include "tenon/strategies/lower/prepare.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/ndarray.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies {

struct TeFunction {
  std::vector<te::Tensor> params;   // placeholders; tuples flattened
  std::vector<te::Tensor> outputs;  // fields of a tuple result in order
  std::vector<PreparedTensor> prepared;
  // The inputs and results of the call that takes a form.
  std::vector<te::Tensor> formed_inputs;
  std::vector<te::Tensor> formed_results;
};

struct LowerFunctionOptions {
  Target target = jit::HostTarget();
  std::vector<bool> is_constant;  // by parameter, tuples flattened; empty: nothing is prepared
  // The form that a call takes; others take the best one that rounds as the plain sum does.
  const ir::CallNode* formed = nullptr;
  const TeForm* form = nullptr;
  // Which choices that form makes; null: the defaults.
  Config* config = nullptr;
  // Whether every call takes the last form of its table, which suits all.
  bool plain_forms = false;
  // As in TeCall.
  bool keeps_order = false;
  // A call that is not computed, and its value.
  const ir::CallNode* given = nullptr;
  te::Tensor given_value;
};

// Requires checked, static types. Throws Unimplemented for an operator without a compute, naming
// it.
TeFunction LowerFunction(const ir::FunctionNode& function,
                         const LowerFunctionOptions& options = {});

// The forms of a call inside the function, weighed for what it reads there. There are none for an
// operator that has only one way. Throws what LowerFunction throws.
std::vector<Candidate> WeighFormsOf(const ir::CallNode& call, const ir::FunctionNode& function,
                                    const LowerFunctionOptions& options = {});

// The results of one operator call whose arguments are constants (or tuples of them), computed by
// the interpreter. This is the evaluator that passes::FoldConstant takes. Nothing where a budget is
// given and does not pay for them.
std::vector<NDArray> EvaluateCall(const ir::CallNode& call, ops::FoldingBudget* budget = nullptr);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_LOWER_FUNCTION_H_
