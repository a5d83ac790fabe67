#include "tenon/loop/visit.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <set>
#include <unordered_set>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "tenon/support/error.h"

namespace tenon::loop {

namespace {

// Calls `on_child` for the operands of a node, in order, until it gives false. Returns whether it
// never did.
template <typename OnChild>
bool EachChild(const Expr& e, OnChild on_child) {
  const auto each = [&](const std::vector<Expr>& children) {
    return std::all_of(children.begin(), children.end(), on_child);
  };
  switch (e.kind()) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kVar:
      return true;
    case ExprKind::kCast:
      return on_child(e.As<CastNode>()->value);
    case ExprKind::kBinary:
      return on_child(e.As<BinaryNode>()->a) && on_child(e.As<BinaryNode>()->b);
    case ExprKind::kNot:
      return on_child(e.As<NotNode>()->a);
    case ExprKind::kSelect: {
      const auto& n = *e.As<SelectNode>();
      return on_child(n.condition) && on_child(n.on_true) && on_child(n.on_false);
    }
    case ExprKind::kLoad: {
      const auto& n = *e.As<LoadNode>();
      return each(n.indices) && (!n.predicate.defined() || on_child(n.predicate));
    }
    case ExprKind::kCall:
      return each(e.As<CallNode>()->args);
    case ExprKind::kExternCall:
      return each(e.As<ExternCallNode>()->args);
    case ExprKind::kAddress:
      return each(e.As<AddressNode>()->indices) && each(e.As<AddressNode>()->extents);
    case ExprKind::kRamp:
      return on_child(e.As<RampNode>()->base) && on_child(e.As<RampNode>()->stride);
    case ExprKind::kBroadcast:
      return on_child(e.As<BroadcastNode>()->value);
    case ExprKind::kShuffle:
      return on_child(e.As<ShuffleNode>()->a) && on_child(e.As<ShuffleNode>()->b);
    case ExprKind::kLet:
      return on_child(e.As<LetNode>()->value) && on_child(e.As<LetNode>()->body);
  }
  Unreachable("the switch over expression kinds is exhaustive");
}

bool IsLeaf(const Expr& e) {
  return e.kind() == ExprKind::kIntImm || e.kind() == ExprKind::kFloatImm ||
         e.kind() == ExprKind::kVar;
}

// Whether a node for which `is_it` holds can be reached; nodes in `seen` were looked at before.
template <typename IsIt>
bool Reaches(const Expr& e, const IsIt& is_it, std::unordered_set<const ExprNode*>* seen) {
  if (is_it(e)) return true;
  if (IsLeaf(e) || !seen->insert(e.get()).second) return false;
  return !EachChild(e, [&](const Expr& child) { return !Reaches(child, is_it, seen); });
}

}  // namespace

std::vector<Expr> Children(const Expr& e) {
  std::vector<Expr> children;
  EachChild(e, [&](const Expr& child) {
    children.push_back(child);
    return true;
  });
  return children;
}

namespace {

Expr Rebuild(const Expr& e, std::vector<Expr> c) {
  switch (e.kind()) {
    case ExprKind::kIntImm:
    case ExprKind::kFloatImm:
    case ExprKind::kVar:
      return e;
    case ExprKind::kCast:
      return Cast(e.dtype(), c[0]);
    case ExprKind::kBinary:
      return Binary(e.As<BinaryNode>()->op, c[0], c[1]);
    case ExprKind::kNot:
      return Not(c[0]);
    case ExprKind::kSelect:
      return e.As<SelectNode>()->lazy ? IfThenElse(c[0], c[1], c[2]) : Select(c[0], c[1], c[2]);
    case ExprKind::kLoad: {
      const auto& n = *e.As<LoadNode>();
      Expr predicate;
      if (n.predicate.defined()) {
        predicate = c.back();
        c.pop_back();
      }
      return Load(n.buffer, std::move(c), n.producer, predicate);
    }
    case ExprKind::kCall:
      return WithArguments(*e.As<CallNode>(), std::move(c));
    case ExprKind::kExternCall:
      return ExternCall(e.As<ExternCallNode>()->callee, std::move(c));
    case ExprKind::kAddress: {
      const auto indices = static_cast<std::ptrdiff_t>(e.As<AddressNode>()->indices.size());
      std::vector<Expr> extents(c.begin() + indices, c.end());
      c.resize(static_cast<std::size_t>(indices));
      return Address(e.As<AddressNode>()->buffer, std::move(c), std::move(extents));
    }
    case ExprKind::kRamp:
      return Ramp(c[0], c[1], e.As<RampNode>()->lanes);
    case ExprKind::kBroadcast:
      return Broadcast(c[0], e.As<BroadcastNode>()->lanes);
    case ExprKind::kShuffle:
      return Shuffle(c[0], c[1], e.As<ShuffleNode>()->lanes);
    case ExprKind::kLet:
      return Let(e.As<LetNode>()->var, c[0], c[1]);
  }
  Unreachable("the switch over expression kinds is exhaustive");
}

struct Walker {
  const std::function<void(const Expr&)>& visit;
  std::unordered_set<const ExprNode*> seen;

  void Walk(const Expr& e) {
    if (!seen.insert(e.get()).second) return;
    EachChild(e, [&](const Expr& child) {
      Walk(child);
      return true;
    });
    visit(e);
  }
};

template <typename OnExpr>
void ExprsOf(const Stmt& stmt, OnExpr on_expr) {
  switch (stmt.kind()) {
    case StmtKind::kFor:
      on_expr(stmt.As<ForNode>()->min);
      on_expr(stmt.As<ForNode>()->extent);
      return;
    case StmtKind::kStore:
      on_expr(stmt.As<StoreNode>()->value);
      for (const Expr& index : stmt.As<StoreNode>()->indices) on_expr(index);
      if (stmt.As<StoreNode>()->predicate.defined()) on_expr(stmt.As<StoreNode>()->predicate);
      return;
    case StmtKind::kIf:
      on_expr(stmt.As<IfNode>()->condition);
      return;
    case StmtKind::kLet:
      on_expr(stmt.As<LetStmtNode>()->value);
      return;
    case StmtKind::kEvaluate:
      on_expr(stmt.As<EvaluateNode>()->value);
      return;
    case StmtKind::kAllocate:
      for (const Expr& extent : stmt.As<AllocateNode>()->buffer->shape) on_expr(extent);
      return;
    case StmtKind::kSeq:
      return;
  }
}

class Substituter : public StmtMutator {
 public:
  explicit Substituter(const ExprMap& values) : values_(values) {}

 protected:
  Expr Mutate(const Expr& e) override {
    const auto found = values_.find(e);
    return found == values_.end() ? MutateChildren(e) : found->second;
  }

 private:
  const ExprMap& values_;
};

}  // namespace

Expr ExprMutator::operator()(const Expr& expr) {
  // Looking a constant up takes longer than changing it again.
  if (expr.kind() == ExprKind::kIntImm || expr.kind() == ExprKind::kFloatImm) return Mutate(expr);
  if (const auto found = memo_.find(expr); found != memo_.end()) return found->second;
  Expr result = Mutate(expr);
  memo_.emplace(expr, result);
  return result;
}

Expr ExprMutator::MutateChildren(const Expr& expr) {
  if (IsLeaf(expr)) return expr;
  absl::InlinedVector<Expr, 4> mutated;
  bool changed = false;
  EachChild(expr, [&](const Expr& child) {
    mutated.push_back((*this)(child));
    changed = changed || !mutated.back().same_as(child);
    return true;
  });
  if (!changed) return expr;
  return Rebuild(
      expr, {std::make_move_iterator(mutated.begin()), std::make_move_iterator(mutated.end())});
}

Stmt StmtMutator::MutateStmtChildren(const Stmt& stmt) {
  switch (stmt.kind()) {
    case StmtKind::kFor: {
      const auto& n = *stmt.As<ForNode>();
      const Expr min = (*this)(n.min), extent = (*this)(n.extent);
      const Stmt body = MutateStmt(n.body);
      if (min.same_as(n.min) && extent.same_as(n.extent) && body == n.body) return stmt;
      return For(n.var, min, extent, n.for_kind, body);
    }
    case StmtKind::kStore: {
      const auto& n = *stmt.As<StoreNode>();
      const Expr value = (*this)(n.value);
      bool changed = !value.same_as(n.value);
      std::vector<Expr> indices = n.indices;
      for (Expr& index : indices) {
        Expr mutated = (*this)(index);
        changed = changed || !mutated.same_as(index);
        index = std::move(mutated);
      }
      Expr predicate = n.predicate;
      if (predicate.defined()) {
        predicate = (*this)(predicate);
        changed = changed || !predicate.same_as(n.predicate);
      }
      return changed ? Store(n.buffer, value, std::move(indices), n.store_kind, predicate) : stmt;
    }
    case StmtKind::kSeq: {
      std::vector<Stmt> stmts = stmt.As<SeqNode>()->stmts;
      bool changed = false;
      for (Stmt& part : stmts) {
        Stmt mutated = MutateStmt(part);
        changed = changed || !(mutated == part);
        part = std::move(mutated);
      }
      return changed ? Seq(std::move(stmts)) : stmt;
    }
    case StmtKind::kIf: {
      const auto& n = *stmt.As<IfNode>();
      const Expr condition = (*this)(n.condition);
      const Stmt then_case = MutateStmt(n.then_case);
      const Stmt else_case = n.else_case ? MutateStmt(n.else_case) : Stmt();
      if (condition.same_as(n.condition) && then_case == n.then_case && else_case == n.else_case)
        return stmt;
      return If(condition, then_case, else_case);
    }
    case StmtKind::kAllocate: {
      const auto& n = *stmt.As<AllocateNode>();
      const Stmt body = MutateStmt(n.body);
      return body == n.body ? stmt : Allocate(n.buffer, body);
    }
    case StmtKind::kLet: {
      const auto& n = *stmt.As<LetStmtNode>();
      const Expr value = (*this)(n.value);
      const Stmt body = MutateStmt(n.body);
      return value.same_as(n.value) && body == n.body ? stmt : LetStmt(n.var, value, body);
    }
    case StmtKind::kEvaluate: {
      const auto& n = *stmt.As<EvaluateNode>();
      const Expr value = (*this)(n.value);
      return value.same_as(n.value) ? stmt : Evaluate(value);
    }
  }
  Unreachable("the switch over statement kinds is exhaustive");
}

void VisitExpr(const Expr& expr, const std::function<void(const Expr&)>& visit) {
  Walker{visit, {}}.Walk(expr);
}

void VisitStmts(const Stmt& stmt, const std::function<void(const Stmt&)>& visit) {
  visit(stmt);
  switch (stmt.kind()) {
    case StmtKind::kFor:
      return VisitStmts(stmt.As<ForNode>()->body, visit);
    case StmtKind::kSeq:
      for (const Stmt& part : stmt.As<SeqNode>()->stmts) VisitStmts(part, visit);
      return;
    case StmtKind::kIf:
      VisitStmts(stmt.As<IfNode>()->then_case, visit);
      if (stmt.As<IfNode>()->else_case) VisitStmts(stmt.As<IfNode>()->else_case, visit);
      return;
    case StmtKind::kAllocate:
      return VisitStmts(stmt.As<AllocateNode>()->body, visit);
    case StmtKind::kLet:
      return VisitStmts(stmt.As<LetStmtNode>()->body, visit);
    case StmtKind::kStore:
    case StmtKind::kEvaluate:
      return;
  }
}

void VisitExprs(const Stmt& stmt, const std::function<void(const Expr&)>& visit) {
  Walker walker{visit, {}};
  VisitStmts(stmt, [&](const Stmt& s) { ExprsOf(s, [&](const Expr& e) { walker.Walk(e); }); });
}

Expr Substitute(const Expr& expr, const ExprMap& values) {
  return values.empty() ? expr : Substituter(values)(expr);
}
Stmt Substitute(const Stmt& stmt, const ExprMap& values) {
  if (values.empty()) return stmt;
  Substituter substituter(values);
  return substituter(stmt);
}

namespace {

class BufferReplacer : public StmtMutator {
 public:
  explicit BufferReplacer(const BufferMap& buffers) : buffers_(buffers) {}

 protected:
  Expr Mutate(const Expr& e) override {
    const Expr mutated = MutateChildren(e);
    if (const auto* n = mutated.As<LoadNode>()) {
      const Buffer* buffer = InsteadOf(n->buffer);
      return buffer == nullptr ? mutated : Load(*buffer, n->indices, nullptr, n->predicate);
    }
    if (const auto* n = mutated.As<AddressNode>()) {
      const Buffer* buffer = InsteadOf(n->buffer);
      return buffer == nullptr ? mutated : Address(*buffer, n->indices, n->extents);
    }
    return mutated;
  }
  Stmt MutateStmt(const Stmt& stmt) override {
    const Stmt mutated = MutateStmtChildren(stmt);
    if (const auto* n = mutated.As<StoreNode>()) {
      const Buffer* buffer = InsteadOf(n->buffer);
      return buffer == nullptr ? mutated
                               : Store(*buffer, n->value, n->indices, n->store_kind, n->predicate);
    }
    if (const auto* n = mutated.As<AllocateNode>()) {
      const Buffer* buffer = InsteadOf(n->buffer);
      return buffer == nullptr ? mutated : Allocate(*buffer, n->body);
    }
    return mutated;
  }

 private:
  const Buffer* InsteadOf(const Buffer& buffer) const {
    const auto found = buffers_.find(buffer);
    return found == buffers_.end() ? nullptr : &found->second;
  }

  const BufferMap& buffers_;
};

}  // namespace

const Buffer* BufferOf(const Stmt& stmt) {
  const auto* store = stmt.As<StoreNode>();
  return store == nullptr ? nullptr : &store->buffer;
}

const Buffer* BufferOf(const Expr& expr) {
  if (const auto* load = expr.As<LoadNode>()) return &load->buffer;
  const auto* address = expr.As<AddressNode>();
  return address == nullptr ? nullptr : &address->buffer;
}

std::optional<std::int64_t> ConstantElements(const Buffer& buffer) {
  std::int64_t elements = 1;
  for (const Expr& extent : buffer->shape) {
    const auto* constant = extent.As<IntImmNode>();
    if (constant == nullptr || __builtin_mul_overflow(elements, constant->value, &elements))
      return std::nullopt;
  }
  return elements;
}

Stmt ReplaceBuffers(const Stmt& stmt, const BufferMap& buffers) {
  return BufferReplacer(buffers)(stmt);
}

bool UsesVar(const Expr& expr, const Var& var) {
  std::unordered_set<const ExprNode*> seen;
  return Reaches(
      expr, [&](const Expr& e) { return e.same_as(var); }, &seen);
}

namespace {

// Remembers which nodes are equal, once it has met some. Two graphs that share their parts have far
// more pairs of paths than of nodes.
class Comparison {
 public:
  bool AreEqual(const Expr& a, const Expr& b) {
    if (a.same_as(b)) return true;
    if (++count_ <= kMaxForgottenPairs) return AreEqualInside(a, b);
    if (equal_.contains({a.get(), b.get()})) return true;
    if (!AreEqualInside(a, b)) return false;
    equal_.emplace(a.get(), b.get());
    return true;
  }

 private:
  static constexpr int kMaxForgottenPairs = 64;

  bool AreEqualInside(const Expr& a, const Expr& b);

  int count_ = 0;
  std::set<std::pair<const ExprNode*, const ExprNode*>> equal_;
};

bool Comparison::AreEqualInside(const Expr& a, const Expr& b) {
  if (a.kind() != b.kind() || a.dtype() != b.dtype()) return false;
  switch (a.kind()) {
    case ExprKind::kIntImm:
      return a.As<IntImmNode>()->value == b.As<IntImmNode>()->value;
    case ExprKind::kFloatImm:
      return std::bit_cast<std::uint64_t>(a.As<FloatImmNode>()->value) ==
             std::bit_cast<std::uint64_t>(b.As<FloatImmNode>()->value);
    case ExprKind::kVar:
    case ExprKind::kLet:
      return false;
    case ExprKind::kBinary:
      if (a.As<BinaryNode>()->op != b.As<BinaryNode>()->op) return false;
      break;
    case ExprKind::kCall:
      if (a.As<CallNode>()->intrinsic != b.As<CallNode>()->intrinsic) return false;
      break;
    case ExprKind::kExternCall:
      if (!(a.As<ExternCallNode>()->callee == b.As<ExternCallNode>()->callee) ||
          a.As<ExternCallNode>()->callee->effect != Effect::kPure)
        return false;
      break;
    case ExprKind::kAddress:
      if (!(a.As<AddressNode>()->buffer == b.As<AddressNode>()->buffer)) return false;
      break;
    case ExprKind::kLoad:
      if (!(a.As<LoadNode>()->buffer == b.As<LoadNode>()->buffer)) return false;
      break;
    case ExprKind::kShuffle:
      if (a.As<ShuffleNode>()->lanes != b.As<ShuffleNode>()->lanes) return false;
      break;
    case ExprKind::kSelect:
    case ExprKind::kCast:
    case ExprKind::kNot:
    case ExprKind::kRamp:
    case ExprKind::kBroadcast:
      break;
  }
  const std::vector<Expr> x = Children(a), y = Children(b);
  if (x.size() != y.size()) return false;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!AreEqual(x[i], y[i])) return false;
  }
  return true;
}

}  // namespace

bool StructuralEqual(const Expr& a, const Expr& b) { return Comparison().AreEqual(a, b); }

}  // namespace tenon::loop
