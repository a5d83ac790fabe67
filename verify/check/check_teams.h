// Kernels of a library, which are made for one number of threads, run on others: as the session
// asks, in a team of one, and inside a parallel region. All must give what one thread does.
#ifndef TENON_VERIFY_CHECK_CHECK_TEAMS_H_
#define TENON_VERIFY_CHECK_CHECK_TEAMS_H_

#include <optional>
#include <string>

#include "tenon/verify/array_values.h"

namespace tenon::verify {

// One product or convolution that is large enough to be shared out. A finding prints it.
std::optional<std::string> CheckTeams(Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_CHECK_TEAMS_H_
