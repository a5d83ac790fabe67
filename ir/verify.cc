#include "tenon/ir/verify.h"

#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/support/strings.h"

namespace tenon::ir {
namespace {

class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  void Check(const std::string& name, const Expr& function) {
    name_ = &name;
    VisitPostOrder(function, [&](const Expr& e) { CheckNode(e); });
    for (const Var& var : FreeVars(function))
      Refuse(var, StrCat("the variable %", var.name(), " is used but bound nowhere"));
  }

 private:
  [[noreturn]] void Refuse(const Expr& e, const std::string& rule) const {
    throw InvalidArgument(StrCat("ill-formed module, in @", *name_, ": ", rule)).At(e.span());
  }

  void Bind(const Expr& var, const Expr& at) {
    if (!bound_.insert(var).second)
      Refuse(at, StrCat("the variable %", var.As<VarNode>()->name, " is bound twice"));
  }

  void CheckNode(const Expr& e) {
    if (const auto* function = e.As<FunctionNode>()) {
      for (const Expr& param : function->params) Bind(param, e);
    } else if (const auto* let = e.As<LetNode>()) {
      Bind(let->var, e);
      if (let->value == let->var)
        Refuse(e, StrCat("let %", let->var.As<VarNode>()->name, " is defined by itself"));
    } else if (const auto* global = e.As<GlobalVarNode>()) {
      if (!module_.Find(global->name))
        Refuse(e, StrCat("@", global->name, " is used but not defined"));
    } else if (const auto* call = e.As<CallNode>()) {
      if (const OpNode* op = call->op()) CheckOpCall(e, *call, *op);
    } else if (const auto* item = e.As<TupleGetItemNode>()) {
      if (const auto* tuple = item->tuple.checked_type().As<TupleTypeNode>();
          tuple != nullptr && item->index >= static_cast<int>(tuple->fields.size()))
        Refuse(e, StrCat("field ", item->index, " of a tuple of ", tuple->fields.size()));
    }
  }

  void CheckOpCall(const Expr& e, const CallNode& call, const OpNode& op) const {
    if (op.num_inputs() >= 0 && static_cast<int>(call.args.size()) != op.num_inputs())
      Refuse(e, StrCat(op.name, " takes ", op.num_inputs(), " arguments and is called with ",
                       call.args.size()));
    if (call.attrs.schema() != op.attrs_schema())
      Refuse(e, StrCat(op.name, op.attrs_schema() == nullptr ? " takes no attributes"
                                                             : " is called without attributes"));
  }

  const Module& module_;
  const std::string* name_ = nullptr;
  std::unordered_set<Expr, ExprHash> bound_;
};

}  // namespace

void VerifyModule(const Module& module) {
  Verifier verifier(module);
  for (const auto& [name, function] : module.functions()) verifier.Check(name, function);
}

}  // namespace tenon::ir
