// Value numbering: every value gets a class, the first value that equals it. Nodes are looked up by
// operator, attributes and the classes of their operands, so each is compared with few others.
#include "tenon/passes/simplify/eliminate_common_subexpr.h"

#include <string_view>
#include <unordered_map>
#include <vector>

#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"
#include "tenon/support/hash.h"

namespace tenon::passes {
namespace {

using ir::CallNode;
using ir::Expr;

std::uint64_t Address(const Expr& e) { return reinterpret_cast<std::uintptr_t>(e.get()); }

class Merger {
 public:
  Expr Merge(const Expr& original, const Expr& rebuilt) {
    Expr e = ir::KeepType(original, rebuilt);
    if (!IsNumbered(e)) return e;
    std::vector<Expr>& candidates = table_[HashOf(e)];
    for (const Expr& first : candidates) {
      if (!IsSame(first, e)) continue;
      class_.emplace(e, first);
      // A tuple or scalar alone is not work worth sharing.
      return e.kind() == ir::ExprKind::kCall || e.kind() == ir::ExprKind::kTupleGetItem ? first : e;
    }
    candidates.push_back(e);
    return e;
  }

 private:
  static bool IsNumbered(const Expr& e) {
    if (const auto* constant = e.As<ir::ConstantNode>()) return constant->data.shape().empty();
    if (const auto* call = e.As<CallNode>())
      return call->op() != nullptr && !ops::OpOf(*call)->stateful && !call->args.empty();
    return e.kind() == ir::ExprKind::kTuple || e.kind() == ir::ExprKind::kTupleGetItem;
  }

  Expr ClassOf(const Expr& e) const {
    const auto found = class_.find(e);
    return found == class_.end() ? e : found->second;
  }

  std::uint64_t HashOf(const Expr& e) const {
    std::uint64_t hash = static_cast<std::uint64_t>(e.kind());
    if (const auto* constant = e.As<ir::ConstantNode>())
      return HashBytes(
          std::string_view(static_cast<const char*>(constant->data.raw()), constant->data.bytes()),
          hash);
    for (const Expr& child : ir::Children(e)) hash = CombineHash(hash, Address(ClassOf(child)));
    if (const auto* call = e.As<CallNode>(); call != nullptr && call->attrs.defined())
      hash = CombineHash(hash, call->attrs.Hash());
    if (const auto* item = e.As<ir::TupleGetItemNode>())
      hash = CombineHash(hash, static_cast<std::uint64_t>(item->index));
    return hash;
  }

  bool IsSame(const Expr& a, const Expr& b) const {
    if (a.kind() != b.kind()) return false;
    if (const auto* constant = a.As<ir::ConstantNode>())
      return constant->data.SameBytes(b.As<ir::ConstantNode>()->data);
    const std::vector<Expr> mine = ir::Children(a);
    const std::vector<Expr> others = ir::Children(b);
    if (mine.size() != others.size()) return false;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      if (!(ClassOf(mine[i]) == ClassOf(others[i]))) return false;
    }
    if (const auto* item = a.As<ir::TupleGetItemNode>())
      return item->index == b.As<ir::TupleGetItemNode>()->index;
    const auto* call = a.As<CallNode>();
    return call == nullptr || call->attrs == b.As<CallNode>()->attrs;
  }

  std::unordered_map<std::uint64_t, std::vector<Expr>> table_;
  std::unordered_map<Expr, Expr, ir::ExprHash> class_;  // of values that equal an earlier one
};

}  // namespace

ir::Module EliminateCommonSubexpr(const ir::Module& module) {
  return module.Map([](const Expr& function) {
    Merger merger;
    return ir::RewritePostOrder(
        function,
        [&](const Expr& original, const Expr& rebuilt) { return merger.Merge(original, rebuilt); },
        ir::OutsideLiterals(function));
  });
}

}  // namespace tenon::passes
