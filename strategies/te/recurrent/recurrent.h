// What computes and schedules of recurrent layers agree on.
#ifndef TENON_STRATEGIES_TE_RECURRENT_RECURRENT_H_
#define TENON_STRATEGIES_TE_RECURRENT_RECURRENT_H_

#include <cstdint>

#include "tenon/strategies/op_schedule.h"
#include "tenon/support/data_type.h"
#include "tenon/support/target.h"

namespace tenon::strategies {

// How many columns of the product are summed up together in registers, and how many blocks of them
// hold all columns.
struct ColumnBlocks {
  std::int64_t lanes = 0, vectors = 0, count = 0;
  std::int64_t width() const { return lanes * vectors; }
  std::int64_t columns() const { return width() * count; }
};
// The vectors of a block are chosen so that few columns are added to fill the last one.
ColumnBlocks BlocksOf(std::int64_t columns, DataType type, const Target& target);

// Schedules one loop over the steps. In each step, sums stay in registers and cells are computed in
// vectors.
void ScheduleRecurrence(const OpSchedule& s);

}  // namespace tenon::strategies

#endif  // TENON_STRATEGIES_TE_RECURRENT_RECURRENT_H_
