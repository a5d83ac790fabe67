// Random inputs, for runs whose results do not matter.
#ifndef TENON_TOOLS_RANDOM_INPUTS_H_
#define TENON_TOOLS_RANDOM_INPUTS_H_

#include <cstdint>

#include "tenon/runtime/executable.h"

namespace tenon::tools {

// Values of all variables in the extents of the inputs: those given, and 16 for others. Throws
// InvalidArgument for values of variables that there are not.
Dim::Values AllExtents(const runtime::Executable& exe, const Dim::Values& given);

// Floats from -1 to 1; any 8-bit integers; 0 or 1 for wider integers and bool. Variables in their
// extents have the values of AllExtents, which says what is thrown. Throws what the model refuses
// of extents that nobody gave.
runtime::Inputs RandomInputs(const runtime::Executable& exe, std::uint64_t seed,
                             const Dim::Values& extents = {});

}  // namespace tenon::tools

#endif  // TENON_TOOLS_RANDOM_INPUTS_H_
