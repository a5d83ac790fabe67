// Attributes of a call: an immutable struct of any attribute type, with the schema that its field
// list gives.
//
// The handle is cheap to copy, and null for operators without attributes. Equality and hashing go
// by content. Errors are InvalidArgument, naming the struct, the field and what is allowed.
//
//   Attrs a = Attrs::Make(Conv2DAttrs{.strides = {2, 2}});
//   a.As<Conv2DAttrs>().strides[0] == 2;  a.ToText() == "strides=[2, 2]";
#ifndef TENON_ATTRS_ATTRS_H_
#define TENON_ATTRS_ATTRS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "tenon/attrs/field.h"
#include "tenon/attrs/value.h"

namespace tenon::attrs {

// One field of a schema, with types erased.
struct FieldInfo {
  std::string struct_name;
  std::string name;
  std::string help;
  std::string type;    // in words: "a list of integers"
  std::string bounds;  // what is allowed beyond the type, in words; may be empty
  Value default_value;
  bool always_printed = false;
  bool is_required = false;
  FieldRange range;
  std::ptrdiff_t offset = 0;  // of the member in the struct, in bytes
  const MemberAccess* access = nullptr;

  Value Get(const void* attrs) const;
  // Throws when the value is of the wrong type or out of bounds.
  void Set(void* attrs, const Value& value) const;
  void CheckBounds(const Value& value) const;
};

struct Schema {
  std::string name;
  const std::type_info* type = nullptr;
  std::vector<FieldInfo> fields;
  std::shared_ptr<void> (*make_default)() = nullptr;
  std::shared_ptr<void> (*copy)(const void* attrs) = nullptr;
  std::uint64_t fingerprint = 0;  // FingerprintOf the struct

  const FieldInfo* Find(const std::string& field) const;
};

using FieldValues = std::map<std::string, Value>;

class Attrs {
 public:
  Attrs() = default;
  // Throws when a value is out of its bounds.
  template <typename T>
  static Attrs Make(T attrs);
  // Unnamed fields keep their defaults.
  static Attrs FromFields(const Schema& schema, const FieldValues& values);

  bool defined() const { return schema_ != nullptr; }
  const Schema* schema() const { return schema_; }
  template <typename T>
  const T& As() const;
  Value Get(const std::string& field) const;
  // These, which must be defined, with another value of one field. Members that are not fields
  // stay. Throws as FromFields does.
  Attrs With(const std::string& field, Value value) const;

  // "strides=[2, 2], channels=8": fields that differ from their default, and those without one.
  std::string ToText() const;
  // Bytes of strings that are not UTF-8 become U+FFFD.
  std::string ToJson() const;
  static Attrs FromJson(const Schema& schema, const std::string& json);
  std::uint64_t Hash() const;
  friend bool operator==(const Attrs& a, const Attrs& b);

 private:
  Attrs(const Schema* schema, std::shared_ptr<const void> data)
      : schema_(schema), data_(std::move(data)) {}
  static void RequireSame(const Schema* have, const std::type_info& wanted);
  void Check() const;

  const Schema* schema_ = nullptr;
  std::shared_ptr<const void> data_;
};

namespace attrs_internal {

template <typename T>
std::string NameOf() {
  if constexpr (requires { T::kTypeKey; }) {
    return T::kTypeKey;
  } else {
    return "attributes";
  }
}

// `place` is the member's distance from the start of `defaults`.
void AddField(const FieldText& text, const FieldRange& range, const MemberAccess& access,
              std::ptrdiff_t place, void* defaults, Schema* schema);

template <typename T>
Schema MakeSchema() {
  Schema schema{.name = NameOf<T>(),
                .type = &typeid(T),
                .fields = {},
                .make_default = [] { return std::shared_ptr<void>(std::make_shared<T>()); },
                .copy = [](const void* attrs) -> std::shared_ptr<void> {
                  return std::make_shared<T>(*static_cast<const T*>(attrs));
                },
                .fingerprint = FingerprintOf<T>()};
  T defaults{};
  const auto add = [&]<typename Member>(const FieldOf<T, Member>& field) {
    const auto place = reinterpret_cast<const char*>(&(defaults.*field.member)) -
                       reinterpret_cast<const char*>(&defaults);
    AddField(field.text, field.range, kMemberAccess<Member>, place, &defaults, &schema);
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, T::Fields());
  return schema;
}

}  // namespace attrs_internal

// The schema of an attribute struct, made once.
template <typename T>
const Schema& SchemaOf() {
  static const Schema schema = attrs_internal::MakeSchema<T>();
  return schema;
}

template <typename T>
Attrs Attrs::Make(T attrs) {
  Attrs made(&SchemaOf<T>(), std::make_shared<const T>(std::move(attrs)));
  made.Check();
  return made;
}

template <typename T>
const T& Attrs::As() const {
  RequireSame(schema_, typeid(T));
  return *static_cast<const T*>(data_.get());
}

}  // namespace tenon::attrs

#endif  // TENON_ATTRS_ATTRS_H_
