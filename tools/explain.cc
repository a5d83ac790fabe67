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

std::string Printed(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string ExplainText(const PassDecisions& decisions) {
  return passes::ToText(decisions.folding) + passes::ToText(decisions.fusion);
}

std::string ExplainJson(const PassDecisions& decisions) { return Printed(JsonOf(decisions)); }

std::string ExplainText(const Lowered& lowered, const PassDecisions& decisions) {
  std::string text = ExplainText(decisions);
  for (const LoweredKernel& kernel : lowered.kernels)
    StrAppend(&text, kernel.name, "\n", kernel.choice.explanation);
  return text;
}

std::string ExplainJson(const Lowered& lowered, const PassDecisions& decisions) {
  Json kernels = Json::array();
  for (const LoweredKernel& kernel : lowered.kernels) {
    Json candidates = Json::array();
    for (const std::string& line : StrSplit(kernel.choice.explanation, '\n')) {
      const std::size_t begin = line.find_first_not_of(' ');
      if (begin != std::string::npos) candidates.push_back(line.substr(begin));
    }
    kernels.push_back({{"name", kernel.name},
                       {"implementation", kernel.choice.implementation},
                       {"candidates", std::move(candidates)}});
  }
  Json all = JsonOf(decisions);
  all["kernels"] = std::move(kernels);
  return Printed(all);
}

}  // namespace tenon::tools
