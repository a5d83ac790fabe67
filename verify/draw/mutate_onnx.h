// Changes the structure of an ONNX model, so that a valid model becomes nearly valid.
#ifndef TENON_VERIFY_DRAW_MUTATE_ONNX_H_
#define TENON_VERIFY_DRAW_MUTATE_ONNX_H_

#include "onnx/onnx_pb.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// Makes one change: to a node's type, inputs, outputs or attributes, also inside other nodes; to
// the name, type, shape or data of an input, output or initializer; to the order or number of
// nodes; or to the opset. A model that lacks the chosen thing stays as it is.
void MutateOnnx(onnx::ModelProto* model, Random& random);

// Moves the data of an initializer from bytes to the typed fields. The tensor stays the same.
void UseTypedFields(onnx::TensorProto* tensor);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_MUTATE_ONNX_H_
