#include "tenon/tune/jobs.h"

#include <nlohmann/json.hpp>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace nlohmann {

template <>
struct adl_serializer<tenon::strategies::Config::Choice> {
  static void to_json(json& j, const tenon::strategies::Config::Choice& choice) {
    j = {{"name", choice.name}, {"values", choice.values}, {"value", choice.value}};
  }
  static void from_json(const json& j, tenon::strategies::Config::Choice& choice) {
    j.at("name").get_to(choice.name);
    j.at("values").get_to(choice.values);
    j.at("value").get_to(choice.value);
  }
};

template <typename T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& j, const std::optional<T>& value) {
    j = value ? json(*value) : json(nullptr);
  }
  static void from_json(const json& j, std::optional<T>& value) {
    if (!j.is_null()) value = j.get<T>();
  }
};

}  // namespace nlohmann

namespace tenon::tune {

using Json = nlohmann::json;

NLOHMANN_JSON_SERIALIZE_ENUM(Scope, {{Scope::kKernel, "kernel"},
                                     {Scope::kModel, "model"},
                                     {Scope::kWhole, "whole"}})
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Record, content, target, threads, choice, over, scope, ratio,
                                   noise, rounds, least_s, median_s, default_least_s,
                                   default_median_s, versions, date, run, shapes, floor_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MedianRatio, ratio, noise)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Candidate, row, config)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Outcome, choice, choices, record, refused, wrong, crashed,
                                   unmeasured)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(KernelBrief, name, content, text, calls, model_s, floor_s,
                                   race_floor_s, bound, shapes, over, choices, rows)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SettleJob, cpus)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TryJob, content, candidate, known)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DecideJob, wins, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Introduction, host, target, threads, cores)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(ModelBrief, target, versions, threads, kernels)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Decision, records, model, default_model_s, model_s, kept)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Failure, code, message)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Crashed, why)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Lost, why)

// Not by the macro, which takes no type without members.
void to_json(Json& j, const BriefJob& /*job*/) { j = Json::object(); }
void from_json(const Json& /*j*/, BriefJob& /*job*/) {}
void to_json(Json& j, const Settled& /*answer*/) { j = Json::object(); }
void from_json(const Json& /*j*/, Settled& /*answer*/) {}

namespace {

// The names of the alternatives of Job and Answer, in their order.
constexpr const char* kJobs[] = {"settle", "brief", "try", "decide"};
constexpr const char* kAnswers[] = {"introduction", "settled", "brief",   "outcome",
                                    "decision",     "failure", "crashed", "lost"};

template <typename Variant, std::size_t n>
std::string Line(const Variant& value, const char* const (&names)[n]) {
  static_assert(n == std::variant_size_v<Variant>);
  const Json body = std::visit([](const auto& alternative) { return Json(alternative); }, value);
  return Json{{names[value.index()], body}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename Variant, std::size_t n, std::size_t index = 0>
Variant Alternative(const Json& j, const char* const (&names)[n]) {
  if constexpr (index == n) {
    throw InvalidArgument("it is none of those that are known");
  } else {
    if (const auto body = j.find(names[index]); body != j.end())
      return body->template get<std::variant_alternative_t<index, Variant>>();
    return Alternative<Variant, n, index + 1>(j, names);
  }
}

template <typename Variant, std::size_t n>
Variant FromLine(std::string_view text, const char* const (&names)[n], const char* what) {
  try {
    return Alternative<Variant>(Json::parse(text), names);
  } catch (const std::exception& error) {
    throw InvalidArgument(StrCat("this is no ", what, " of this version of Tenon: ",
                                 text.substr(0, 200), ": ", error.what()));
  }
}

}  // namespace

std::string ToJson(const Job& job) { return Line(job, kJobs); }
std::string ToJson(const Answer& answer) { return Line(answer, kAnswers); }
Job JobFromJson(std::string_view text) { return FromLine<Job>(text, kJobs, "job"); }
Answer AnswerFromJson(std::string_view text) { return FromLine<Answer>(text, kAnswers, "answer"); }

}  // namespace tenon::tune
