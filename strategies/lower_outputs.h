// From tensor expressions to a kernel, under the automatic schedule.
#ifndef TENON_STRATEGIES_LOWER_OUTPUTS_H_
#define TENON_STRATEGIES_LOWER_OUTPUTS_H_

#include <string>
#include <vector>

#include "tenon/jit/host_target.h"
#include "tenon/loop/function.h"
#include "tenon/loop/pipeline_options.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies {

// The parameters that `outputs` are computed from, and their positions.
std::vector<te::Tensor> ParamsReadBy(const std::vector<te::Tensor>& outputs,
                                     const std::vector<te::Tensor>& params,
                                     std::vector<int>* positions);

struct LoweringOptions {
  Target target = jit::HostTarget();
  // Bodies are lowered when they are asked for, where the content of the expressions tells kernels
  // apart.
  bool defer = false;
  bool reassociate_sums = true;  // as in AutoScheduleOptions
  // Plain forms under GenericSchedule.
  bool generic = false;
  loop::PipelineOptions pipeline;
};

// The kernel of `args` and then `outputs`.
loop::Function LowerOutputs(std::vector<te::Tensor> args, const std::vector<te::Tensor>& outputs,
                            const std::string& name, const LoweringOptions& options);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_LOWER_OUTPUTS_H_
