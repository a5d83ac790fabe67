// The wire format of protobuf (protobuf.dev/programming-guides/encoding): a message is a sequence
// of fields, each a tag (number and wire type) and a payload; nested messages are payloads with a
// length. Fields on the path ModelProto.graph, GraphProto.initializer, TensorProto.raw_data are
// rewritten; all others are copied.
#include "tenon/onnx/strip_raw_data.h"

#include <cstdint>
#include <limits>

#include "onnx/onnx_pb.h"

namespace tenon::onnx_import {
namespace {

enum class Wire : std::uint8_t { kVarint = 0, kEightBytes = 1, kLength = 2, kFourBytes = 5 };

struct Field {
  std::uint64_t number = 0;
  Wire wire = Wire::kVarint;
  std::string_view payload;  // of kLength
  std::string_view whole;    // with the tag
};

bool TakeVarint(std::string_view* rest, std::uint64_t* value) {
  *value = 0;
  for (unsigned shift = 0; shift < 64 && !rest->empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest->front());
    rest->remove_prefix(1);
    *value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool TakeField(std::string_view* rest, Field* field) {
  const std::string_view start = *rest;
  std::uint64_t tag = 0;
  // Tags beyond 32 bits are not valid protobuf. Its parser drops the upper bits, so it would see
  // another field than this code does. The number 0 is not valid either.
  if (!TakeVarint(rest, &tag) || tag > std::numeric_limits<std::uint32_t>::max() || tag >> 3U == 0)
    return false;
  field->number = tag >> 3U;
  field->wire = static_cast<Wire>(tag & 7U);
  std::uint64_t length = 0;
  switch (field->wire) {
    case Wire::kVarint:
      if (!TakeVarint(rest, &length)) return false;
      length = 0;
      break;
    case Wire::kEightBytes:
      length = 8;
      break;
    case Wire::kFourBytes:
      length = 4;
      break;
    case Wire::kLength:
      if (!TakeVarint(rest, &length)) return false;
      break;
    default:  // groups, which ONNX does not have, and invalid wire types
      return false;
  }
  if (length > rest->size()) return false;
  field->payload = rest->substr(0, length);
  rest->remove_prefix(length);
  field->whole = start.substr(0, start.size() - rest->size());
  return true;
}

void AddVarint(std::uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7U) out->push_back(static_cast<char>(value | 0x80U));
  out->push_back(static_cast<char>(value));
}

void AddField(int number, std::string_view payload, std::string* out) {
  AddVarint(static_cast<std::uint64_t>(number) << 3U | static_cast<std::uint64_t>(Wire::kLength),
            out);
  AddVarint(payload.size(), out);
  out->append(payload);
}

// Copies `message` to `out`, but replaces the payloads of the field `number` by what `strip` makes
// of them. False when the message is not complete.
template <typename Strip>
bool CopyBut(int number, std::string_view message, const Strip& strip, std::string* out) {
  Field field;
  while (!message.empty()) {
    if (!TakeField(&message, &field)) return false;
    if (field.number != static_cast<std::uint64_t>(number) || field.wire != Wire::kLength) {
      out->append(field.whole);
      continue;
    }
    std::string payload;
    if (!strip(field.payload, &payload)) return false;
    AddField(number, payload, out);
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
