#include "tenon/attrs/field.h"

#include <cmath>

namespace tenon::attrs {
namespace {

template <typename T>
Value ListValue(const std::vector<T>& v) {
  List list;
  for (const T& e : v) list.push_back(ToValue(e));
  return list;
}

template <typename T>
std::optional<std::string> ListFromValue(const Value& value, std::vector<T>* out,
                                         const char* wanted) {
  const List* list = value.As<List>();
  if (list == nullptr) return wanted;
  std::vector<T> taken;
  for (const Value& e : *list) {
    if (FromValue(e, &taken.emplace_back())) return wanted;
  }
  *out = std::move(taken);
  return std::nullopt;
}

}  // namespace

Value ToValue(bool v) { return v; }
Value ToValue(std::int64_t v) { return v; }
Value ToValue(double v) { return v; }
Value ToValue(const std::string& v) { return v; }
Value ToValue(DataType v) { return v; }
Value ToValue(const std::vector<std::int64_t>& v) { return ListValue(v); }
Value ToValue(const std::vector<std::vector<std::int64_t>>& v) {
  List list;
  for (const auto& inner : v) list.push_back(ListValue(inner));
  return Value(std::move(list));
}
Value ToValue(const std::vector<double>& v) { return ListValue(v); }
Value ToValue(const std::variant<std::int64_t, std::vector<std::int64_t>>& v) {
  return std::visit([](const auto& x) { return ToValue(x); }, v);
}

std::optional<std::string> FromValue(const Value& value, bool* out) {
  if (const bool* v = value.As<bool>()) {
    *out = *v;
    return std::nullopt;
  }
  // Some printers spell a bool as 0 or 1.
  if (const std::int64_t* v = value.As<std::int64_t>(); v != nullptr && (*v == 0 || *v == 1)) {
    *out = *v == 1;
    return std::nullopt;
  }
  return "a bool (True or False)";
}
std::optional<std::string> FromValue(const Value& value, std::int64_t* out) {
  if (const std::int64_t* v = value.As<std::int64_t>()) {
    *out = *v;
    return std::nullopt;
  }
  return "an integer";
}
std::optional<std::string> FromValue(const Value& value, double* out) {
  if (const double* v = value.As<double>()) {
    *out = *v;
    return std::nullopt;
  }
  if (const std::int64_t* v = value.As<std::int64_t>()) {
    *out = static_cast<double>(*v);
    return std::nullopt;
  }
  return "a number";
}
std::optional<std::string> FromValue(const Value& value, std::string* out) {
  if (const std::string* v = value.As<std::string>()) {
    *out = *v;
    return std::nullopt;
  }
  return "a string";
}
std::optional<std::string> FromValue(const Value& value, DataType* out) {
  if (const DataType* v = value.As<DataType>()) {
    *out = *v;
    return std::nullopt;
  }
  if (const std::string* v = value.As<std::string>()) {
    if (const std::optional<DataType> type = DataType::Parse(*v)) {
      *out = *type;
      return std::nullopt;
    }
  }
  return "an element type such as \"float32\"";
}
std::optional<std::string> FromValue(const Value& value, std::vector<std::int64_t>* out) {
  return ListFromValue(value, out, "a list of integers");
}
std::optional<std::string> FromValue(const Value& value, std::vector<double>* out) {
  return ListFromValue(value, out, "a list of numbers");
}
std::optional<std::string> FromValue(const Value& value,
                                     std::vector<std::vector<std::int64_t>>* out) {
  return ListFromValue(value, out, "a list of lists of integers");
}
std::optional<std::string> FromValue(const Value& value,
                                     std::variant<std::int64_t, std::vector<std::int64_t>>* out) {
  std::int64_t number = 0;
  std::vector<std::int64_t> list;
  if (!FromValue(value, &number)) {
    *out = number;
  } else if (!FromValue(value, &list)) {
    *out = std::move(list);
  } else {
    return "an integer or a list of integers";
  }
  return std::nullopt;
}

}  // namespace tenon::attrs
