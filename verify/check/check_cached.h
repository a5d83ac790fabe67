// Kernels from a cache. One that differs from another in a constant, of any element type, is not
// taken for it; one whose results are read inside it gives the same bits from an empty cache, a
// warm one and none.
#ifndef TENON_VERIFY_CHECK_CHECK_CACHED_H_
#define TENON_VERIFY_CHECK_CHECK_CACHED_H_

#include <optional>
#include <string>

#include "tenon/verify/array_values.h"

namespace tenon::verify {

// One small module and another like it, compiled from one cache. A finding prints both.
std::optional<std::string> CheckCached(Random& random);

// Rows beside their own reductions, with the inner ones as results. Small and of a size at which
// rows are computed in parts.
std::optional<std::string> CheckCachedRows(Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_CHECK_CACHED_H_
