// Operators that give as many rows as values say: argwhere of values of a random module, and
// sparse_fill_empty_rows of random entries, compiled with what comes after them. The oracles are
// loops over the elements.
//
//   if (auto words = CheckRunTimeRows(MakeRandomModule(7), 7)) std::puts(words->c_str());
#ifndef TENON_VERIFY_CHECK_CHECK_RUN_TIME_ROWS_H_
#define TENON_VERIFY_CHECK_CHECK_RUN_TIME_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tenon/verify/draw/random_module.h"

namespace tenon::verify {

// What is wrong, with the module; nothing where all is well, or where no value has an axis.
std::optional<std::string> CheckRunTimeRows(const RandomModule& given, std::uint64_t seed);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_CHECK_RUN_TIME_ROWS_H_
