// What lowering checks of a whole function: its arguments, and its loops once they are made. Only
// files inside schedule/ include this header.
#ifndef TENON_SCHEDULE_LOWERED_CHECKS_H_
#define TENON_SCHEDULE_LOWERED_CHECKS_H_

#include <string>
#include <vector>

#include "tenon/loop/stmt.h"
#include "tenon/schedule/scan.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// Throws InvalidArgument for a placeholder or an output that is not among `args`, and for an
// argument that is an intermediate stage. `function` is named in the message.
void CheckArguments(const Schedule& schedule, const std::vector<Tensor>& args,
                    const ScanSteps& steps, const std::string& function);

// Throws InvalidArgument for an output that should be computed at a loop and still is a parameter:
// a loop that an intrinsic stands for computes nothing.
void CheckOutputs(const Schedule& schedule, const std::vector<loop::Buffer>& parameters);

// Throws InvalidArgument for a parallel loop inside another one.
void CheckParallel(const loop::Stmt& body);

// Throws InvalidArgument for a read of a buffer that is neither a parameter nor allocated, so for a
// stage that some reader outside its place needs.
void CheckPlacements(const loop::Stmt& body, const std::vector<loop::Buffer>& parameters);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_LOWERED_CHECKS_H_
