// Attribute values in reflected form, and their text.
//
//   Value v = std::vector<Value>{Value(std::int64_t{1}), Value(std::int64_t{2})};
//   ToText(v) == "[1, 2]"
#ifndef TENON_ATTRS_VALUE_H_
#define TENON_ATTRS_VALUE_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tenon/support/data_type.h"

namespace tenon::attrs {

struct None {
  friend bool operator==(const None&, const None&) = default;
};

struct Value;
using List = std::vector<Value>;

struct Value {
  std::variant<None, bool, std::int64_t, double, std::string, DataType, List> data;

  Value() = default;
  template <typename T>
  Value(T value) : data(std::move(value)) {}
  Value(const char* text) : data(std::string(text)) {}

  bool is_none() const { return std::holds_alternative<None>(data); }
  template <typename T>
  const T* As() const {
    return std::get_if<T>(&data);
  }
  // NaN equals NaN, so that equality agrees with hashing.
  friend bool operator==(const Value& a, const Value& b);
};

// Relay text: None, True, 3, 1e-05f, "text", [1, 2]. Types print as quoted names.
std::string ToText(const Value& value);
// What kind of value it is, for messages: "an integer", "a list".
std::string KindOf(const Value& value);
// Stable across runs and machines.
std::uint64_t Hash(const Value& value, std::uint64_t seed);

}  // namespace tenon::attrs

#endif  // TENON_ATTRS_VALUE_H_
