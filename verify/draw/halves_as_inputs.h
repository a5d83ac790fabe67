// An ONNX model in which constants of 16 bits are inputs. What an import folds is computed by
// kernels there.
#ifndef TENON_VERIFY_DRAW_HALVES_AS_INPUTS_H_
#define TENON_VERIFY_DRAW_HALVES_AS_INPUTS_H_

#include <optional>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/ir/module.h"
#include "tenon/support/ndarray.h"

namespace tenon::verify {

struct ModelOfInputs {
  ir::Module module;  // with checked types
  std::vector<NDArray> inputs;
};

// `module` is the model as it is imported, and `inputs` are those of its @main. Nothing where no
// initializer has 16 bits, or the import must know one. Throws what a conversion throws.
std::optional<ModelOfInputs> HalvesAsInputs(onnx::ModelProto model, const ir::Module& module,
                                            const std::vector<NDArray>& inputs);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_HALVES_AS_INPUTS_H_
