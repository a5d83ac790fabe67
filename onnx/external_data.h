// Tensors whose data is stored in files beside the model (TensorProto.data_location EXTERNAL).
//
//   ExternalData files("models/net");  // the model's folder
//   NDArray w = ToNDArray(tensor, what, files.Of(tensor, what));
#ifndef TENON_ONNX_EXTERNAL_DATA_H_
#define TENON_ONNX_EXTERNAL_DATA_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tenon/onnx/tensor.h"
#include "tenon/support/mapped_file.h"

namespace tenon::onnx_import {

class ExternalData {
 public:
  // Without a folder, there are no files.
  explicit ExternalData(std::optional<std::string> folder) : folder_(std::move(folder)) {}

  // The tensor's bytes. Its file is mapped once, and stays mapped while anyone holds a part of it.
  // A part that nobody holds takes no memory.
  // Throws InvalidArgument, naming the tensor and the file, for a location that is missing,
  // absolute or outside the folder, and for an offset or length that is not a number or exceeds the
  // file. Throws NotFound for a file that cannot be opened, Unimplemented when there is no folder.
  RawData Of(const onnx::TensorProto& tensor, const std::string& what);

 private:
  std::optional<std::string> folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;  // by location
};

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_EXTERNAL_DATA_H_
