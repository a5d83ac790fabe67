#include "tenon/tools/records_json.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/tools/model_file.h"
#include "tenon/tune/record_checks.h"

namespace tenon::tools {
namespace {

using Json = nlohmann::ordered_json;
using tune::Record;
using tune::Records;

// Calls `on` with the name and the value of each column, of a Record that may be constant.
void ForEachColumn(auto& record, const auto& on) {
  on("content", record.content);
  on("target", record.target);
  on("threads", record.threads);
  on("choice", record.choice);
  on("over", record.over);
  on("scope", record.scope);
  on("ratio", record.ratio);
  on("noise", record.noise);
  on("rounds", record.rounds);
  on("least_s", record.least_s);
  on("median_s", record.median_s);
  on("default_least_s", record.default_least_s);
  on("default_median_s", record.default_median_s);
  on("versions", record.versions);
  on("date", record.date);
  on("run", record.run);
  on("shapes", record.shapes);
  on("floor_s", record.floor_s);
}

Json ToJson(tune::Scope scope) { return ToString(scope); }
Json ToJson(const auto& value) { return value; }

void FromJson(const Json& json, tune::Scope* scope) {
  const auto text = json.get<std::string>();
  for (const tune::Scope one : {tune::Scope::kKernel, tune::Scope::kModel, tune::Scope::kWhole}) {
    if (text == ToString(one)) *scope = one;
  }
  if (text != ToString(*scope)) throw InvalidArgument(StrCat("there is no scope '", text, "'"));
}
// A fraction would lose what makes it one.
void FromJson(const Json& json, std::int64_t* value) {
  const auto number =
      json.is_number_integer() ? ParseNumber<std::int64_t>(json.dump()) : std::nullopt;
  if (!number) throw Json::type_error::create(302, "no whole number of 64 bits", &json);
  *value = *number;
}
void FromJson(const Json& json, auto* value) { json.get_to(*value); }

Record RecordOf(const Json& json) {
  Record record;
  ForEachColumn(record, [&](const char* name, auto& value) {
    if (!json.contains(name)) {
      if (name == std::string_view("floor_s")) return;  // earlier versions did not write it
      throw InvalidArgument(StrCat("it has no ", name));
    }
    try {
      FromJson(json.at(name), &value);
    } catch (const Json::exception&) {
      throw InvalidArgument(StrCat("its ", name, " is ", json.at(name).dump()));
    }
  });
  tune::CheckRecord(record);
  return record;
}

}  // namespace

std::string RecordsToJson(const Records& file, const std::vector<Record>& records) {
  Json all = Json::array();
  for (const Record& record : records) {
    Json json;
    ForEachColumn(record, [&](const char* name, const auto& value) { json[name] = ToJson(value); });
    json["text"] = ValueOrThrow(file.TextOf(record.content));
    all.push_back(std::move(json));
  }
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::vector<tune::RecordWithText> RecordsOfJson(const std::string& path) {
  // A value that an error quotes is printed level by level, each of which takes stack.
  constexpr int kMaxDepth = 8;
  const auto check = [&](int depth, Json::parse_event_t, Json&) {
    if (depth > kMaxDepth)
      throw InvalidArgument(StrCat(path, " nests more than ", kMaxDepth, " levels"));
    return true;
  };
  const Json all = Json::parse(ReadWhole(path), check, false);
  if (!all.is_array())
    throw InvalidArgument(StrCat(path, " is no JSON array, as tenon records export writes it"));
  std::vector<tune::RecordWithText> read;
  for (std::size_t i = 0; i < all.size(); ++i) {
    try {
      if (!all[i].is_object() || !all[i].contains("text") || !all[i]["text"].is_string())
        throw InvalidArgument("it is no object with the text of its content");
      read.push_back({RecordOf(all[i]), all[i]["text"].get<std::string>()});
    } catch (const Error& error) {
      throw InvalidArgument(StrCat(path, ": record ", i, ": ", error.message()));
    }
  }
  return read;
}

}  // namespace tenon::tools
