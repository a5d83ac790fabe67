#include "tenon/loop/stmt.h"

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

template <typename Node, typename... Args>
Stmt Make(Args&&... args) {
  return Stmt(Ref<const StmtNode>(new Node(std::forward<Args>(args)...)));
}

}  // namespace

Stmt Around(const ForNode& loop, const Stmt& body) {
  return For(loop.var, loop.min, loop.extent, loop.for_kind, body);
}
Stmt For(const Var& var, const Expr& min, const Expr& extent, ForKind kind, const Stmt& body) {
  CheckInvariant(static_cast<bool>(body), "a loop has a body");
  CheckInvariant(var.dtype() == Int64 && min.dtype() == Int64 && extent.dtype() == Int64,
                 "loop bounds are int64");
  return Make<ForNode>(var, min, extent, kind, body);
}

Stmt Store(const Buffer& buffer, const Expr& value, std::vector<Expr> indices, StoreKind kind,
           const Expr& predicate) {
  if (value.dtype().element() != buffer->dtype) {
    throw InvalidArgument(StrCat("a ", value.dtype().ToString(), " value is stored to ",
                                 buffer->name, ", which holds ", buffer->dtype.ToString()));
  }
  const Expr mask = IsAllTrue(predicate) ? Expr() : predicate;
  const int lanes = value.dtype().lanes();
  CheckInvariant(!mask.defined() || (lanes > 1 && mask.dtype() == Bool.WithLanes(lanes)),
                 "the predicate of a store of a vector has a bool for each lane");
  return Make<StoreNode>(buffer, value, std::move(indices), kind, mask);
}

Stmt Seq(std::vector<Stmt> stmts) {
  std::vector<Stmt> flat;
  for (Stmt& stmt : stmts) {
    if (!stmt) continue;
    if (const auto* seq = stmt.As<SeqNode>()) {
      flat.insert(flat.end(), seq->stmts.begin(), seq->stmts.end());
    } else {
      flat.push_back(std::move(stmt));
    }
  }
  if (flat.size() == 1) return flat[0];
  return Make<SeqNode>(std::move(flat));
}

Stmt If(const Expr& condition, const Stmt& then_case, const Stmt& else_case) {
  CheckInvariant(condition.dtype() == Bool, "the condition of an if is a scalar bool");
  if (const auto* constant = condition.As<IntImmNode>()) {
    if (constant->value != 0) return then_case;
    return else_case ? else_case : Seq({});
  }
  return Make<IfNode>(condition, then_case, else_case);
}

Stmt Allocate(const Buffer& buffer, const Stmt& body) { return Make<AllocateNode>(buffer, body); }
Stmt LetStmt(const Var& var, const Expr& value, const Stmt& body) {
  return Make<LetStmtNode>(var, value, body);
}
Stmt Evaluate(const Expr& value) { return Make<EvaluateNode>(value); }

const char* ToString(ForKind kind) {
  switch (kind) {
    case ForKind::kSerial:
      return "for";
    case ForKind::kParallel:
      return "parallel";
    case ForKind::kVectorized:
      return "vectorized";
    case ForKind::kUnrolled:
      return "unrolled";
  }
  return "?";
}

}  // namespace tenon::loop
