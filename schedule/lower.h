// Lowers a schedule to loops.
//
// `args` are the kernel's parameters in order: every placeholder that is read and every output must
// be among them. Symbolic extents of their shapes become the function's scalars. Errors
// (InvalidArgument, naming stage and axis): an argument that is missing or foreign, a loop that is
// vectorised or unrolled and has no constant extent, nested parallel loops, and a stage computed
// where its readers cannot see it.
//
//   loop::Function f = Lower(s, {A, B, C}, "vadd");
#ifndef TENON_SCHEDULE_LOWER_H_
#define TENON_SCHEDULE_LOWER_H_

#include <string>
#include <vector>

#include "tenon/loop/function.h"
#include "tenon/loop/pipeline_options.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// A rule by which the maker of the schedule has scheduled stages.
struct RuleUse {
  std::string rule, reason;
  std::vector<std::string> stages;
};

// The results are the same for all of these.
struct LowerOptions {
  loop::RowLoads row_loads = loop::RowLoads::kParts;  // faster on some CPUs than on others
  // Whether outputs larger than the caches are streamed (loop/transform/stream_results.h) even if
  // the schedule does not say so.
  bool stream_results = true;
  // The variables of its symbolic extents that are at least 1, whoever calls it. Others may be 0.
  std::vector<loop::Var> positive;
  std::vector<RuleUse> rules;  // shown before the calls of the schedule
  loop::PipelineOptions pipeline;
};

// What is known of a variable of extents, of which those in `positive` are at least 1.
loop::Interval RangeOfExtent(const loop::Var& extent, const std::vector<loop::Var>& positive);

// The body has the tensor expressions and the schedule's calls as its source (schedule/source.h).
loop::Function Lower(const Schedule& schedule, const std::vector<Tensor>& args,
                     const std::string& name, const LowerOptions& options = {});

// The function that Lower makes with these, without its body. Throws InvalidArgument for an
// argument that is given twice.
loop::Function SignatureOf(const std::vector<Tensor>& args, const std::string& name);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_LOWER_H_
