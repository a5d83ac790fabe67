#include "tenon/onnx/wire_format.h"

#include <limits>

namespace tenon::onnx_import::wire {
namespace {

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

void AddVarint(std::uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7U) out->push_back(static_cast<char>(value | 0x80U));
  out->push_back(static_cast<char>(value));
}

}  // namespace

bool TakeField(std::string_view* rest, Field* field) {
  const std::string_view start = *rest;
  std::uint64_t tag = 0;
  // Tags beyond 32 bits are not valid protobuf. Its parser drops the upper bits, so it would see
  // another field than this code does. The number 0 is not valid either.
  if (!TakeVarint(rest, &tag) || tag > std::numeric_limits<std::uint32_t>::max() || tag >> 3U == 0)
    return false;
  field->number = tag >> 3U;
  field->type = static_cast<Type>(tag & 7U);
  std::uint64_t length = 0;
  switch (field->type) {
    case Type::kVarint:
      if (!TakeVarint(rest, &length)) return false;
      length = 0;
      break;
    case Type::kEightBytes:
      length = 8;
      break;
    case Type::kFourBytes:
      length = 4;
      break;
    case Type::kLength:
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

void AddField(int number, std::string_view payload, std::string* out) {
  AddVarint(static_cast<std::uint64_t>(number) << 3U | static_cast<std::uint64_t>(Type::kLength),
            out);
  AddVarint(payload.size(), out);
  out->append(payload);
}

std::vector<std::string_view> PayloadsOf(int number, std::string_view message) {
  std::vector<std::string_view> payloads;
  Field field;
  while (!message.empty() && TakeField(&message, &field)) {
    if (field.number == static_cast<std::uint64_t>(number) && field.type == Type::kLength)
      payloads.push_back(field.payload);
  }
  return payloads;
}

}  // namespace tenon::onnx_import::wire
