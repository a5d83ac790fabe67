#include "tenon/loop/verify.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::loop {
namespace {

class Verifier {
 public:
  Verifier(const Function& function, Facts facts) : function_(function), facts_(facts) {}

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

  template <typename Printed>
  void CheckIndices(const Printed& access, const Buffer& buffer, const std::vector<Expr>& indices) {
    RequireOf(access, indices.size() == 1 || !facts_.Has(Fact::kFlatBuffers), "buffers are flat");
    RequireOf(access, indices.size() == buffer->shape.size() || !facts_.Has(Fact::kShapedBuffers),
              "an access has one index per dimension");
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
        CheckIndices(e, load->buffer, load->indices);
      } else if (const auto* address = e.As<AddressNode>()) {
        Require(buffers_.contains(address->buffer.get()), "a buffer exists where it is passed on",
                address->buffer->name);
        CheckIndices(e, address->buffer, address->indices);
      }
    });
  }

  void Check(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::kFor: {
        const auto& n = *stmt.As<ForNode>();
        Check(n.min);
        Check(n.extent);
        Require(n.for_kind != ForKind::kVectorized || !facts_.Has(Fact::kNoVectorLoops),
                "vectorised loops are expanded", n.var.name());
        Require(n.for_kind != ForKind::kUnrolled || !facts_.Has(Fact::kNoUnrolledLoops),
                "unrolled loops are expanded", n.var.name());
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
        CheckIndices(stmt, n.buffer, n.indices);
        int lanes = 1;
        for (const Expr& index : n.indices) {
          Check(index);
          lanes = std::max(lanes, index.dtype().lanes());
        }
        Check(n.value);
        RequireOf(stmt, n.value.dtype().lanes() == lanes, "a store has as many values as indices");
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
  const Facts facts_;
  std::unordered_set<const BufferNode*> buffers_;
  std::unordered_set<const ExprNode*> vars_;
  bool in_parallel_ = false;
};

}  // namespace

const char* ToString(Fact fact) {
  switch (fact) {
    case Fact::kShapedBuffers:
      return "shaped buffers";
    case Fact::kFlatBuffers:
      return "flat buffers";
    case Fact::kNoVectorLoops:
      return "no vector loops";
    case Fact::kNoUnrolledLoops:
      return "no unrolled loops";
  }
  Unreachable("the switch over facts is exhaustive");
}

void Verify(const Function& function, Facts facts) { Verifier(function, facts).Run(); }

}  // namespace tenon::loop
