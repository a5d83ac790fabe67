// How far two forms of a model are from each other over given inputs.
//
//   std::vector<double> loss = LossOf(bytes, floats, samples);
#ifndef TENON_QUANTIZE_LOSS_H_
#define TENON_QUANTIZE_LOSS_H_

#include <vector>

#include "tenon/quantize/samples.h"

namespace tenon::quantize {

// For each result: of floating point, the Euclidean norm of the difference over that of `standard`,
// over all samples; of other types, the part of elements that differ. Elements that are infinite or
// no numbers in both count nothing. Infinite where a difference is no number. Throws what Run
// returns.
std::vector<double> LossOf(const runtime::Executable& candidate,
                           const runtime::Executable& standard, const SampleSource& samples);

}  // namespace tenon::quantize

#endif  // TENON_QUANTIZE_LOSS_H_
