// Quantize: a module of float32 as one that computes its products on bytes.
//
// The ranges of values come from samples, which are inputs like those that the model will get.
// Batch normalisation is folded into weights first. The result has qnn.quantize and qnn.dequantize
// where values become bytes; Compile makes integer kernels of it, PrintModule and ExportOnnx write
// it (as a QDQ model). What it loses is measured over the samples. If a bound is given, products
// stay in floating point, those that round worst first, until the loss is within it.
//
//   Quantized q = Quantize(module, samples, {.max_loss = 0.05}).value();
//   Executable exe = Compile(q.module).value();
//   std::cout << ToText(q.report);
#ifndef TENON_QUANTIZE_QUANTIZE_H_
#define TENON_QUANTIZE_QUANTIZE_H_

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/compiler/compile.h"
#include "tenon/quantize/byte_range.h"
#include "tenon/quantize/report.h"
#include "tenon/quantize/samples.h"

namespace tenon::quantize {

struct QuantizeOptions {
  RangeOptions range;
  // Products that stay in floating point, by their names in the report, with or without the
  // operator in parentheses.
  std::vector<std::string> keep_float;
  // Whether depthwise convolutions are computed on bytes, too. They are slower then.
  bool depthwise = false;
  // Of each result; nothing: any.
  std::optional<double> max_loss;
  CompileOptions compile;  // for the runs over the samples
  // Is told what is done next, in words.
  std::function<void(const std::string& step)> progress = nullptr;
};

struct Quantized {
  ir::Module module;  // typed
  QuantizeReport report;
};

// Errors: InvalidArgument if there is no sample, for a sample that the module does not take, for
// values that are not finite, options out of range, and where the module has no product of float32;
// NotFound for a name in keep_float that no product has; Unimplemented for extents that are
// variables; those of Compile.
absl::StatusOr<Quantized> Quantize(const ir::Module& module, const SampleSource& samples,
                                   const QuantizeOptions& options = {});

}  // namespace tenon::quantize

#endif  // TENON_QUANTIZE_QUANTIZE_H_
