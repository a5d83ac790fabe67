// Inputs for runs whose times matter and whose results do not.
#ifndef TENON_TUNE_INPUTS_H_
#define TENON_TUNE_INPUTS_H_

#include <string>
#include <vector>

#include "tenon/runtime/executable.h"

namespace tenon::tune {

// Values of the variables in the extents of a model's inputs, each of which is measured. A model of
// numbers has one, without variables.
using Shapes = std::vector<Dim::Values>;

// For each of the shapes; random, the same at every call. Throws InvalidArgument for a variable
// that has no value, and for an extent below 0.
std::vector<runtime::Inputs> InputsOf(const runtime::Executable& executable, const Shapes& shapes);
// "d0=1..128, d1=7": the least and the greatest value of each variable.
std::string RangesText(const Shapes& shapes);

}  // namespace tenon::tune

#endif  // TENON_TUNE_INPUTS_H_
