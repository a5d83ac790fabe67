// What must hold of a front end whatever its input: the rule that every fuzzer of one checks.
//
//   Report(FaultOf(ir::ParseModule(text, ops)));
#ifndef TENON_TESTS_FUZZ_FRONT_END_H_
#define TENON_TESTS_FUZZ_FRONT_END_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tenon/ir/module.h"

namespace tenon::fuzz {

// A module that is accepted must be well formed, get types or be refused them by a user error, and
// be the same after it is printed and parsed; a refusal must be a user error.
std::optional<std::string> FaultOf(const absl::StatusOr<ir::Module>& module);

// Prints the fault, if there is one, and aborts: how libFuzzer learns of it.
void Report(const std::optional<std::string>& fault);
// Reports the fault of a module.
void CheckFrontEnd(const absl::StatusOr<ir::Module>& module);

}  // namespace tenon::fuzz

#endif  // TENON_TESTS_FUZZ_FRONT_END_H_
