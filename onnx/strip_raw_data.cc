// Fields on the path ModelProto.graph, GraphProto.initializer, TensorProto.raw_data are
// rewritten; all others are copied.
#include "tenon/onnx/strip_raw_data.h"

#include <cstdint>

#include "onnx/onnx_pb.h"
#include "tenon/onnx/wire_format.h"

namespace tenon::onnx_import {
namespace {

// Copies `message` to `out`, but replaces the payloads of the field `number` by what `strip` makes
// of them. False when the message is not complete.
template <typename Strip>
bool CopyBut(int number, std::string_view message, const Strip& strip, std::string* out) {
  wire::Field field;
  while (!message.empty()) {
    if (!wire::TakeField(&message, &field)) return false;
    if (field.number != static_cast<std::uint64_t>(number) || field.type != wire::Type::kLength) {
      out->append(field.whole);
      continue;
    }
    std::string payload;
    if (!strip(field.payload, &payload)) return false;
    wire::AddField(number, payload, out);
  }
  return true;
}

}  // namespace

std::optional<StrippedModel> StripRawData(std::string_view model) {
  StrippedModel stripped;
  const auto strip_data = [&](std::string_view data, std::string* /*empty*/) {
    stripped.raw.back() = data;
    return true;
  };
  const auto strip_tensor = [&](std::string_view tensor, std::string* out) {
    stripped.raw.emplace_back();
    return CopyBut(onnx::TensorProto::kRawDataFieldNumber, tensor, strip_data, out);
  };
  const auto strip_graph = [&](std::string_view graph, std::string* out) {
    return CopyBut(onnx::GraphProto::kInitializerFieldNumber, graph, strip_tensor, out);
  };
  if (!CopyBut(onnx::ModelProto::kGraphFieldNumber, model, strip_graph, &stripped.bytes))
    return std::nullopt;
  return stripped;
}

}  // namespace tenon::onnx_import
