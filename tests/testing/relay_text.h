// Modules from Relay text, and the words of errors, for tests.
#ifndef TENON_TESTS_TESTING_RELAY_TEXT_H_
#define TENON_TESTS_TESTING_RELAY_TEXT_H_

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "tenon/ir/text_format.h"
#include "tenon/ops/registry.h"
#include "tenon/support/error.h"

namespace tenon {

inline absl::StatusOr<ir::Module> TryParse(std::string_view text) {
  return ir::ParseModule(text, ops::OpRegistry::Global().Resolver(), "test.relay");
}

inline ir::Module Parse(std::string_view text) { return ValueOrThrow(TryParse(text)); }

// The text without the bytes of constants.
inline std::string Print(const ir::Module& module) {
  return ir::PrintModule(module, {.metadata = false});
}

// A parameter of a test: a rule and its example.
struct NamedText {
  const char* name;
  const char* text;
  friend void PrintTo(const NamedText& t, std::ostream* out) { *out << t.name; }
};

// The error that `body` throws; one with an empty message when it throws none.
template <typename Body>
Error ErrorOf(Body&& body) {
  try {
    std::forward<Body>(body)();
  } catch (const Error& error) {
    return error;
  }
  return Error(absl::StatusCode::kOk, "");
}

}  // namespace tenon

#endif  // TENON_TESTS_TESTING_RELAY_TEXT_H_
