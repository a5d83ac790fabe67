// What a tuner may choose differently in an automatic schedule: the space of kernels whose author
// wrote no schedule.
//
// A rule asks for a choice by the name of the stage and what is chosen, "product.rows". Without a
// config it gets its default. So schedules are what they were until a record says something else.
//
//   const std::int64_t unrolled = ChoiceOf(state, stage, "vectors", {1, 2, 4, 8}, 4);
#ifndef TENON_STRATEGIES_SCHEDULE_CHOICES_H_
#define TENON_STRATEGIES_SCHEDULE_CHOICES_H_

#include <cstdint>
#include <vector>

#include "tenon/strategies/schedule/rules.h"

namespace tenon::strategies {

// `usual` is one of the values. Throws InvalidArgument where the config gives another one.
std::int64_t ChoiceOf(SchedulingState& state, const schedule::Stage& stage, const char* what,
                      std::vector<std::int64_t> values, std::int64_t usual);
// The same for yes or no.
bool ChoiceOf(SchedulingState& state, const schedule::Stage& stage, const char* what, bool usual);

// Whether threads share a loop of the stage that has `work` scalar operations. It is a choice where
// that is in doubt.
bool IsShared(SchedulingState& state, const schedule::Stage& stage, std::int64_t work);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_SCHEDULE_CHOICES_H_
