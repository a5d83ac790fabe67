#include "tenon/tools/explain.h"

#include <nlohmann/json.hpp>

#include "tenon/support/strings.h"

namespace tenon::tools {

using Json = nlohmann::ordered_json;

std::string ExplainText(const Lowered& lowered, const passes::FusionReport& fusion) {
  std::string text = passes::ToText(fusion);
  for (const LoweredKernel& kernel : lowered.kernels)
    StrAppend(&text, kernel.name, "\n", kernel.choice.explanation);
  return text;
}

std::string ExplainJson(const Lowered& lowered, const passes::FusionReport& fusion) {
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
  const Json all = {{"fusion", Json::parse(passes::ToJson(fusion))},
                    {"kernels", std::move(kernels)}};
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::tools
