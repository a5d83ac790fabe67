// Verifies what the compiler makes of a module: the compiled model, the same without fusion, and
// the interpreter (verify/interpret.h) must agree on given inputs.
//
//   ModelVerification v = VerifyModel(module, {{"x", x}}, options).value();
//   std::puts(v.ToString().c_str());
#ifndef TENON_VERIFY_VERIFY_MODEL_H_
#define TENON_VERIFY_VERIFY_MODEL_H_

#include <string>

#include "absl/status/statusor.h"
#include "tenon/compiler/compile.h"

namespace tenon {

// Largest differences of a result's elements, in parts of the result's largest element.
struct ModelVerification {
  double unfused = 0;      // between the model and the model without fusion
  double interpreted = 0;  // between the model and the interpreter
  std::string ToString() const;
};

// `tolerance`: the most that a difference may be; integers must be equal. Errors: those of Compile
// and of a run; DataLoss when results differ by more, naming the result, the first element, its
// values and what it was compared with.
absl::StatusOr<ModelVerification> VerifyModel(const ir::Module& module,
                                              const runtime::Inputs& inputs,
                                              const CompileOptions& options = {},
                                              double tolerance = 1e-4);

}  // namespace tenon

#endif  // TENON_VERIFY_VERIFY_MODEL_H_
