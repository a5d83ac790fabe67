#include "tenon/tools/explain.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "tenon/runtime/origins_text.h"
#include "tenon/schedule/source.h"
#include "tenon/support/strings.h"
#include "tenon/tools/kernel_texts.h"

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
    Json& candidate =
        candidates.emplace_back(Json{{"name", row.name}, {"chosen", i == choice.chosen}});
    if (row.priority != 0) candidate["priority"] = row.priority;
    if (row.cycles) candidate["cycles"] = *row.cycles;
    if (row.refusal) candidate["refusal"] = *row.refusal;
    if (row.measured) candidate["measured"] = *row.measured;
  }
  return candidates;
}

// The nodes of the plan that call a kernel.
std::vector<const runtime::Node*> CallsOf(const Lowered& lowered, std::size_t kernel) {
  std::vector<const runtime::Node*> calls;
  for (const runtime::Node& node : lowered.plan.nodes) {
    if (node.kernel == static_cast<int>(kernel)) calls.push_back(&node);
  }
  return calls;
}

// By which rules the stages of the generated parts are scheduled.
std::vector<schedule::RuleUse> RulesOf(const LoweredKernel& kernel) {
  std::vector<schedule::RuleUse> rules;
  for (const loop::Function& part : GeneratedParts(kernel)) {
    const schedule::LoweringSource* source = schedule::SourceOf(part);
    if (source != nullptr)
      rules.insert(rules.end(), source->rules().begin(), source->rules().end());
  }
  return rules;
}

Json JsonOf(const std::vector<schedule::RuleUse>& rules) {
  Json list = Json::array();
  for (const auto& [rule, reason, stages] : rules)
    list.push_back({{"rule", rule}, {"reason", reason}, {"stages", stages}});
  return list;
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
  for (const ExtentCondition& condition : lowered.plan.conditions)
    StrAppend(&text, "the extents need ", condition.ToString(), "\n");
  for (std::size_t i = 0; i < lowered.kernels.size(); ++i) {
    StrAppend(&text, lowered.kernels[i].name, "\n");
    for (const runtime::Node* node : CallsOf(lowered, i)) {
      if (!node->origins.empty())
        StrAppend(&text, "  computes ", runtime::OriginsText(node->origins), "\n");
    }
    text += lowered.kernels[i].choice.Explanation();
    for (const auto& [rule, reason, stages] : RulesOf(lowered.kernels[i]))
      StrAppend(&text, "  rule: ", rule, " (", reason, "): ", StrJoin(stages, ", "), "\n");
  }
  return text;
}

std::string ExplainJson(const Lowered& lowered, const Target& target,
                        const PassDecisions& decisions) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < lowered.kernels.size(); ++i) {
    const LoweredKernel& kernel = lowered.kernels[i];
    Json nodes = Json::array();
    for (const runtime::Node* node : CallsOf(lowered, i))
      nodes.push_back({{"name", node->name}, {"origins", node->origins}});
    kernels.push_back({{"name", kernel.name},
                       {"implementation", kernel.choice.implementation},
                       {"candidates", JsonOf(kernel.choice)},
                       {"rules", JsonOf(RulesOf(kernel))},
                       {"nodes", std::move(nodes)}});
  }
  Json conditions = Json::array();
  for (const ExtentCondition& condition : lowered.plan.conditions)
    conditions.push_back(condition.ToString());
  Json all = JsonOf(decisions);
  all["target"] = target.ToString();
  all["conditions"] = std::move(conditions);
  all["kernels"] = std::move(kernels);
  return Printed(all);
}

}  // namespace tenon::tools
