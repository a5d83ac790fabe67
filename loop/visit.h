// Walking and rewriting expressions and statements.
//
// Expressions are graphs: a node may be reached many ways and is visited once. A rewrite returns
// the very same handle for whatever it did not change, so sharing survives. Depth of recursion is
// the nesting of one kernel's expressions, which fusion bounds.
//
//   Expr doubled = Substitute(e, {{i, i * 2}});
//   VisitExprs(stmt, [&](const Expr& e) { ... });
#ifndef TENON_LOOP_VISIT_H_
#define TENON_LOOP_VISIT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tenon/loop/stmt.h"

namespace tenon::loop {

using ExprMap = std::unordered_map<Expr, Expr, ExprHash, ExprSame>;

// Rewrites bottom-up with a memory of its own. Override Mutate* for the nodes of interest and call
// the base for the rest.
class ExprMutator {
 public:
  virtual ~ExprMutator() = default;
  Expr operator()(const Expr& expr);

 protected:
  // `expr` with rewritten operands; subclasses change it further or answer before.
  virtual Expr Mutate(const Expr& expr) { return MutateChildren(expr); }
  Expr MutateChildren(const Expr& expr);
  void Forget() { memo_.clear(); }

 private:
  ExprMap memo_;
};

// Rewrites statements and the expressions in them.
class StmtMutator : public ExprMutator {
 public:
  using ExprMutator::operator();
  Stmt operator()(const Stmt& stmt) { return MutateStmt(stmt); }

 protected:
  virtual Stmt MutateStmt(const Stmt& stmt) { return MutateStmtChildren(stmt); }
  Stmt MutateStmtChildren(const Stmt& stmt);
};

// The operands of a node, in order.
std::vector<Expr> Children(const Expr& expr);
// Every distinct node of `expr`, operands first.
void VisitExpr(const Expr& expr, const std::function<void(const Expr&)>& visit);
// Every expression of `stmt`, each node once.
void VisitExprs(const Stmt& stmt, const std::function<void(const Expr&)>& visit);
// Every statement, outermost first.
void VisitStmts(const Stmt& stmt, const std::function<void(const Stmt&)>& visit);

// Replaces variables, or whole nodes by identity, all at once.
Expr Substitute(const Expr& expr, const ExprMap& values);
Stmt Substitute(const Stmt& stmt, const ExprMap& values);
bool UsesVar(const Expr& expr, const Var& var);

// Loads, stores, addresses and allocations of the keys become those of the values, at the same
// indices.
using BufferMap = std::unordered_map<Buffer, Buffer, BufferHash>;
Stmt ReplaceBuffers(const Stmt& stmt, const BufferMap& buffers);
// The buffer that a store writes, that a load reads, or whose address is taken. Null for all other
// nodes.
const Buffer* BufferOf(const Stmt& stmt);
const Buffer* BufferOf(const Expr& expr);

// The number of elements of a buffer of constant shape. Nothing if it overflows.
std::optional<std::int64_t> ConstantElements(const Buffer& buffer);

// Whether both have the same content, to the bit for floating constants, and by identity for
// variables and buffers.
bool StructuralEqual(const Expr& a, const Expr& b);

}  // namespace tenon::loop

#endif  // TENON_LOOP_VISIT_H_
