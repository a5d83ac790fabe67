// Which element types ONNX's operators take: fewer than Tenon's.
//
//   TakesType("IsInf", Float16) == false
#ifndef TENON_ONNX_WRITE_NODE_TYPES_H_
#define TENON_ONNX_WRITE_NODE_TYPES_H_

#include <string>

#include "tenon/support/data_type.h"

namespace tenon::onnx_export {

// Whether a node of this operator takes a first input of the type in opset 17. An operator that is
// not in the table takes all that exporters give it.
bool TakesType(const std::string& node, DataType type);

}  // namespace tenon::onnx_export

#endif  // TENON_ONNX_WRITE_NODE_TYPES_H_
