// FoldConstant: replaces operator calls over constants by their values.
//
// Requires checked types. Stateful operators, quantised operators (qnn.*) and calls inside
// primitive functions are not folded. Sums of halves are taken in float32, as in kernels
// (precision/widen_half_floats.h). shape_of and ndarray_size fold from static types; a
// projection of a literal tuple becomes the field. Calls beyond the budget of a module
// (ops/folding_budget.h) stay.
//
//   Module folded = FoldConstant(module, strategies::EvaluateCall);
#ifndef TENON_PASSES_SIMPLIFY_FOLD_CONSTANT_H_
#define TENON_PASSES_SIMPLIFY_FOLD_CONSTANT_H_

#include <functional>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/ops/folding_budget.h"
#include "tenon/support/ndarray.h"

namespace tenon::passes {

// Runs one typed operator call whose arguments are constants or tuples of them. Returns its results
// (several for a tuple), or nothing when the budget does not pay for them.
using ConstantEvaluator =
    std::function<std::vector<NDArray>(const ir::CallNode& call, ops::FoldingBudget* budget)>;

ir::Module FoldConstant(const ir::Module& module, const ConstantEvaluator& evaluate);
ir::Expr FoldConstant(const ir::Expr& expr, const ConstantEvaluator& evaluate);
// Folds one node, whose children are already folded.
ir::Expr FoldNode(const ir::Expr& typed, const ConstantEvaluator& evaluate,
                  ops::FoldingBudget* budget);

}  // namespace tenon::passes

#endif  // TENON_PASSES_SIMPLIFY_FOLD_CONSTANT_H_
