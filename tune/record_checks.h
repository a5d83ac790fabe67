// What no race can have measured.
#ifndef TENON_TUNE_RECORD_CHECKS_H_
#define TENON_TUNE_RECORD_CHECKS_H_

#include <string_view>

#include "tenon/tune/records.h"

namespace tenon::tune {

// Whether it is a day of the calendar, written as "2026-11-25": so days sort as texts do.
bool IsDay(std::string_view text);
// Likewise with the time of day, as records have it: "2026-11-25T19:43:01Z".
bool IsTime(std::string_view text);

// Throws InvalidArgument, naming the column, for a value that no race gives.
void CheckRecord(const Record& record);

}  // namespace tenon::tune

#endif  // TENON_TUNE_RECORD_CHECKS_H_
