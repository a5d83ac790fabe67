// Results that no machine has the memory for, although all inputs are small: extents come from
// inputs without elements, or from a count. The compiler or the run must refuse them.
#ifndef TENON_VERIFY_CHECK_CHECK_SIZES_H_
#define TENON_VERIFY_CHECK_CHECK_SIZES_H_

#include <optional>
#include <string>

#include "tenon/verify/check/check_refusals.h"

namespace tenon::verify {

// One module, of extents that are numbers or variables. A finding prints it.
std::optional<std::string> CheckSize(Random& random, const BeforeCall& before = nullptr);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_CHECK_SIZES_H_
