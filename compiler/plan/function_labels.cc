#include "tenon/compiler/plan/function_labels.h"

#include <algorithm>

#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/support/hash.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::Expr;

constexpr std::size_t kMaxName = 80;

std::vector<std::string> OriginsOf(const ir::FunctionNode& function) {
  std::vector<std::string> origins;
  ir::VisitPostOrder(function.body, [&](const Expr& e) {
    if (e.kind() != ir::ExprKind::kCall || !e.span().known()) return;
    std::string origin = e.span().ToString();
    if (std::find(origins.begin(), origins.end(), origin) == origins.end())
      origins.push_back(std::move(origin));
  });
  return origins;
}

}  // namespace

FunctionLabels LabelsOf(const Expr& function) {
  const auto& node = *function.As<ir::FunctionNode>();
  return {.name = NameOfFunction(node),
          .origins = OriginsOf(node),
          .hash = ir::StructuralHash(function)};
}

std::string NameOfFunction(const ir::FunctionNode& function) {
  std::string name = "fused";
  ir::VisitPostOrder(function.body, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    if (call != nullptr && call->op() != nullptr) StrAppend(&name, "_", call->op()->name);
  });
  std::replace(name.begin(), name.end(), '.', '_');
  if (name.size() <= kMaxName) return name;
  const std::string text = HashText(HashBytes(name));
  return StrCat(name.substr(0, kMaxName - 1 - text.size()), "_", text);
}

}  // namespace tenon::compiler
