// What reads memory runs only where the accesses before it fit (check_list.h). The checks stand
// before the largest statement that they do not depend on.
#include "tenon/jit/bounds/bounds_checks.h"

#include <optional>
#include <utility>

#include "tenon/jit/bounds/check_collector.h"
#include "tenon/jit/bounds/check_list.h"
#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/support/strings.h"

namespace tenon::jit {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::StmtKind;
using loop::Var;

class Guards {
 public:
  Guards(const Stmt& body, const Var& report, std::vector<CheckedAccess>* accesses)
      : report_(report), collector_(body, report, accesses) {}

  // The statement, with each part of it after the checks of its accesses.
  Stmt Guarded(const Stmt& stmt) {
    if (const std::optional<Stmt> checks = collector_.Before(stmt))
      return After(*checks, stmt, stmt);
    switch (stmt.kind()) {
      case StmtKind::kFor: {
        const auto& node = *stmt.As<loop::ForNode>();
        const Stmt head = collector_.Before(std::vector<Expr>{node.min, node.extent});
        collector_.EnterLoop(node.var);
        const Stmt made = loop::Around(node, Guarded(node.body));
        collector_.LeaveLoop();
        return After(head, stmt, made);
      }
      case StmtKind::kSeq: {
        std::vector<Stmt> parts;
        for (const Stmt& part : stmt.As<loop::SeqNode>()->stmts) parts.push_back(Guarded(part));
        return loop::Seq(std::move(parts));
      }
      case StmtKind::kIf: {
        const auto& node = *stmt.As<loop::IfNode>();
        const Stmt other = node.else_case ? Guarded(node.else_case) : Stmt();
        return After(collector_.Before(std::vector<Expr>{node.condition}), stmt,
                     loop::If(node.condition, Guarded(node.then_case), other));
      }
      case StmtKind::kAllocate: {
        const auto& node = *stmt.As<loop::AllocateNode>();
        return After(collector_.Before(node.buffer->shape), stmt,
                     loop::Allocate(node.buffer, Guarded(node.body)));
      }
      case StmtKind::kLet: {
        const auto& node = *stmt.As<loop::LetStmtNode>();
        return After(collector_.Before(std::vector<Expr>{node.value}), stmt,
                     loop::LetStmt(node.var, node.value, Guarded(node.body)));
      }
      case StmtKind::kStore:
      case StmtKind::kEvaluate:
        return stmt;  // its checks are known
    }
    return stmt;
  }

 private:
  // `made`, which was made from `stmt`, after its checks. C functions with effects are not called
  // after an access that does not fit: what they are given may be anything.
  Stmt After(const Stmt& checks, const Stmt& stmt, const Stmt& made) {
    if (checks) return loop::Seq({checks, IfAllFit(report_, made)});
    bool may_repeat = true;
    loop::VisitExprs(stmt,
                     [&](const Expr& e) { may_repeat = may_repeat && collector_.MayRepeat(e); });
    return may_repeat ? made : IfAllFit(report_, made);
  }

  const Var& report_;
  CheckCollector collector_;
};

}  // namespace

CheckedFunction WithBoundsChecks(const loop::Function& function) {
  CheckedFunction made = {.function = function, .accesses = {}};
  const Var report("report");
  const Stmt body = function.body;
  made.function.scalars.push_back(report);
  made.function.body = Guards(body, report, &made.accesses).Guarded(body);
  return made;
}

std::string Describe(const CheckedAccess& access, const BoundsReport& report) {
  constexpr std::size_t kMaxIndex = 200;
  std::string index = loop::Print(access.index);
  if (index.size() > kMaxIndex) index = StrCat(index.substr(0, kMaxIndex), "...");
  std::string shape;
  for (const Expr& extent : access.buffer->shape)
    StrAppend(&shape, shape.empty() ? "" : " x ", loop::Print(extent));
  std::string text =
      StrCat(access.buffer->name, " is ", access.writes ? "written" : "read", " at element ",
             report.index, " of ", report.elements, " (shape ", shape, "): index ", index);
  for (std::size_t i = 0; i < access.loops.size(); ++i) {
    StrAppend(&text, i == 0 ? ", in the loops " : ", ", access.loops[i].name(), " = ",
              report.iteration[i]);
  }
  return text;
}

}  // namespace tenon::jit
