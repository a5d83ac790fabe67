// Which versions of the standard's operators can be imported.
#ifndef TENON_ONNX_OPSET_H_
#define TENON_ONNX_OPSET_H_

#include <string>

#include "onnx/onnx_pb.h"

namespace tenon::onnx_import {

// Whether operators of the domain are those of the standard.
bool IsDefaultDomain(const std::string& domain);

using OpsetImports = google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>;

// The version of the standard's operators in a list of imports, or `otherwise` if the list does not
// have them. Throws Unimplemented, naming `what`, when it is out of range.
int OpsetOf(const OpsetImports& imports, int otherwise, const std::string& what);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_OPSET_H_
