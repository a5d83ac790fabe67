#include "tenon/compiler/symbolic/concrete_module.h"

#include <functional>
#include <map>
#include <utility>

#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::Expr;

// What stands for an extent.
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
    const Expr made =
        ir::Function::Make(function->params, function->body, Concrete(function->ret_type),
                           function->attrs, original.span());
    return made;
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
                                 ir::ToString(after[i].checked_type())))
          .At(before[i].span());
    made.functions.emplace(after[i].As<ir::CallNode>()->callee,
                           before[i].As<ir::CallNode>()->callee);
  }
  return made;
}

}  // namespace

ConcreteModule MakeConcrete(const ir::Module& module, const Dim::Values& values) {
  return Made(module, [&](const Dim& dim) {
    const std::optional<std::int64_t> extent = dim.Evaluate(values);
    if (!extent || *extent < 0)
      throw InvalidArgument(StrCat("the extent ", dim.ToString(), " of a value is ",
                                   extent ? StrCat(*extent) : "too large"));
    return Dim(*extent);
  });
}

ir::Module WithExtents(const ir::Module& module, const Dim::Values& values) {
  std::map<std::string, Dim> numbers;
  for (const auto& [name, value] : values) numbers.emplace(name, value);
  return Made(module, [&](const Dim& dim) { return dim.Substitute(numbers); }).module;
}

}  // namespace tenon::compiler
