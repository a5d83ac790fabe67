// For numbers, types follow from those of the inputs in one pass, in which operators are asked what
// their calls give. If something does not follow, or is not what the symbolic types promise, types
// are inferred from scratch (passes/infer_type.h). That takes three times as long and says what is
// wrong.
#include "tenon/compiler/symbolic/concrete_module.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::Expr;
using ir::ExprKind;

// Gives what stands for an extent.
using Meaning = std::function<Dim(const Dim& dim)>;

class Maker {
 public:
  explicit Maker(Meaning meaning) : meaning_(std::move(meaning)) {}

  // `type` with what its extents stand for.
  ir::Type Concrete(const ir::Type& type) const {
    if (!type) return type;
    if (const auto* tensor = type.As<ir::TensorTypeNode>()) {
      std::vector<Dim> shape;
      for (const Dim& dim : tensor->shape) shape.push_back(meaning_(dim));
      return ir::TensorType(std::move(shape), tensor->dtype);
    }
    if (const auto* tuple = type.As<ir::TupleTypeNode>()) return ir::TupleType(All(tuple->fields));
    const auto* function = type.As<ir::FuncTypeNode>();
    return ir::FuncType(All(function->params), Concrete(function->result));
  }

  Expr Rewritten(const Expr& original, const Expr& rebuilt) {
    if (const auto* var = original.As<ir::VarNode>())
      return ir::Var::Make(var->name, Concrete(var->type_annotation), original.span());
    const auto* function = rebuilt.As<ir::FunctionNode>();
    if (function == nullptr) return rebuilt;
    try {
      return ir::Function::Make(function->params, function->body, Concrete(function->ret_type),
                                function->attrs, original.span());
    } catch (Error& error) {
      throw error.At(original.span());
    }
  }

 private:
  std::vector<ir::Type> All(const std::vector<ir::Type>& types) const {
    std::vector<ir::Type> all;
    for (const ir::Type& type : types) all.push_back(Concrete(type));
    return all;
  }

  const Meaning meaning_;
};

// The calls of fused functions in @main, in order.
std::vector<Expr> CallsIn(const ir::FunctionNode& main) {
  std::vector<Expr> calls;
  ir::VisitPostOrder(
      main.body,
      [&](const Expr& e) {
        const auto* call = e.As<ir::CallNode>();
        if (call != nullptr && call->callee.As<ir::FunctionNode>() != nullptr) calls.push_back(e);
      },
      [](const Expr& e) { return e.kind() != ir::ExprKind::kFunction; });
  return calls;
}

// Makes a module in one pass. Gives nothing for a module that needs more.
class QuickMaker {
 public:
  explicit QuickMaker(const Meaning& meaning) : maker_(meaning) {}

  std::optional<ConcreteModule> Make(const ir::Module& module) {
    const Expr whole = module.Find("main");
    Expr main;
    try {
      main = ir::RewritePostOrder(whole, [&](const Expr& original, const Expr& rebuilt) {
        return follows_ ? Typed(original, rebuilt) : rebuilt;
      });
    } catch (const Error&) {
      return std::nullopt;
    }
    if (!follows_) return std::nullopt;
    return ConcreteModule{.module = module.With("main", main), .functions = std::move(functions_)};
  }

 private:
  // `rebuilt`, whose children have types, with its own type.
  Expr Typed(const Expr& original, const Expr& rebuilt) {
    switch (original.kind()) {
      case ExprKind::kOp:
      case ExprKind::kConstant:
        return original;
      case ExprKind::kVar:
        return ir::Var::MakeChecked(original.As<ir::VarNode>()->name,
                                    maker_.Concrete(original.checked_type()), original.span());
      case ExprKind::kCall:
        return rebuilt.As<ir::CallNode>()->op() != nullptr ? passes::InferCall(rebuilt)
                                                           : CallOfFunction(original, rebuilt);
      case ExprKind::kTuple: {
        const auto& tuple = *rebuilt.As<ir::TupleNode>();
        return ir::Tuple::Make(tuple.fields, rebuilt.span(), ir::TupleType(TypesOf(tuple.fields)));
      }
      case ExprKind::kTupleGetItem: {
        const auto& item = *rebuilt.As<ir::TupleGetItemNode>();
        const auto& tuple = *item.tuple.checked_type().As<ir::TupleTypeNode>();
        return ir::TupleGetItem::Make(item.tuple, item.index, rebuilt.span(),
                                      tuple.fields[static_cast<std::size_t>(item.index)]);
      }
      case ExprKind::kLet: {
        const auto& let = *rebuilt.As<ir::LetNode>();
        return ir::Let::Make(ir::Var(let.var), let.value, let.body, rebuilt.span(),
                             let.body.checked_type());
      }
      case ExprKind::kFunction: {
        const auto& function = *rebuilt.As<ir::FunctionNode>();
        const ir::Type result = function.body.checked_type();
        return ir::Function::Make(function.params, function.body, result, function.attrs,
                                  rebuilt.span(), ir::FuncType(TypesOf(function.params), result));
      }
      case ExprKind::kGlobalVar:
      case ExprKind::kIf:
        break;
    }
    follows_ = false;
    return rebuilt;
  }

  Expr CallOfFunction(const Expr& original, const Expr& rebuilt) {
    const auto& call = *rebuilt.As<ir::CallNode>();
    const auto* function = call.callee.As<ir::FunctionNode>();
    follows_ = function != nullptr && AreEqual(TypesOf(call.args), TypesOf(function->params)) &&
               ir::Equal(function->ret_type, maker_.Concrete(original.checked_type()));
    if (!follows_) return rebuilt;
    functions_.emplace(call.callee, original.As<ir::CallNode>()->callee);
    return ir::Call::Make(call.callee, call.args, call.attrs, rebuilt.span(), function->ret_type);
  }

  static std::vector<ir::Type> TypesOf(const std::vector<Expr>& exprs) {
    std::vector<ir::Type> types;
    for (const Expr& e : exprs) types.push_back(e.checked_type());
    return types;
  }
  static bool AreEqual(const std::vector<ir::Type>& a, const std::vector<ir::Type>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const ir::Type& x, const ir::Type& y) { return ir::Equal(x, y); });
  }

  const Maker maker_;
  ir::ExprMap functions_;
  bool follows_ = true;
};

ConcreteModule Made(const ir::Module& module, const Meaning& meaning) {
  const ir::FunctionNode& main = module.Main();
  Maker maker(meaning);
  const Expr whole = ir::Function::Make(main.params, main.body, ir::Type(), main.attrs);
  const Expr rewritten =
      ir::RewritePostOrder(whole, [&](const Expr& original, const Expr& rebuilt) {
        return maker.Rewritten(original, rebuilt);
      });
  ConcreteModule made{.module = passes::InferType(module.With("main", rewritten)), .functions = {}};
  const std::vector<Expr> before = CallsIn(main), after = CallsIn(made.module.Main());
  CheckInvariant(before.size() == after.size(), "numbers for extents change no call");
  for (std::size_t i = 0; i < before.size(); ++i) {
    const ir::Type promised = maker.Concrete(before[i].checked_type());
    if (!ir::Equal(promised, after[i].checked_type()))
      throw Unimplemented(StrCat("the type ", ir::ToString(before[i].checked_type()),
                                 " of a value stands for ", ir::ToString(promised), "; here it is ",
                                 ir::ToString(after[i].checked_type()),
                                 ". Where extents that are broadcast together are 0 and 1, compile "
                                 "the model for its shapes"))
          .At(before[i].span());
    made.functions.emplace(after[i].As<ir::CallNode>()->callee,
                           before[i].As<ir::CallNode>()->callee);
  }
  return made;
}

ConcreteModule WithMeaning(const ir::Module& module, const Meaning& meaning) {
  if (std::optional<ConcreteModule> made = QuickMaker(meaning).Make(module))
    return *std::move(made);
  return Made(module, meaning);
}

}  // namespace

ConcreteModule MakeConcrete(const ir::Module& module, const Dim::Values& values) {
  return WithMeaning(module, [&](const Dim& dim) {
    const std::optional<std::int64_t> extent = dim.Evaluate(values);
    if (!extent || *extent < 0)
      throw InvalidArgument(
          StrCat("a value has the extent ", dim.ToString(), ", which is ",
                 extent ? StrCat(*extent, "; it must be at least 0") : std::string("too large")));
    return Dim(*extent);
  });
}

std::map<std::string, Dim> AsDims(const Dim::Values& values) {
  return {values.begin(), values.end()};
}

ConcreteModule WithExtents(const ir::Module& module, const Dim::Values& values) {
  return WithExtents(module, AsDims(values));
}

ConcreteModule WithExtents(const ir::Module& module, const std::map<std::string, Dim>& dims) {
  return WithMeaning(module, [&](const Dim& dim) { return dim.Substitute(dims); });
}

}  // namespace tenon::compiler
