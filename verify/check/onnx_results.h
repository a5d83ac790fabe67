// Whether results of an ONNX model that was compiled are those of the interpreter, up to what
// rounding explains.
//
//   const ResultComparison comparison(module, inputs, seed, /*has_infinities=*/false);
//   std::optional<std::string> words = comparison.Differing(actual, expected, &statistics);
#ifndef TENON_VERIFY_CHECK_ONNX_RESULTS_H_
#define TENON_VERIFY_CHECK_ONNX_RESULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/ndarray.h"
#include "tenon/verify/check/result_difference.h"
#include "tenon/verify/draw/module_measures.h"
#include "tenon/verify/fuzz_onnx.h"

namespace tenon::verify {

class ResultComparison {
 public:
  // `module` has numbers for extents, and checked types. It and `inputs` must outlive this.
  // `has_infinities`: an input holds infinities or NaN.
  ResultComparison(const ir::Module& module, const std::vector<NDArray>& inputs, std::uint64_t seed,
                   bool has_infinities);

  // Counts results that are equal, or ill-conditioned. The difference as text where they are
  // neither.
  std::optional<std::string> Differing(const std::vector<NDArray>& actual,
                                       const std::vector<NDArray>& expected,
                                       OnnxFuzzStatistics* statistics) const;

 private:
  Tolerance Within(double relative) const {
    return {.relative = relative, .rounds_to_integers = measures_.rounds_to_integers};
  }
  bool IsStable(const std::vector<NDArray>& expected) const;

  const ir::Module& module_;
  const std::vector<NDArray>& inputs_;
  const std::uint64_t seed_;
  const ModuleMeasures measures_;
  const bool has_infinities_;
  const double relative_;  // what results may differ by, relative to their largest element
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_ONNX_RESULTS_H_
