#include "tenon/loop/verify.h"

#include <unordered_set>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

class Verifier {
 public:
  explicit Verifier(const Function& function) : function_(function) {}

  void Run() {
    for (const Buffer& buffer : function_.buffers) buffers_.insert(buffer.get());
    for (const Var& scalar : function_.scalars) vars_.insert(scalar.get());
    Check(function_.body);
  }

 private:
  void Require(bool condition, std::string_view rule, std::string_view place) {
    if (!condition) Unreachable(StrCat("function ", function_.name, ": ", rule, ": ", place));
  }
  // Prints what breaks the rule, not what keeps it: the text of an expression that shares its parts
  // may be far longer than the expression.
  template <typename Printed>
  void RequireOf(const Printed& printed, bool condition, std::string_view rule) {
    if (!condition) Require(false, rule, Print(printed));
  }

  void Check(const Expr& expr) {
    std::unordered_set<const ExprNode*> let_vars;
    VisitExpr(expr, [&](const Expr& e) {
      if (const auto* let = e.As<LetNode>()) let_vars.insert(let->var.get());
    });
    VisitExpr(expr, [&](const Expr& e) {
      if (e.kind() == ExprKind::kVar) {
        RequireOf(e, vars_.contains(e.get()) || let_vars.contains(e.get()),
                  "a variable is defined where it is used");
      } else if (const auto* load = e.As<LoadNode>()) {
        Require(buffers_.contains(load->buffer.get()), "a buffer exists where it is read",
                load->buffer->name);
        RequireOf(e, load->indices.size() == 1, "buffers are flat");
      } else if (const auto* address = e.As<AddressNode>()) {
        Require(buffers_.contains(address->buffer.get()), "a buffer exists where it is passed on",
                address->buffer->name);
        RequireOf(e, address->indices.size() == 1, "buffers are flat");
      }
    });
  }

  void Check(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::kFor: {
        const auto& n = *stmt.As<ForNode>();
        Check(n.min);
        Check(n.extent);
        Require(n.for_kind != ForKind::kVectorized, "vectorised loops are expanded", n.var.name());
        const bool parallel = n.for_kind == ForKind::kParallel;
        Require(!parallel || !in_parallel_, "parallel loops do not nest", n.var.name());
        const bool outer = in_parallel_;
        in_parallel_ = in_parallel_ || parallel;
        vars_.insert(n.var.get());
        Check(n.body);
        vars_.erase(n.var.get());
        in_parallel_ = outer;
        return;
      }
      case StmtKind::kStore: {
        const auto& n = *stmt.As<StoreNode>();
        Require(buffers_.contains(n.buffer.get()), "a buffer exists where it is written",
                n.buffer->name);
        Require(n.indices.size() == 1, "buffers are flat", n.buffer->name);
        Check(n.indices[0]);
        Check(n.value);
        RequireOf(stmt, n.value.dtype().lanes() == n.indices[0].dtype().lanes(),
                  "a store has as many values as indices");
        if (n.predicate.defined()) Check(n.predicate);
        return;
      }
      case StmtKind::kSeq:
        for (const Stmt& part : stmt.As<SeqNode>()->stmts) Check(part);
        return;
      case StmtKind::kIf:
        Check(stmt.As<IfNode>()->condition);
        Check(stmt.As<IfNode>()->then_case);
        if (stmt.As<IfNode>()->else_case) Check(stmt.As<IfNode>()->else_case);
        return;
      case StmtKind::kAllocate: {
        const auto& n = *stmt.As<AllocateNode>();
        for (const Expr& extent : n.buffer->shape) Check(extent);
        buffers_.insert(n.buffer.get());
        Check(n.body);
        buffers_.erase(n.buffer.get());
        return;
      }
      case StmtKind::kLet: {
        const auto& n = *stmt.As<LetStmtNode>();
        Check(n.value);
        vars_.insert(n.var.get());
        Check(n.body);
        vars_.erase(n.var.get());
        return;
      }
      case StmtKind::kEvaluate:
        Check(stmt.As<EvaluateNode>()->value);
        return;
    }
  }

  const Function& function_;
  std::unordered_set<const BufferNode*> buffers_;
  std::unordered_set<const ExprNode*> vars_;
  bool in_parallel_ = false;
};

}  // namespace

void Verify(const Function& function) { Verifier(function).Run(); }

}  // namespace tenon::loop
