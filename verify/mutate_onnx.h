// Changes of an ONNX model's structure: what is valid becomes nearly valid.
#ifndef TENON_VERIFY_MUTATE_ONNX_H_
#define TENON_VERIFY_MUTATE_ONNX_H_

#include "onnx/onnx_pb.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// One change: of a node's type, inputs, outputs or attributes, also inside of other nodes; of a
// name, type, shape or the data of an input, output or initializer; of the order or number of
// nodes; of the opset. A model without what was drawn stays as it is.
void MutateOnnx(onnx::ModelProto* model, Random& random);

// The data of an initializer in the typed fields instead of bytes, which is the same tensor.
void UseTypedFields(onnx::TensorProto* tensor);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_MUTATE_ONNX_H_
