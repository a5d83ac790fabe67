// Makes a kernel from tensor expressions.
#ifndef TENON_STRATEGIES_LOWER_OUTPUTS_H_
#define TENON_STRATEGIES_LOWER_OUTPUTS_H_

#include <functional>
#include <string>
#include <vector>

#include "tenon/jit/host_target.h"
#include "tenon/loop/function.h"
#include "tenon/loop/pipeline_options.h"
#include "tenon/schedule/schedule.h"
#include "tenon/strategies/config.h"
#include "tenon/te/tensor.h"

namespace tenon::strategies {

// The parameters whose elements or extents `outputs` are computed from, and their positions.
std::vector<te::Tensor> ParamsReadBy(const std::vector<te::Tensor>& outputs,
                                     const std::vector<te::Tensor>& params,
                                     std::vector<int>* positions);

struct LoweringOptions {
  Target target = jit::HostTarget();
  // Whether bodies are lowered only when they are asked for, where the content of the expressions
  // tells kernels apart.
  bool defer = false;
  bool reassociate_sums = true;  // as in AutoScheduleOptions
  // As in AutoScheduleOptions. With values in the config, a body is lowered at once.
  bool blocks_sums = false;
  Config* config = nullptr;
  // Takes plain forms under GenericSchedule.
  bool generic = false;
  loop::PipelineOptions pipeline;
};

// Makes a schedule that takes the place of the automatic one.
using ScheduleMaker = std::function<schedule::Schedule(const std::vector<te::Tensor>& outputs)>;

// The kernel whose buffers are `args` and then `outputs`. Without a maker the schedule is
// automatic.
loop::Function LowerOutputs(std::vector<te::Tensor> args, const std::vector<te::Tensor>& outputs,
                            const std::string& name, const LoweringOptions& options,
                            const ScheduleMaker& maker = nullptr);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_LOWER_OUTPUTS_H_
