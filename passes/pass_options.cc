#include "tenon/passes/pass_options.h"

#include <algorithm>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

std::string_view Stripped(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

// The parts between commas that stand in no brackets and no quotes.
std::vector<std::string_view> Entries(std::string_view text) {
  std::vector<std::string_view> entries;
  int depth = 0;
  bool is_quoted = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '"') is_quoted = !is_quoted;
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c != ',' || ((depth > 0 || is_quoted) && i < text.size())) continue;
    entries.push_back(Stripped(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  if (entries.size() == 1 && entries[0].empty()) entries.clear();
  return entries;
}

// Texts may stand in quotes, as they are printed.
std::string Unquoted(std::string_view text) {
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return std::string(is_quoted ? text.substr(1, text.size() - 2) : text);
}

attrs::Value ValueOf(std::string_view text) {
  if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
    attrs::List list;
    for (const std::string_view entry : Entries(text.substr(1, text.size() - 2)))
      list.push_back(ValueOf(entry));
    return attrs::Value(std::move(list));
  }
  if (text == "true" || text == "True") return attrs::Value(true);
  if (text == "false" || text == "False") return attrs::Value(false);
  if (text == "None") return {};
  if (const auto integer = ParseNumber<std::int64_t>(text)) return attrs::Value(*integer);
  if (const auto real = ParseNumber<double>(text)) return attrs::Value(*real);
  return attrs::Value(Unquoted(text));
}

bool IsText(const attrs::FieldInfo& field) {
  return field.default_value.As<std::string>() != nullptr;
}

}  // namespace

std::string OptionsForm::ToString() const {
  std::vector<std::string> parts;
  if (schema != nullptr) {
    for (const attrs::FieldInfo& field : schema->fields) {
      std::string value = attrs::ToText(field.default_value);
      if (field.range.choices != nullptr) {
        value = field.range.choices;
        std::replace(value.begin(), value.end(), ' ', '|');
      } else if (field.is_required) {
        value = "...";
      }
      parts.push_back(StrCat(field.name, "=", value));
    }
  }
  if (!further.empty()) parts.push_back(StrCat(further, ", ..."));
  return parts.empty() ? "" : StrCat("{", StrJoin(parts, ", "), "}");
}

GivenOptions ReadOptions(std::string_view text, const OptionsForm& form) {
  GivenOptions given;
  attrs::FieldValues values;
  std::vector<std::string> names;
  if (form.schema != nullptr) {
    for (const attrs::FieldInfo& field : form.schema->fields) names.push_back(field.name);
  }
  std::size_t next = 0;
  for (const std::string_view entry : Entries(text)) {
    if (entry.empty()) throw InvalidArgument("an option is empty");
    given.any = true;
    const std::size_t sign = entry.find('=');
    std::string name(Stripped(entry.substr(0, std::min(sign, entry.size()))));
    const bool is_known = std::find(names.begin(), names.end(), name) != names.end();
    std::string_view value = entry;
    if (sign != std::string_view::npos && is_known) {
      value = Stripped(entry.substr(sign + 1));
    } else if (!form.further.empty()) {
      given.further.emplace_back(entry);
      continue;
    } else if (sign != std::string_view::npos || next >= names.size()) {
      throw InvalidArgument(names.empty()
                                ? StrCat("it has no options, so not ", entry)
                                : StrCat("it has no option ", name, DidYouMean("; ", name, names)));
    } else {
      name = names[next++];
    }
    const attrs::FieldInfo* field = form.schema->Find(name);
    const bool is_new =
        values.emplace(name, IsText(*field) ? attrs::Value(Unquoted(value)) : ValueOf(value))
            .second;
    if (!is_new) throw InvalidArgument(StrCat("the option ", name, " is given twice"));
  }
  if (form.schema != nullptr) given.fields = attrs::Attrs::FromFields(*form.schema, values);
  return given;
}

}  // namespace tenon::passes
