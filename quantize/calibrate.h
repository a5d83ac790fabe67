// Calibrate: what the values of a plan are over given inputs.
//
//   std::vector<Histogram> seen = Calibrate(module, plan.values, samples, options);
#ifndef TENON_QUANTIZE_CALIBRATE_H_
#define TENON_QUANTIZE_CALIBRATE_H_

#include <vector>

#include "tenon/compiler/compile.h"
#include "tenon/quantize/histogram.h"
#include "tenon/quantize/samples.h"

namespace tenon::quantize {

// One histogram for each value of @main, all of float32. The module is run with these values as its
// results; the memory is that of one run. Throws InvalidArgument if there is no sample, and for a
// value that is infinite or NaN, naming value and sample; and what Compile and Run return.
std::vector<Histogram> Calibrate(const ir::Module& module, const std::vector<ir::Expr>& values,
                                 const SampleSource& samples, const CompileOptions& options);

}  // namespace tenon::quantize

#endif  // TENON_QUANTIZE_CALIBRATE_H_
