#include <nlohmann/json.hpp>

#include "tenon/passes/affine/fold_affine.h"
#include "tenon/support/strings.h"

namespace tenon::passes {

std::string ToText(const FoldAffineReport& report) {
  if (report.folded == 0 && report.refusals.empty()) return "";
  std::string text = StrCat("folding: ", report.folded, report.folded == 1 ? " chain" : " chains",
                            " became shorter");
  if (report.flushed > 0)
    StrAppend(&text, ", ", report.flushed, " elements of constants became zero");
  text += "\n";
  for (const std::string& refusal : report.refusals) StrAppend(&text, "    ", refusal, "\n");
  return text;
}

std::string ToJson(const FoldAffineReport& report) {
  const nlohmann::ordered_json json = {
      {"folded", report.folded}, {"flushed", report.flushed}, {"refusals", report.refusals}};
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::passes
