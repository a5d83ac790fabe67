#include "tenon/passes/simplify/simplify_expr.h"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/simplify/simplify_rules.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

// The extents that the call itself, without what it reads, broadcasts together although they may
// differ.
std::vector<std::pair<Dim, Dim>> AssumptionsOf(const Expr& e) {
  const auto* call = e.As<CallNode>();
  if (call == nullptr || call->op() == nullptr) return {};
  std::vector<Expr> args;
  for (const Expr& arg : call->args)
    args.push_back(ir::Var::MakeChecked("x", arg.checked_type(), arg.span()));
  return AssumedEqual(
      ir::Call::Make(call->callee, std::move(args), call->attrs, e.span(), e.checked_type()));
}

// Whether `next` takes only extents that `e` takes. x + zeros of another extent may not be a sum.
bool KeepsAssumptions(const Expr& e, const Expr& next) {
  const auto assumed = AssumptionsOf(e);
  if (assumed.empty()) return true;
  const auto kept = AssumptionsOf(next);
  return std::ranges::all_of(
      assumed, [&](const auto& pair) { return std::ranges::find(kept, pair) != kept.end(); });
}

// Each rule leaves fewer operators or moves a constant outwards, so few rounds suffice.
constexpr int kMaxRounds = 32;

class Simplifier {
 public:
  explicit Simplifier(const Expr& function) : uses_(ir::CountReaders(function)) {}

  Expr Simplify(const Expr& original, const Expr& rebuilt) {
    Expr e = rebuilt;
    const auto* call = e.As<CallNode>();
    if (call != nullptr && call->op() != nullptr && !e.checked_type()) {
      e = InferCall(e);
    } else {
      e = ir::KeepType(original, e);
    }
    for (int round = 0; round < kMaxRounds; ++round) {
      const Expr next = Step(e);
      if (!next) break;
      e = next;
    }
    readers_[e] += uses_[original];
    return e;
  }

 private:
  Expr Step(const Expr& e) const {
    static constexpr std::array<SimplifyRule, 4> kRules = {SimplifyArithmetic, SimplifyCasts,
                                                           SimplifyPads, SimplifyShapes};
    const auto* call = e.As<CallNode>();
    if (call == nullptr || call->op() == nullptr) return Expr();
    const SimplifyContext context{[this](const Expr& value) {
      const auto found = readers_.find(value);
      return found == readers_.end() || found->second == 1;
    }};
    for (const SimplifyRule rule : kRules) {
      if (Expr next = rule(*call, context); next && KeepsAssumptions(e, next)) return next;
    }
    return Expr();
  }

  ir::ReaderCounts uses_;                                // of the original values
  std::unordered_map<Expr, int, ir::ExprHash> readers_;  // of the values that replace them
};

}  // namespace

ir::Module SimplifyExpr(const ir::Module& module) {
  return module.Map([&](const Expr& function) {
    Simplifier simplifier(function);
    return ir::RewritePostOrder(
        function,
        [&](const Expr& original, const Expr& rebuilt) {
          return simplifier.Simplify(original, rebuilt);
        },
        [](const Expr& e) {
          const auto* inner = e.As<ir::FunctionNode>();
          return inner == nullptr || !inner->is_primitive();
        });
  });
}

}  // namespace tenon::passes
