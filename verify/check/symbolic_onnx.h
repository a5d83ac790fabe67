// Imports an ONNX model with variables for extents of its inputs, compiles it once, and runs it for
// several values of them. The results must be those of the interpreter for the same model with
// these values written into its inputs, which is imported without variables.
#ifndef TENON_VERIFY_CHECK_SYMBOLIC_ONNX_H_
#define TENON_VERIFY_CHECK_SYMBOLIC_ONNX_H_

#include <cstdint>
#include <optional>
#include <string>

#include "onnx/onnx_pb.h"
#include "tenon/verify/fuzz_onnx.h"

namespace tenon::verify {

// The finding as text, with the types of the inputs, or nothing. Some extents of the model's inputs
// become variables; where the import refuses them in words, fewer do. `before_import` gets each
// model with named extents.
std::optional<std::string> CheckSymbolicOnnx(const onnx::ModelProto& model, std::uint64_t seed,
                                             const OnnxFuzzOptions& options,
                                             OnnxFuzzStatistics* statistics);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_SYMBOLIC_ONNX_H_
