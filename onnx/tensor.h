// Converts TensorProto and ONNX element types to Tenon's, and back.
#ifndef TENON_ONNX_TENSOR_H_
#define TENON_ONNX_TENSOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "onnx/onnx_pb.h"
#include "tenon/support/ndarray.h"

namespace tenon::onnx_import {

// Throws Unimplemented for types that Tenon does not have.
DataType ToDataType(int onnx_type, const std::string& what);
// The data of a tensor that is stored elsewhere.
struct RawData {
  std::string_view bytes;
  std::shared_ptr<const void> owner;  // keeps the bytes; null: they must be copied
  // Called with parts of the bytes that have been copied, by several threads; may be null.
  std::function<void(std::string_view part)> forget = nullptr;
};
// `raw`, when given, replaces the tensor's own data. It is used in place when it has an owner and
// the alignment of arrays. Throws InvalidArgument when the data does not fit the shape,
// Unimplemented for data in another file when `raw` is not given. Narrow types (narrow_type.h) come
// as the type that carries them.
NDArray ToNDArray(const onnx::TensorProto& tensor, const std::string& what,
                  const std::optional<RawData>& raw = std::nullopt);

// How many bytes the type and the shape take as raw data. Throws as ToNDArray.
std::size_t RawBytesOf(const onnx::TensorProto& tensor, const std::string& what);

// The elements as doubles: 64-bit integers beyond 2^53 are rounded.
std::vector<double> NumbersOf(const NDArray& array);

// Throws Unimplemented for types that ONNX does not have.
onnx::TensorProto::DataType ToOnnxType(DataType type);
// Writes raw data.
void ToTensorProto(const NDArray& array, const std::string& name, onnx::TensorProto* tensor);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_TENSOR_H_
