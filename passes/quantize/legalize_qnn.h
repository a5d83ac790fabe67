// LegalizeQnn: the first round of lowering quantised operators, by the target.
//
// An operator may have a column that replaces its calls where the target has something better than
// the rules of CanonicalizeQnn, which is the second round and takes what is left. A plug-in fills
// the column; the built-in operators leave it empty. Requires checked types and leaves them.
//
//   registry.Definition("qnn.dense").SetColumn(QnnLegalization{
//       [](const ir::CallNode& call, const std::vector<ir::Expr>& args, const Target& target) {
//         return target.Has("avx512vnni") ? MyDense(call, args) : ir::Expr();
//       }});
#ifndef TENON_PASSES_QUANTIZE_LEGALIZE_QNN_H_
#define TENON_PASSES_QUANTIZE_LEGALIZE_QNN_H_

#include <functional>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/target.h"

namespace tenon::passes {

// The column. `call` has types, and `args` stand for its arguments. The result has the call's type
// and may hold other quantised operators; null leaves the call to the second round.
struct QnnLegalization {
  std::function<ir::Expr(const ir::CallNode& call, const std::vector<ir::Expr>& args,
                         const Target& target)>
      legalize;
};

// Throws what InferType throws for results of other types, with a note that names the operators.
ir::Module LegalizeQnn(const ir::Module& module, const Target& target);

}  // namespace tenon::passes

#endif  // TENON_PASSES_QUANTIZE_LEGALIZE_QNN_H_
