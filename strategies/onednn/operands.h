// What every strategy of oneDNN asks of a fused function's operands.
#ifndef TENON_STRATEGIES_ONEDNN_OPERANDS_H_
#define TENON_STRATEGIES_ONEDNN_OPERANDS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ops/ints.h"
#include "tenon/strategies/onednn/adapter.h"
#include "tenon/strategies/onednn/epilogue.h"
#include "tenon/strategies/strategy.h"

namespace tenon::strategies::onednn {

// The implementation, refused also where oneDNN would use what the target lacks.
Implementation OnTarget(Implementation implementation);

// Refuses operands that are not parameters, and results without elements.
std::optional<std::string> RefuseShape(const ir::CallNode& anchor);
// Refuses these, and types other than float32.
std::optional<std::string> RefuseOperands(const ir::CallNode& anchor);

// Refuses steps that do not fit into the library's numbers of 32 bits.
std::optional<std::string> RefuseSteps(const ops::Ints& steps);
// Refuses images that are, with their padding, longer along an axis than such numbers count.
using Extents2D = std::array<std::int64_t, 2>;
std::optional<std::string> RefusePadded(const Extents2D& size, const Extents2D& before,
                                        const Extents2D& after);

// Why generated code is taken unless a library is asked for.
std::optional<std::string> RefuseUnlessAsked(const Group& group);

int ParameterIndex(const Group& group, const ir::Expr& var);
// The value of `var` if it is a constant, else undefined.
NDArray KnownValue(const Group& group, const ir::Expr& var);

// Parameters in the adapter's order: the input; weight and bias unless they are known; operands.
std::vector<int> Arguments(const Group& group, const ir::CallNode& anchor,
                           const Epilogue& epilogue);

// The kernel with its arguments, unless it is refused.
BuildResult WithArguments(MadeKernel made, std::vector<int> arguments);

}  // namespace tenon::strategies::onednn

#endif  // TENON_STRATEGIES_ONEDNN_OPERANDS_H_
