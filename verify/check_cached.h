// Kernels that differ in one constant, of any element type: what one leaves in the cache is not
// taken for the other.
#ifndef TENON_VERIFY_CHECK_CACHED_H_
#define TENON_VERIFY_CHECK_CACHED_H_

#include <optional>
#include <string>

#include "tenon/verify/array_values.h"

namespace tenon::verify {

// One small module and another like it, compiled from one cache. A finding prints both.
std::optional<std::string> CheckCached(Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_CACHED_H_
