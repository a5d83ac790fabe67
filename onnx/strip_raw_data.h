// A serialised model without the data of its initializers, so that protobuf has little to parse and
// copies no weights.
//
//   const auto stripped = StripRawData(file->bytes());
//   model.ParseFromString(stripped->bytes);  // stripped->raw[i]: the data of initializer i
#ifndef TENON_ONNX_STRIP_RAW_DATA_H_
#define TENON_ONNX_STRIP_RAW_DATA_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::onnx_import {

struct StrippedModel {
  std::string bytes;
  // The raw_data of each initializer of the graph, as a view into the model; nothing where there is
  // none. Where there is some, the stripped model has an empty one.
  std::vector<std::optional<std::string_view>> raw;
};

// Nothing when `model` is not a message of complete fields. Protobuf refuses such a message, too.
std::optional<StrippedModel> StripRawData(std::string_view model);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_STRIP_RAW_DATA_H_
