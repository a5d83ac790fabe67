// Sorts nodes so that each comes after those that make its inputs. The standard demands this order,
// but some converters write models without it, and ONNX Runtime accepts these.
#ifndef TENON_ONNX_SORT_NODES_H_
#define TENON_ONNX_SORT_NODES_H_

#include "onnx/onnx_pb.h"

namespace tenon::onnx_import {

// Sorts the nodes of the graph and of the graphs inside it. A sorted graph stays as it is. Nodes on
// a cycle stay in some order; the import refuses the first of them.
void SortNodes(onnx::GraphProto* graph);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_SORT_NODES_H_
