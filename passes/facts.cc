#include "tenon/passes/facts.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::passes {
namespace {

// Names of operators and functions have no type of their own.
bool IsUntyped(const ir::Expr& e) {
  return !e.checked_type() && e.As<ir::OpNode>() == nullptr && e.As<ir::GlobalVarNode>() == nullptr;
}

bool IsQuantized(const ir::Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  return call != nullptr && call->op() != nullptr && call->op()->name.starts_with("qnn.");
}

// References are read and written outside of kernels.
bool CallsOperator(const ir::Expr& e) {
  const auto* call = e.As<ir::CallNode>();
  if (call == nullptr || call->op() == nullptr) return false;
  const auto is_reference = [](const ir::Expr& value) {
    return value.checked_type().As<ir::RefTypeNode>() != nullptr;
  };
  return !is_reference(e) && std::ranges::none_of(call->args, is_reference);
}

// Whether no expression that `enter` leads to is one of `those`.
bool None(const ir::Expr& root, bool (*those)(const ir::Expr&),
          const std::function<bool(const ir::Expr&)>& enter = nullptr) {
  bool found = false;
  ir::VisitPostOrder(
      root, [&](const ir::Expr& e) { found = found || those(e); }, enter);
  return !found;
}

}  // namespace

std::string_view NameOf(Fact fact) {
  switch (fact) {
    case Fact::kTyped:
      return "typed";
    case Fact::kUnquantized:
      return "unquantized";
    case Fact::kFused:
      return "fused";
  }
  return "";
}

std::string ToText(Facts facts) {
  std::vector<std::string_view> names;
  for (const Fact fact : kAllFacts) {
    if (facts.Has(fact)) names.push_back(NameOf(fact));
  }
  return names.empty() ? "-" : StrJoin(names, ", ");
}

bool Holds(Fact fact, const ir::Module& module) {
  const auto everywhere = [&](bool (*those)(const ir::Expr&)) {
    return std::ranges::all_of(module.functions(),
                               [&](const auto& named) { return None(named.second, those); });
  };
  switch (fact) {
    case Fact::kTyped:
      return everywhere(IsUntyped);
    case Fact::kUnquantized:
      return everywhere(IsQuantized);
    case Fact::kFused: {
      const ir::Expr main = module.Get("main");
      return None(main, CallsOperator, ir::OutsideLiterals(main));
    }
  }
  return false;
}

}  // namespace tenon::passes
