#include "tenon/attrs/attrs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <cxxabi.h>
#include <nlohmann/json.hpp>

#include "tenon/support/error.h"
#include "tenon/support/hash.h"
#include "tenon/support/strings.h"

namespace tenon::attrs {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kNoMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kNoMax = std::numeric_limits<std::int64_t>::max();

constexpr auto kMaxInteger = static_cast<std::uint64_t>(kNoMax);
constexpr int kMaxJsonDepth = 64;

Json ToJsonValue(const Value& value) {
  struct Writer {
    Json operator()(None) const { return nullptr; }
    Json operator()(bool v) const { return v; }
    Json operator()(std::int64_t v) const { return v; }
    // JSON has no NaN and no infinity.
    Json operator()(double v) const {
      return std::isfinite(v) ? Json(v) : Json({{"float", FormatShortest(v)}});
    }
    Json operator()(const std::string& v) const { return v; }
    Json operator()(DataType v) const { return v.is_void() ? "" : v.ToString(); }
    Json operator()(const List& v) const {
      Json list = Json::array();
      for (const Value& e : v) list.push_back(ToJsonValue(e));
      return list;
    }
  };
  return std::visit(Writer(), value.data);
}

// Throws an Error that says what an attribute value may be.
[[noreturn]] void RefuseJson(const std::string& field, const Json& json) {
  throw InvalidArgument(StrCat(field, ": ", json.dump(),
                               " is not an attribute value; allowed are null, true, false, numbers "
                               "(integers of 64 bits), strings, lists of these and {\"float\": "
                               "\"nan\"}"));
}

// `field` names the struct and the field for messages.
Value FromJsonValue(const std::string& field, const Json& json) {
  if (json.is_null()) return Value();
  if (json.is_boolean()) return json.get<bool>();
  // Only a number that does not fit into int64 is unsigned here.
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > kMaxInteger) RefuseJson(field, json);
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  if (json.is_object() && json.contains("float") && json["float"].is_string()) {
    if (const auto number = ParseNumber<double>(json["float"].get<std::string>())) return *number;
  }
  if (json.is_array()) {
    List list;
    for (const Json& e : json) list.push_back(FromJsonValue(field, e));
    return list;
  }
  RefuseJson(field, json);
}

// Reads one JSON object; the depth is bounded because values are walked by recursion.
Json ParseObject(const std::string& struct_name, const std::string& text) {
  const auto check_depth = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxJsonDepth) {
      throw InvalidArgument(StrCat(struct_name, ": the JSON nests more than ", kMaxJsonDepth,
                                   " levels; attribute values are numbers, strings and lists"));
    }
    return true;
  };
  Json json = Json::parse(text, check_depth, /*allow_exceptions=*/false);
  if (json.is_discarded())
    throw InvalidArgument(
        StrCat(struct_name, ": this cannot be read as JSON; it must be an object"));
  if (!json.is_object()) throw InvalidArgument(StrCat(struct_name, ": the JSON is not an object"));
  return json;
}

std::vector<std::string> FieldNames(const Schema& schema) {
  std::vector<std::string> names;
  for (const FieldInfo& field : schema.fields) names.push_back(field.name);
  return names;
}

std::string BoundsText(const FieldRange& range) {
  if (range.choices != nullptr)
    return StrCat("one of ", StrJoin(StrSplit(range.choices, ' '), ", "));
  const std::string min = std::isfinite(range.real_min) ? FormatShortest(range.real_min)
                          : range.min != kNoMin         ? StrCat(range.min)
                                                        : "";
  const std::string max = std::isfinite(range.real_max) ? FormatShortest(range.real_max)
                          : range.max != kNoMax         ? StrCat(range.max)
                                                        : "";
  if (!min.empty() && !max.empty()) return StrCat(min, " to ", max);
  if (!min.empty()) return StrCat("at least ", min);
  if (!max.empty()) return StrCat("at most ", max);
  return "";
}

bool IsWithin(const FieldRange& range, double number) {
  // NaN is outside every bound.
  return (range.min == kNoMin || number >= static_cast<double>(range.min)) &&
         (range.max == kNoMax || number <= static_cast<double>(range.max)) &&
         (!std::isfinite(range.real_min) || number >= range.real_min) &&
         (!std::isfinite(range.real_max) || number <= range.real_max);
}

bool IsOneOf(const char* choices, const std::string& word) {
  const std::vector<std::string> words = StrSplit(choices, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

Value FieldInfo::Get(const void* attrs) const {
  return access->get(static_cast<const char*>(attrs) + offset);
}

void FieldInfo::Set(void* attrs, const Value& value) const {
  void* member = static_cast<char*>(attrs) + offset;
  if (const std::optional<std::string> wanted = access->set(value, member)) {
    throw InvalidArgument(StrCat(struct_name, ": field ", name, " is ", ToText(value), ", ",
                                 KindOf(value), "; it takes ", *wanted));
  }
  CheckBounds(value);
}

void FieldInfo::CheckBounds(const Value& value) const {
  bool within = true;
  if (const List* list = value.As<List>()) {
    for (const Value& e : *list) CheckBounds(e);
  } else if (const std::int64_t* v = value.As<std::int64_t>()) {
    within = *v >= range.min && *v <= range.max && IsWithin(range, static_cast<double>(*v));
  } else if (const double* d = value.As<double>()) {
    within = IsWithin(range, *d);
  } else if (const std::string* s = value.As<std::string>(); s != nullptr && range.choices) {
    within = IsOneOf(range.choices, *s);
  }
  if (!within)
    throw InvalidArgument(
        StrCat(struct_name, ": field ", name, " is ", ToText(value), "; allowed is ", bounds));
}

void attrs_internal::AddField(const FieldText& text, const FieldRange& range,
                              const MemberAccess& access, std::ptrdiff_t place, void* defaults,
                              Schema* schema) {
  FieldInfo field{.struct_name = schema->name,
                  .name = text.name,
                  .help = text.help,
                  .type = "anything",
                  .bounds = BoundsText(range),
                  .default_value = Value(),
                  .always_printed = text.always_printed,
                  .is_required = text.is_required,
                  .range = range,
                  .offset = place,
                  .access = &access};
  field.default_value = field.Get(defaults);
  // No field takes a list of lists of lists, so the refusal says what the field does take. Braces
  // within braces would be copies for Clang.
  const Value odd = List(1, Value(List(1, Value(List(1, Value(List()))))));
  if (auto words = access.set(odd, static_cast<char*>(defaults) + place)) field.type = *words;
  schema->fields.push_back(std::move(field));
}

const FieldInfo* Schema::Find(const std::string& field) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const FieldInfo& f) { return f.name == field; });
  return found == fields.end() ? nullptr : &*found;
}

namespace {

// Throws, naming the fields there are.
const FieldInfo& RequireField(const Schema& schema, const std::string& name) {
  const FieldInfo* field = schema.Find(name);
  if (field != nullptr) return *field;
  Error error = InvalidArgument(StrCat(schema.name, ": there is no field ", name,
                                       "; the fields are: ", StrJoin(FieldNames(schema), ", ")));
  if (std::string hint = DidYouMean("", name, FieldNames(schema)); !hint.empty())
    error.AddNote(std::move(hint));
  throw error;
}

}  // namespace

Attrs Attrs::FromFields(const Schema& schema, const FieldValues& values) {
  std::shared_ptr<void> data = schema.make_default();
  for (const auto& [name, value] : values) RequireField(schema, name).Set(data.get(), value);
  for (const FieldInfo& field : schema.fields) {
    if (field.is_required && !values.contains(field.name)) {
      throw InvalidArgument(
          StrCat(schema.name, ": field ", field.name, " is missing; it has no default"));
    }
  }
  return Attrs(&schema, std::move(data));
}

void Attrs::RequireSame(const Schema* have, const std::type_info& wanted) {
  if (have != nullptr && *have->type == wanted) return;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(wanted.name(), nullptr, nullptr, &status), std::free);
  const std::string text = name == nullptr ? wanted.name() : name.get();
  throw InvalidArgument(
      have == nullptr
          ? StrCat("the call has no attributes, but they are read as ", text,
                   "; register the operator with .Attrs<", text, ">()")
          : StrCat("the call's attributes are ", have->name, ", but they are read as ", text));
}

void Attrs::Check() const {
  for (const FieldInfo& field : schema_->fields) field.CheckBounds(field.Get(data_.get()));
}

Value Attrs::Get(const std::string& field) const {
  const FieldInfo* info = defined() ? schema_->Find(field) : nullptr;
  return info == nullptr ? Value() : info->Get(data_.get());
}

Attrs Attrs::With(const std::string& field, Value value) const {
  std::shared_ptr<void> data = schema_->copy(data_.get());
  RequireField(*schema_, field).Set(data.get(), value);
  return Attrs(schema_, std::move(data));
}

std::string Attrs::ToText() const {
  if (!defined()) return "";
  std::string text;
  for (const FieldInfo& field : schema_->fields) {
    const Value value = field.Get(data_.get());
    if (!field.always_printed && value == field.default_value) continue;
    StrAppend(&text, text.empty() ? "" : ", ", field.name, "=", attrs::ToText(value));
  }
  return text;
}

std::string Attrs::ToJson() const {
  Json json = Json::object();
  if (defined()) {
    for (const FieldInfo& field : schema_->fields)
      json[field.name] = ToJsonValue(field.Get(data_.get()));
  }
  // A string need not be UTF-8, but JSON is: other bytes become U+FFFD.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Attrs Attrs::FromJson(const Schema& schema, const std::string& text) {
  const Json json = ParseObject(schema.name, text);
  FieldValues values;
  for (const auto& [name, value] : json.items())
    values[name] = FromJsonValue(StrCat(schema.name, ": field ", name), value);
  return FromFields(schema, values);
}

std::uint64_t Attrs::Hash() const {
  if (!defined()) return 0;
  std::uint64_t hash = HashBytes(schema_->name);
  for (const FieldInfo& field : schema_->fields) hash = attrs::Hash(field.Get(data_.get()), hash);
  return hash;
}

bool operator==(const Attrs& a, const Attrs& b) {
  if (a.schema_ != b.schema_) return false;
  if (!a.defined() || a.data_ == b.data_) return true;
  return std::all_of(
      a.schema_->fields.begin(), a.schema_->fields.end(),
      [&](const FieldInfo& field) { return field.Get(a.data_.get()) == field.Get(b.data_.get()); });
}

}  // namespace tenon::attrs
