// Calls that mostly do not fit: what type inference refuses, the compiler refuses, too, at every
// level, and what is too large for any memory is refused before it is written.
#ifndef TENON_VERIFY_CHECK_CHECK_REFUSALS_H_
#define TENON_VERIFY_CHECK_CHECK_REFUSALS_H_

#include <functional>
#include <optional>
#include <string>

#include "tenon/ir/module.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// Is given a call before it is compiled, for the report of a crash.
using BeforeCall = std::function<void(const std::string& text)>;

// The call of @main, whose types nothing has checked. Nothing for one that fits. A finding prints
// the module.
std::optional<std::string> CheckRefusalOf(const ir::Module& module, Random& random,
                                          const BeforeCall& before = nullptr);
// One call of the operator, with random arguments and attributes. A finding names the call.
std::optional<std::string> CheckRefusal(const std::string& op, Random& random,
                                        const BeforeCall& before = nullptr);
// Calls of `count` operators, whichever is registered.
std::optional<std::string> CheckRefusals(int count, Random& random,
                                         const BeforeCall& before = nullptr);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_CHECK_REFUSALS_H_
