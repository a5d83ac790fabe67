// The field list of an attribute struct.
//
// A struct of attributes is an aggregate with a static Fields(). The default of a field is what the
// struct's own initialiser says. Member types: bool, int64_t, double, std::string, DataType,
// vectors of int64_t or double, vectors of vectors of int64_t, std::optional of these, and
// variant<int64_t, vector<int64_t>>.
//
//   struct PoolAttrs { std::vector<std::int64_t> strides = {1, 1};
//     static constexpr auto Fields() { return attrs::Fields(attrs::Field("strides",
//     &PoolAttrs::strides, "step").AtLeast(1)); } };
#ifndef TENON_ATTRS_FIELD_H_
#define TENON_ATTRS_FIELD_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "tenon/attrs/value.h"

namespace tenon::attrs {

// What values a field may have: numbers (also each element of a list) lie within the bounds, a
// string is one of the choices.
struct FieldRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  // Bounds that are not integers.
  double real_min = -std::numeric_limits<double>::infinity();
  double real_max = std::numeric_limits<double>::infinity();
  const char* choices = nullptr;  // separated by spaces
};

struct FieldText {
  const char* name;
  const char* help;
  bool always_printed = false;  // has no default
  bool is_required = false;
};

template <typename Struct, typename Member>
struct FieldOf {
  Member Struct::*member;
  FieldText text;
  FieldRange range;

  template <typename Number>
  constexpr FieldOf AtLeast(Number bound) const {
    FieldOf f = *this;
    if constexpr (std::is_floating_point_v<Number>) {
      f.range.real_min = bound;
    } else {
      f.range.min = bound;
    }
    return f;
  }
  template <typename Number>
  constexpr FieldOf AtMost(Number bound) const {
    FieldOf f = *this;
    if constexpr (std::is_floating_point_v<Number>) {
      f.range.real_max = bound;
    } else {
      f.range.max = bound;
    }
    return f;
  }
  constexpr FieldOf OneOf(const char* words) const {
    FieldOf f = *this;
    f.range.choices = words;
    return f;
  }
  // Prints even when unset, as None.
  constexpr FieldOf NoDefault() const {
    FieldOf f = *this;
    f.text.always_printed = true;
    return f;
  }
  // Must be given.
  constexpr FieldOf Required() const {
    FieldOf f = *this;
    f.text.is_required = true;
    f.text.always_printed = true;
    return f;
  }
};

template <typename Struct, typename Member>
constexpr FieldOf<Struct, Member> Field(const char* name, Member Struct::*member,
                                        const char* help) {
  return {member, {name, help}, {}};
}
template <typename... F>
constexpr std::tuple<F...> Fields(F... fields) {
  return std::tuple<F...>(fields...);
}

// Conversions between members and reflected values. When FromValue fails, it says in words what is
// allowed.
Value ToValue(bool v);
Value ToValue(std::int64_t v);
Value ToValue(double v);
Value ToValue(const std::string& v);
Value ToValue(DataType v);
Value ToValue(const std::vector<std::int64_t>& v);
Value ToValue(const std::vector<double>& v);
Value ToValue(const std::vector<std::vector<std::int64_t>>& v);
Value ToValue(const std::variant<std::int64_t, std::vector<std::int64_t>>& v);
template <typename T>
Value ToValue(const std::optional<T>& v) {
  return v ? ToValue(*v) : Value();
}

// Each returns nothing when it took the value, and what the field takes ("an integer") when it did
// not.
std::optional<std::string> FromValue(const Value& value, bool* out);
std::optional<std::string> FromValue(const Value& value, std::int64_t* out);
std::optional<std::string> FromValue(const Value& value, double* out);
std::optional<std::string> FromValue(const Value& value, std::string* out);
std::optional<std::string> FromValue(const Value& value, DataType* out);
std::optional<std::string> FromValue(const Value& value, std::vector<std::int64_t>* out);
std::optional<std::string> FromValue(const Value& value, std::vector<double>* out);
std::optional<std::string> FromValue(const Value& value,
                                     std::vector<std::vector<std::int64_t>>* out);
std::optional<std::string> FromValue(const Value& value,
                                     std::variant<std::int64_t, std::vector<std::int64_t>>* out);
template <typename T>
std::optional<std::string> FromValue(const Value& value, std::optional<T>* out) {
  if (value.is_none()) {
    out->reset();
    return std::nullopt;
  }
  T inner{};
  std::optional<std::string> wanted = FromValue(value, &inner);
  if (wanted) return *wanted + " or None";
  *out = std::move(inner);
  return std::nullopt;
}

// Reads and writes a member whose type is erased.
struct MemberAccess {
  Value (*get)(const void* member);
  std::optional<std::string> (*set)(const Value& value, void* member);  // as FromValue
};

template <typename Member>
inline constexpr MemberAccess kMemberAccess = {
    [](const void* member) { return ToValue(*static_cast<const Member*>(member)); },
    [](const Value& value, void* member) {
      return FromValue(value, static_cast<Member*>(member));
    }};

namespace attrs_internal {

constexpr std::uint64_t HashText(std::string_view text, std::uint64_t hash) {
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;  // FNV-1a
  return hash;
}

template <typename Member>
constexpr std::string_view TypeText() {
  return __PRETTY_FUNCTION__;
}

}  // namespace attrs_internal

// Tells two structs of the same name apart: a hash of size and alignment, and of the names and
// types of the fields. Only the caller's own definition counts, even where the program that loads
// it has another one under that name.
template <typename T>
consteval std::uint64_t FingerprintOf() {
  std::uint64_t hash = 0xcbf29ce484222325 ^ (sizeof(T) * 64 + alignof(T));
  const auto add = [&hash]<typename Member>(const FieldOf<T, Member>& field) {
    hash = attrs_internal::HashText(field.text.name, hash);
    hash = attrs_internal::HashText(attrs_internal::TypeText<Member>(), hash);
  };
  std::apply([&](const auto&... field) { (add(field), ...); }, T::Fields());
  return hash;
}

}  // namespace tenon::attrs

#endif  // TENON_ATTRS_FIELD_H_
