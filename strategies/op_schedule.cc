#include "tenon/strategies/op_schedule.h"

#include <algorithm>
#include <utility>

#include "tenon/strategies/author/check_compute.h"

namespace tenon::strategies {

schedule::Schedule ScheduleByAuthor(const TeFunction& function,
                                    const LowerFunctionOptions& options) {
  schedule::Schedule schedule(function.outputs);
  const std::vector<const te::OperationNode*> own =
      OperationsBetween(function.formed_inputs, function.formed_results);
  for (const auto& stage : schedule.stages()) {
    const te::OperationNode& op = *stage->op();
    if (stage->is_output() || !op.is_compute() || op.is_reduction() ||
        std::ranges::find(own, &op) != own.end())
      continue;
    stage->ComputeInline();
  }
  Config defaults;
  options.form->schedule({.schedule = schedule,
                          .attrs = options.formed->attrs,
                          .inputs = function.formed_inputs,
                          .results = function.formed_results,
                          .outputs = function.outputs,
                          .target = options.target,
                          .config = options.config == nullptr ? defaults : *options.config});
  return schedule;
}

}  // namespace tenon::strategies
