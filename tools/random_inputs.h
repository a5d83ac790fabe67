// Inputs for runs whose results nobody looks at.
#ifndef TENON_TOOLS_RANDOM_INPUTS_H_
#define TENON_TOOLS_RANDOM_INPUTS_H_

#include <cstdint>

#include "tenon/runtime/executable.h"

namespace tenon::tools {

// Floats from -1 to 1, 8-bit integers any, wider ones and bool 0 or 1.
runtime::Inputs RandomInputs(const runtime::Executable& exe, std::uint64_t seed);

}  // namespace tenon::tools

#endif  // TENON_TOOLS_RANDOM_INPUTS_H_
