// Checks of option values. Their messages say briefly what is allowed.
#ifndef TENON_TOOLS_OPTION_CHECKS_H_
#define TENON_TOOLS_OPTION_CHECKS_H_

#include <cstdint>
#include <limits>

#include "CLI/CLI.hpp"

namespace tenon::tools {

// An integer from `low` to `high`; without `high`, any integer from `low` on.
CLI::Validator WholeNumber(std::uint64_t low,
                           std::uint64_t high = std::numeric_limits<std::uint64_t>::max());

// A number from `low` to `high`, or from `low` on.
CLI::Validator RealNumber(double low, double high = std::numeric_limits<double>::infinity());

// A day of the calendar, as 2026-11-25.
CLI::Validator Day();

}  // namespace tenon::tools

#endif  // TENON_TOOLS_OPTION_CHECKS_H_
