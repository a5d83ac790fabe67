// Nodes in an order in which each comes after what makes its inputs. The standard demands such an
// order, but converters write models without it, which ONNX Runtime takes.
#ifndef TENON_ONNX_SORT_NODES_H_
#define TENON_ONNX_SORT_NODES_H_

#include "onnx/onnx_pb.h"

namespace tenon::onnx_import {

// Sorts the nodes of the graph and of the graphs inside of it. A graph that is in order stays as it
// is; nodes that need each other stay in some order, and the import refuses the first of them.
void SortNodes(onnx::GraphProto* graph);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_SORT_NODES_H_
