// Whether a module's text is the module again.
#ifndef TENON_VERIFY_CHECK_PRINTED_MODULE_H_
#define TENON_VERIFY_CHECK_PRINTED_MODULE_H_

#include <optional>
#include <string>

#include "tenon/ir/module.h"

namespace tenon::verify {

// Prints the module, whose types must be checked, and reads the text. Returns in words what is
// wrong with it, or nothing. Thread-safe.
//
//   if (auto words = WrongText(module)) std::puts(words->c_str());
std::optional<std::string> WrongText(const ir::Module& module);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_PRINTED_MODULE_H_
