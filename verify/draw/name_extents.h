// Gives names to extents of an ONNX model's inputs, as exporters do with dynamic axes.
#ifndef TENON_VERIFY_DRAW_NAME_EXTENTS_H_
#define TENON_VERIFY_DRAW_NAME_EXTENTS_H_

#include <map>
#include <string>

#include "onnx/onnx_pb.h"
#include "tenon/verify/array_values.h"

namespace tenon::verify {

// Each number among the extents is named with this probability, in percent. Equal extents mostly
// get one name, and sometimes each its own, or none. Inputs with an initializer stay. False where
// nothing is named.
bool NameExtents(onnx::ModelProto* model, int percent, Random& random);

// The model without the nodes of its graph that no result depends on: what they need of extents, a
// compiled model does not.
onnx::ModelProto WithoutDeadNodes(onnx::ModelProto model);
// Whether one of the node's outputs is neither read nor a result.
bool HasUnreadOutput(const onnx::ModelProto& model, const onnx::NodeProto& node);

// The model whose inputs have these shapes, by name; others stay.
onnx::ModelProto WithShapes(onnx::ModelProto model, const std::map<std::string, Shape>& shapes);

}  // namespace tenon::verify

#endif  // TENON_VERIFY_DRAW_NAME_EXTENTS_H_
