// A schedule that an operator's author writes, with the stages of the operator at hand.
//
//   .Schedule([](const OpSchedule& s) {
//     const te::Tensor& out = s.results[0];
//     const std::int64_t width = s.config.Split("width", out.axis(1), {.default_value = 16});
//     auto [outer, inner] = s.schedule[out].Split(out.axis(1), width);
//     s.schedule[out].Parallel(out.axis(0)).Vectorize(inner);
//   })
#ifndef TENON_STRATEGIES_OP_SCHEDULE_H_
#define TENON_STRATEGIES_OP_SCHEDULE_H_

#include <vector>

#include "tenon/schedule/schedule.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/target.h"

namespace tenon::strategies {

// What is scheduled: a kernel that holds a call of the operator, maybe with elementwise operators
// after it.
struct OpSchedule {
  // Elementwise stages of other operators are inlined, unless they are results of the kernel. The
  // operator's own stages are as they are made.
  schedule::Schedule& schedule;
  const attrs::Attrs& attrs;               // of the call
  const std::vector<te::Tensor>& inputs;   // of the call
  const std::vector<te::Tensor>& results;  // of the call
  const std::vector<te::Tensor>& outputs;  // of the kernel: `results`, or what is made of them
  const Target& target;
  Config& config;  // the choices that the schedule has (config.h)
};

// The schedule of `function`, as written by the author of the form that its call takes. Throws what
// the author's function throws.
schedule::Schedule ScheduleByAuthor(const TeFunction& function,
                                    const LowerFunctionOptions& options);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_OP_SCHEDULE_H_
