// Makes the tensors inside a model plain: those of graphs inside nodes and of attributes that keep
// their data in another file, and sparse ones. The rest of the import knows dense tensors with
// their data.
#ifndef TENON_ONNX_PLAIN_TENSORS_H_
#define TENON_ONNX_PLAIN_TENSORS_H_

#include "onnx/onnx_pb.h"
#include "tenon/onnx/external_data.h"

namespace tenon::onnx_import {

// Of a model's own graph: its initializers that are dense stay as they are, and sparse ones follow
// them. Throws as ExternalData; throws InvalidArgument for a sparse tensor that is none,
// Unimplemented for one of packed elements.
void MakePlain(onnx::GraphProto* graph, ExternalData* files);
// Of a function of the model.
void MakePlain(onnx::FunctionProto* function, ExternalData* files);

// The first version of the file format in which initializers need not be inputs.
inline constexpr int kFirstWithInitializersAlone = 4;
// Of graphs inside the nodes, in older versions: initializers are inputs no more, which the node
// would have to give.
void DropInitializedInputs(onnx::GraphProto* graph);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_PLAIN_TENSORS_H_
