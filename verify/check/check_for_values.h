// Compiles a module with variables for some extents of its inputs, once, and runs it for several
// values of them. The results must be those of the interpreter for the module of these shapes.
//
//   std::string how;
//   std::optional<std::string> words = CheckForValues(MakeRandomModule(7), 7, &statistics, &how);
#ifndef TENON_VERIFY_CHECK_CHECK_FOR_VALUES_H_
#define TENON_VERIFY_CHECK_CHECK_FOR_VALUES_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tenon/verify/draw/random_module.h"
#include "tenon/verify/fuzz_passes.h"

namespace tenon::verify {

// What is wrong, with the module; nothing where all is well, or where no extent becomes a variable.
// `*how` becomes the way of the compile, as text in brackets.
std::optional<std::string> CheckForValues(const RandomModule& given, std::uint64_t seed,
                                          PassFuzzStatistics* statistics, std::string* how);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_CHECK_FOR_VALUES_H_
