// Whether a compute gives what its operator's type relation and pattern promise.
//
//   RequireResults("my.swish", call, tensors);
#ifndef TENON_STRATEGIES_AUTHOR_CHECK_COMPUTE_H_
#define TENON_STRATEGIES_AUTHOR_CHECK_COMPUTE_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/ops/op.h"
#include "tenon/strategies/te_compute.h"

namespace tenon::strategies {

// Throws InvalidArgument unless there is one defined tensor for each result, of its shape and
// element type.
void RequireResults(const std::string& op, const TeCall& call,
                    const std::vector<te::Tensor>& results);

// The operations that make `results` of `inputs`, without those that make the inputs.
std::vector<const te::OperationNode*> OperationsBetween(const std::vector<te::Tensor>& inputs,
                                                        const std::vector<te::Tensor>& results);

// Throws InvalidArgument for placeholders that are read and are neither inputs of the call nor what
// TeCall::Prepared has given.
void RequireInputsAlone(const std::string& op, const TeCall& call,
                        const std::vector<te::Tensor>& results);

// What contradicts `pattern` on the way from `inputs` to `results`, in words, or nothing. Patterns
// that fusion takes no advantage of are never contradicted.
std::optional<std::string> ContradictionOf(ops::OpPattern pattern,
                                           const std::vector<te::Tensor>& inputs,
                                           const std::vector<te::Tensor>& results);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_AUTHOR_CHECK_COMPUTE_H_
