// The wire format of protobuf (protobuf.dev/programming-guides/encoding): a message is a sequence
// of fields, each a tag (number and wire type) and a payload; nested messages are payloads with a
// length.
//
//   for (wire::Field field; !rest.empty();) {
//     if (!wire::TakeField(&rest, &field)) return false;
//   }
#ifndef TENON_ONNX_WIRE_FORMAT_H_
#define TENON_ONNX_WIRE_FORMAT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::onnx_import::wire {

enum class Type : std::uint8_t { kVarint = 0, kEightBytes = 1, kLength = 2, kFourBytes = 5 };

struct Field {
  std::uint64_t number = 0;
  Type type = Type::kVarint;
  std::string_view payload;  // of kLength
  std::string_view whole;    // with the tag
};

// Takes the first field from `rest`. False when there is no valid and complete one.
bool TakeField(std::string_view* rest, Field* field);
// Appends a field of kLength.
void AddField(int number, std::string_view payload, std::string* out);
// The payloads of all fields of kLength with this number, up to the first invalid field: what a
// message holds that the installed version of ONNX does not know.
std::vector<std::string_view> PayloadsOf(int number, std::string_view message);

}  // namespace tenon::onnx_import::wire

#endif  // TENON_ONNX_WIRE_FORMAT_H_
