// Writes an ONNX model with its inputs and results in the form of the standard's node tests.
#ifndef TENON_VERIFY_CHECK_DUMP_ONNX_H_
#define TENON_VERIFY_CHECK_DUMP_ONNX_H_

#include <string>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/ir/module.h"
#include "tenon/support/ndarray.h"

namespace tenon::verify {

// `module` is what the model was imported as; `inputs` are those of its @main, in order. Makes the
// folder. Throws what WriteFile throws.
void DumpOnnx(const std::string& folder, const onnx::ModelProto& model, const ir::Module& module,
              const std::vector<NDArray>& inputs, const std::vector<NDArray>& results);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_DUMP_ONNX_H_
