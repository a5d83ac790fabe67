// Where stages are placed: the loops that they are computed at, the loops that they share, and the
// order of those at the root. Only files inside schedule/ include this header.
#ifndef TENON_SCHEDULE_PLACES_H_
#define TENON_SCHEDULE_PLACES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

[[noreturn]] void RefuseAt(const char* primitive, const Stage& producer, const Stage& stage,
                           const IterVar& axis, const std::string& reason);
// Requires loops whose iterations run one after the other, since one leaves something for the next.
void RequireSerial(const char* primitive, const Stage& producer, const Stage& stage,
                   const IterVar& axis);

// How many of its first loops the stage shares with the one that it is computed with.
std::size_t SharedLoops(const Stage& stage);

// Whether a producer at kAt is placed in that loop: one of `stage`, or of a stage that shares it.
bool IsPlacedAt(const Stage& producer, const Stage& stage, const IterVar& axis);
// Likewise, whether its memory is there.
bool IsStoredAt(const Stage& producer, const Stage& stage, const IterVar& axis);

// The stages, producers first. Those that share loops come one after the other, starting with the
// one that has the loops. Throws InvalidArgument if there is no such order.
std::vector<const Stage*> OrderOfStages(const Schedule& schedule);

// Throws InvalidArgument for loops that the stage cannot share with another, and for storage with a
// parallel or vectorised loop between it and the computation.
void CheckPlace(const Stage& stage);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_PLACES_H_
