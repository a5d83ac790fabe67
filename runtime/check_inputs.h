// What a run is given, against what it takes. Only files of runtime/ include this header.
#ifndef TENON_RUNTIME_CHECK_INPUTS_H_
#define TENON_RUNTIME_CHECK_INPUTS_H_

#include <string>
#include <vector>

#include "tenon/runtime/executable.h"

namespace tenon::runtime {

// "float32 (n, 3)".
std::string Describe(const InputInfo& input);

// Throws InvalidArgument for an array that is not one of the inputs.
void RefuseUnknown(const std::vector<InputInfo>& wanted, const Inputs& inputs);

// The arrays in the order of `wanted`. Throws InvalidArgument for an input that is missing,
// unknown, or of another shape or element type; it says what is expected. Extents that are no
// numbers are not compared.
std::vector<const NDArray*> InOrder(const std::vector<InputInfo>& wanted, const Inputs& inputs);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_CHECK_INPUTS_H_
