// Verifies what the compiler makes of a module: on given inputs, the compiled model must agree with
// the model compiled without fusion and with the interpreter (verify/interpret.h).
//
//   ModelVerification v = VerifyModel(module, {{"x", x}}, options).value();
//   std::puts(v.ToString().c_str());
#ifndef TENON_VERIFY_VERIFY_MODEL_H_
#define TENON_VERIFY_VERIFY_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "tenon/compiler/compile.h"

namespace tenon {

// The largest differences of a result's elements, relative to the result's largest element.
struct ModelVerification {
  double unfused = 0;      // between the model and the model without fusion
  double interpreted = 0;  // between the model and the interpreter
  std::string ToString() const;
};

// `tolerance` is the maximum difference; integers must be equal. Errors: those of Compile and of a
// run; DataLoss when results differ by more, naming the result, the first such element, its values
// and what it was compared with.
absl::StatusOr<ModelVerification> VerifyModel(const ir::Module& module,
                                              const runtime::Inputs& inputs,
                                              const CompileOptions& options = {},
                                              double tolerance = 1e-4);

}  // namespace tenon

#endif  // TENON_VERIFY_VERIFY_MODEL_H_
