// Fuzzing of one operator: compares random calls of it with the interpreter, under random schedules
// and with the kernels that Compile makes, including an author's own implementation.
//
//   FuzzStatistics statistics;
//   if (auto finding = FuzzOperator("my.swish", 7, &statistics)) std::puts(finding->c_str());
#ifndef TENON_VERIFY_FUZZ_OPERATOR_H_
#define TENON_VERIFY_FUZZ_OPERATOR_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tenon/verify/check/check_refusals.h"
#include "tenon/verify/fuzz_schedule.h"

namespace tenon::verify {

// The finding of the case, in the form of FuzzSchedule's, or nothing. Thread-safe. `before` is
// given calls with a change before they are compiled, and an empty text after them.
std::optional<std::string> FuzzOperator(const std::string& op, std::uint64_t seed,
                                        FuzzStatistics* statistics,
                                        const BeforeCall& before = nullptr);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_FUZZ_OPERATOR_H_
