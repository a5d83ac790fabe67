// Inputs for runs whose times matter and whose results do not.
#ifndef TENON_TUNE_INPUTS_H_
#define TENON_TUNE_INPUTS_H_

#include "tenon/runtime/executable.h"

namespace tenon::tune {

// Random, the same at every call. Throws Unimplemented for extents that are expressions.
runtime::Inputs InputsOf(const runtime::Executable& executable);

}  // namespace tenon::tune

#endif  // TENON_TUNE_INPUTS_H_
