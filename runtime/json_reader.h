// Reads the files of saved executables. Only files of runtime/ include this header.
//
//   const JsonReader manifest(json, "tenon.json");
//   manifest["nodes"][3]["kernel"].Int();  // DataLoss: tenon.json.nodes[3] has no "kernel"
#ifndef TENON_RUNTIME_JSON_READER_H_
#define TENON_RUNTIME_JSON_READER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {

using Json = nlohmann::ordered_json;

// A value in one of the files, which knows where it stands.
class JsonReader {
 public:
  JsonReader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

  const std::string& where() const { return where_; }
  [[noreturn]] void Refuse(const std::string& problem) const {
    throw DataLoss(StrCat(where_, " ", problem));
  }
  bool Has(const char* key) const { return json_.is_object() && json_.contains(key); }
  JsonReader operator[](const char* key) const {
    if (!Has(key)) Refuse(StrCat("has no \"", key, "\""));
    return {json_[key], StrCat(where_, ".", key)};
  }
  JsonReader operator[](std::size_t index) const {
    if (index >= size()) Refuse(StrCat("has ", size(), " items; item ", index, " is missing"));
    return {json_[index], StrCat(where_, "[", index, "]")};
  }
  std::size_t size() const {
    if (!json_.is_array()) Refuse("must be a list");
    return json_.size();
  }
  std::string String() const {
    if (!json_.is_string()) Refuse("must be a string");
    return json_.get<std::string>();
  }
  std::int64_t Integer(std::int64_t least = 0,
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) const {
    const bool fits = json_.is_number_unsigned()
                          ? json_.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                          : json_.is_number_integer();
    const std::int64_t value = fits ? json_.get<std::int64_t>() : 0;
    if (!fits || value < least || value > most)
      Refuse(StrCat("must be a whole number from ", least, " to ", most));
    return value;
  }
  int Int() const { return static_cast<int>(Integer(0, std::numeric_limits<int>::max())); }
  std::uint64_t Hex() const {
    const std::string text = String();
    std::uint64_t value = 0;
    for (const char c : text) {
      const std::size_t digit = std::string_view("0123456789abcdef").find(c);
      if (digit == std::string_view::npos) Refuse("must be 16 hexadecimal digits");
      value = value << 4 | digit;
    }
    if (text.size() != 16) Refuse("must be 16 hexadecimal digits");
    return value;
  }
  // `visit` of each field's name and value.
  void Each(const auto& visit) const {
    if (!json_.is_object()) Refuse("must be an object");
    for (const auto& [name, value] : json_.items())
      visit(name, JsonReader(value, StrCat(where_, ".", name)));
  }
  bool IsString() const { return json_.is_string(); }
  // `read` of each item.
  auto List(const auto& read) const {
    std::vector<decltype(read(*this))> items;
    for (std::size_t i = 0; i < size(); ++i) items.push_back(read((*this)[i]));
    return items;
  }

 private:
  const Json& json_;
  std::string where_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_JSON_READER_H_
