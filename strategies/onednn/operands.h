// What every strategy of oneDNN asks of a fused function's operands.
#ifndef TENON_STRATEGIES_ONEDNN_OPERANDS_H_
#define TENON_STRATEGIES_ONEDNN_OPERANDS_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/strategies/onednn/epilogue.h"
#include "tenon/strategies/strategy.h"

namespace tenon::strategies::onednn {

// An implementation that is refused where oneDNN would use what the target lacks, and else where
// `refusal` says so.
Implementation OnTarget(Implementation implementation);

// Operands that are no parameters, and results without elements.
std::optional<std::string> RefuseShape(const ir::CallNode& anchor);
// These, and other types than float32.
std::optional<std::string> RefuseOperands(const ir::CallNode& anchor);

// Why generated code is taken where a library is not asked for.
std::optional<std::string> RefuseUnlessAsked(const Group& group);

int ParameterIndex(const Group& group, const ir::Expr& var);
// Undefined when it is computed.
NDArray KnownValue(const Group& group, const ir::Expr& var);

// Parameters in the adapter's order: the input; weight and bias unless they are known; operands.
std::vector<int> Arguments(const Group& group, const ir::CallNode& anchor,
                           const Epilogue& epilogue);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_OPERANDS_H_
