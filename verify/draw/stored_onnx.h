// Draws one of the ONNX models that lie in a folder, as those of libonnx-testdata.
//
//   const onnx::ModelProto model = StoredOnnx("/usr/share/libonnx-testdata", random);
#ifndef TENON_VERIFY_DRAW_STORED_ONNX_H_
#define TENON_VERIFY_DRAW_STORED_ONNX_H_

#include <string>

#include "onnx/onnx_pb.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// Large files are left out. Inputs whose values are stored beside the model, as in the standard's
// node tests, may become constants. A file that is no model gives an empty one. A process takes all
// of its models from the first folder that it names. Throws NotFound where none lie in it.
// Thread-safe.
onnx::ModelProto StoredOnnx(const std::string& folder, Random& random);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_STORED_ONNX_H_
