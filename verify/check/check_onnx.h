// Imports an ONNX model, compiles it and runs it on random inputs. The results must be those of the
// interpreter, also when the model is exported, or when constants of 16 bits are inputs. The error
// for a model that cannot be imported or compiled must be a user's.
#ifndef TENON_VERIFY_CHECK_CHECK_ONNX_H_
#define TENON_VERIFY_CHECK_CHECK_ONNX_H_

#include <cstdint>
#include <optional>
#include <string>

#include "onnx/onnx_pb.h"
#include "tenon/verify/fuzz_onnx.h"

namespace tenon::verify {

// The finding as text, or nothing.
std::optional<std::string> CheckOnnx(const onnx::ModelProto& model, std::uint64_t seed,
                                     const OnnxFuzzOptions& options,
                                     OnnxFuzzStatistics* statistics);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_CHECK_ONNX_H_
