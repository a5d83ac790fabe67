// Tensor expressions with integer constants near the ends of types: one that the other side's type
// does not hold is refused, and others count as what they are. Tensors and kernels read the same
// expression, so only wider numbers can show where a constant is another one.
#ifndef TENON_VERIFY_CHECK_CHECK_CONSTANTS_H_
#define TENON_VERIFY_CHECK_CHECK_CONSTANTS_H_

#include <optional>
#include <string>

#include "tenon/verify/array_values.h"

namespace tenon::verify {

// One operator between elements of a tensor and a constant, on either side. A finding names it.
std::optional<std::string> CheckConstant(Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_CHECK_CONSTANTS_H_
