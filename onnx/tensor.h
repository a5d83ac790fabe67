// TensorProto and element types of ONNX as Tenon's.
#ifndef TENON_ONNX_TENSOR_H_
#define TENON_ONNX_TENSOR_H_

#include <string>

#include "onnx/onnx_pb.h"
#include "tenon/support/ndarray.h"

namespace tenon::onnx_import {

// Throws Unimplemented for types that Tenon does not have.
DataType ToDataType(int onnx_type, const std::string& what);
// Throws InvalidArgument when the data does not fit the shape, Unimplemented for external data.
NDArray ToNDArray(const onnx::TensorProto& tensor, const std::string& what);

// Throws Unimplemented for types that ONNX does not have.
onnx::TensorProto::DataType ToOnnxType(DataType type);
// With raw data.
void ToTensorProto(const NDArray& array, const std::string& name, onnx::TensorProto* tensor);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_TENSOR_H_
