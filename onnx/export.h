// Modules as ONNX models of opset 17, the counterpart of onnx/import.h.
//
// @main becomes the graph. Its parameters become the inputs, under their names; constants become
// initializers with raw data; the fields of a result that is a tuple become one output each.
// Operators are written as they are, with two exceptions: those that inference does not need
// (dropout) are left out, and biases become an input of the convolution or product to which they
// belong. The model computes the same when it is imported again.
//
//   std::string bytes = ExportOnnx(module).value();
#ifndef TENON_ONNX_EXPORT_H_
#define TENON_ONNX_EXPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/ir/module.h"

namespace tenon::onnx_export {

// A serialised ModelProto. Errors: those of type inference. Unimplemented, listing every operator
// without an ONNX counterpart, or naming the call whose attributes have none, or for a model above
// protobuf's 2 GiB. InvalidArgument for extents that are not static and for functions without an
// ONNX counterpart (let, calls of functions).
absl::StatusOr<std::string> ExportOnnx(const ir::Module& module);
// Whether calls of the operator can be written, also by a user's exporter (register_onnx.h).
bool IsExportable(const std::string& op);
// The names of the operators that Tenon can write, sorted.
std::vector<std::string> ExportableOps();

}  // namespace tenon::onnx_export

#endif  // TENON_ONNX_EXPORT_H_
