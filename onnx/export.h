// Modules as ONNX models of opset 17, the counterpart of onnx/import.h.
//
// @main becomes the graph: its parameters are the inputs under their names, constants become
// initializers with raw data, the fields of a result that is a tuple one output each. Operators
// are written as they stand, but for what inference does not need (dropout) and for biases, which
// become an input of the convolution or product that they belong to. Imported again, the model
// computes the same.
//
//   std::string bytes = ExportOnnx(module).value();
#ifndef TENON_ONNX_EXPORT_H_
#define TENON_ONNX_EXPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tenon/ir/module.h"

namespace tenon::onnx_export {

// A serialised ModelProto. Errors: those of type inference; Unimplemented listing every operator
// that has no ONNX counterpart, naming the call whose attributes have none, and for models beyond
// the 2 GiB of a protobuf; InvalidArgument for extents that are not static and for functions
// without ONNX counterpart (let, calls of functions).
absl::StatusOr<std::string> ExportOnnx(const ir::Module& module);
// Names of the operators that can be written, sorted.
std::vector<std::string> ExportableOps();

}  // namespace tenon::onnx_export

#endif  // TENON_ONNX_EXPORT_H_
