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

#include <cstdint>
#include <functional>
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
  std::string name;
  std::string help;
  std::string type;    // in words: "a list of integers"
  std::string bounds;  // what is allowed beyond the type, in words; may be empty
  Value default_value;
  bool always_printed = false;
  bool is_required = false;
  std::function<Value(const void* attrs)> get;
  // Sets the field; throws when the value is of the wrong type or out of bounds.
  std::function<void(void* attrs, const Value& value)> set;
};

struct Schema {
  std::string name;
  const std::type_info* type = nullptr;
  std::vector<FieldInfo> fields;
  std::function<std::shared_ptr<void>()> make_default;

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

std::string BoundsText(std::int64_t lowest, std::int64_t highest, const char* choices);
// Nothing when the value is within; otherwise throws.
void CheckBounds(const std::string& struct_name, const char* field, const Value& value,
                 std::int64_t lowest, std::int64_t highest, const char* choices);
[[noreturn]] void RefuseType(const std::string& struct_name, const char* field, const Value& value,
                             const std::string& wanted);

template <typename T>
std::string NameOf() {
  if constexpr (requires { T::kTypeKey; }) {
    return T::kTypeKey;
  } else {
    return "attributes";
  }
}

// What FromValue says that it takes, when it gets what nothing takes.
template <typename Member>
std::string TypeInWords() {
  Member member{};
  return FromValue(List{List{List{}}}, &member).value_or("anything");
}

template <typename T>
Schema MakeSchema() {
  Schema schema{.name = NameOf<T>(), .type = &typeid(T), .fields = {}, .make_default = [] {
                  return std::make_shared<T>();
                }};
  const T defaults{};
  std::apply(
      [&](const auto&... field) {
        (schema.fields.push_back(
             FieldInfo{.name = field.name,
                       .help = field.help,
                       .type = TypeInWords<std::decay_t<decltype(defaults.*field.member)>>(),
                       .bounds = BoundsText(field.lowest, field.highest, field.choices),
                       .default_value = ToValue(defaults.*field.member),
                       .always_printed = field.always_printed,
                       .is_required = field.is_required,
                       .get =
                           [field](const void* attrs) {
                             return ToValue(static_cast<const T*>(attrs)->*field.member);
                           },
                       .set =
                           [field](void* attrs, const Value& value) {
                             auto& member = static_cast<T*>(attrs)->*field.member;
                             if (const auto wanted = FromValue(value, &member))
                               RefuseType(NameOf<T>(), field.name, value, *wanted);
                             CheckBounds(NameOf<T>(), field.name, value, field.lowest,
                                         field.highest, field.choices);
                           }}),
         ...);
      },
      T::Fields());
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
