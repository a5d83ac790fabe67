// From tensor expressions to a kernel, under the automatic schedule.
#ifndef TENON_STRATEGIES_LOWER_OUTPUTS_H_
#define TENON_STRATEGIES_LOWER_OUTPUTS_H_

#include <string>
#include <vector>

#include "tenon/loop/function.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies {

// The parameters that `outputs` are computed from, and their positions.
std::vector<te::Tensor> ParamsReadBy(const std::vector<te::Tensor>& outputs,
                                     const std::vector<te::Tensor>& params,
                                     std::vector<int>* positions);

// The kernel of `args` and then `outputs`. `defer`: its body is lowered when it is asked for, where
// the content of the expressions tells kernels apart.
loop::Function LowerOutputs(std::vector<te::Tensor> args, const std::vector<te::Tensor>& outputs,
                            const std::string& name, bool defer);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_LOWER_OUTPUTS_H_
