#include "tenon/tools/explain.h"

#include <nlohmann/json.hpp>

#include "tenon/support/strings.h"

namespace tenon::tools {

using Json = nlohmann::ordered_json;

namespace {

Json JsonOf(const PassDecisions& decisions) {
  return {{"folding", Json::parse(passes::ToJson(decisions.folding))},
          {"fusion", Json::parse(passes::ToJson(decisions.fusion))}};
}

Json JsonOf(const strategies::Choice& choice) {
  Json candidates = Json::array();
  for (std::size_t i = 0; i < choice.candidates.size(); ++i) {
    const strategies::Candidate& row = choice.candidates[i];
    Json& candidate = candidates.emplace_back(
        Json{{"name", row.name}, {"priority", row.priority}, {"chosen", i == choice.chosen}});
    if (row.cycles) candidate["cycles"] = *row.cycles;
    if (row.refusal) candidate["refusal"] = *row.refusal;
  }
  return candidates;
}

std::string Printed(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string ExplainText(const PassDecisions& decisions) {
  return passes::ToText(decisions.folding) + passes::ToText(decisions.fusion);
}

std::string ExplainJson(const PassDecisions& decisions) { return Printed(JsonOf(decisions)); }

std::string ExplainText(const Lowered& lowered, const Target& target,
                        const PassDecisions& decisions) {
  std::string text = StrCat("target ", target.ToString(), "\n", ExplainText(decisions));
  for (const LoweredKernel& kernel : lowered.kernels)
    StrAppend(&text, kernel.name, "\n", kernel.choice.Explanation());
  return text;
}

std::string ExplainJson(const Lowered& lowered, const Target& target,
                        const PassDecisions& decisions) {
  Json kernels = Json::array();
  for (const LoweredKernel& kernel : lowered.kernels) {
    kernels.push_back({{"name", kernel.name},
                       {"implementation", kernel.choice.implementation},
                       {"candidates", JsonOf(kernel.choice)}});
  }
  Json all = JsonOf(decisions);
  all["target"] = target.ToString();
  all["kernels"] = std::move(kernels);
  return Printed(all);
}

}  // namespace tenon::tools
