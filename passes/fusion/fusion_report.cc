#include "tenon/passes/fusion/fusion_report.h"

#include <nlohmann/json.hpp>

#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

std::string WithPlace(const ir::Expr& e) {
  return e.span().known() ? StrCat(NodeName(e), " (", e.span().ToString(), ")") : NodeName(e);
}

}  // namespace

std::string NodeName(const ir::Expr& e) {
  if (const auto* item = e.As<ir::TupleGetItemNode>()) return StrCat("field ", item->index);
  if (e.kind() == ir::ExprKind::kTuple) return "tuple";
  const auto* call = e.As<ir::CallNode>();
  if (call == nullptr) return "value";
  return call->op() == nullptr ? "call of a function" : call->op()->name;
}

std::string ToText(const FusionReport& report) {
  std::string text;
  for (const FusionDecision& decision : report) {
    StrAppend(&text, WithPlace(decision.producer), " -> ", WithPlace(decision.consumer),
              decision.fused ? ": fused, " : ": not fused, ", decision.reason, "\n");
    if (!decision.hint.empty()) StrAppend(&text, "    would change it: ", decision.hint, "\n");
  }
  return text;
}

std::string ToJson(const FusionReport& report) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const FusionDecision& decision : report)
    json.push_back({{"producer", WithPlace(decision.producer)},
                    {"consumer", WithPlace(decision.consumer)},
                    {"fused", decision.fused},
                    {"reason", decision.reason},
                    {"hint", decision.hint}});
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace tenon::passes
