// Evaluates on demand with an explicit stack. It has its own order, because a let's value must come
// before its body. A function that is called is evaluated with the values that it reads from the
// calling function.
#include "tenon/verify/interpret.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/extents/count_up_attrs.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/extents/run_time_cut.h"
#include "tenon/ops/known_ops.h"
#include "tenon/passes/infer_type.h"
#include "tenon/passes/quantize/canonicalize_qnn.h"
#include "tenon/runtime/count_up.h"
#include "tenon/strategies/lower_function.h"
#include "tenon/strategies/strategy.h"
#include "tenon/support/error.h"
#include "tenon/support/part_along.h"
#include "tenon/support/strings.h"

namespace tenon::verify {
namespace {

using ir::Expr;
using ir::ExprKind;

// The maximum depth of calls, each of which takes stack here. A call in the last place of its
// function does not count.
constexpr int kMaxCallDepth = 500;

std::size_t Fields(const ir::Type& type) {
  if (const auto* reference = type.As<ir::RefTypeNode>()) return Fields(reference->value);
  const auto* tuple = type.As<ir::TupleTypeNode>();
  if (tuple == nullptr) return 1;
  std::size_t fields = 0;
  for (const ir::Type& field : tuple->fields) fields += Fields(field);
  return fields;
}

class Evaluator {
 public:
  Evaluator(const ir::Module& module, GraphValues values, const ValueChange& change, int depth)
      : module_(module), values_(std::move(values)), change_(change), depth_(depth) {
    if (depth > kMaxCallDepth)
      throw OutOfRange(StrCat("functions call each other more than ", kMaxCallDepth,
                              " deep; the interpreter goes no deeper"));
  }

  const GraphValue& Evaluate(const Expr& root) {
    std::vector<Expr> stack = {root};
    while (!stack.empty()) {
      const Expr e = stack.back();
      if (values_.contains(e)) {
        stack.pop_back();
        continue;
      }
      const Expr missing = FirstMissing(e);
      if (missing) {
        stack.push_back(missing);
        continue;
      }
      GraphValue value = ValueOf(e);
      values_.emplace(e, std::move(value));
      stack.pop_back();
    }
    return values_.at(root);
  }
  GraphValues Take() { return std::move(values_); }

 private:
  // What a function's body comes to: a value, or the call of another function in its place.
  struct Outcome {
    GraphValue value;
    const ir::FunctionNode* callee = nullptr;
    std::vector<GraphValue> arguments;
    bool has_chosen = false;  // whether an if led there
  };
  Outcome EvaluateBody(const Expr& body) {
    Expr e = body;
    bool has_chosen = false;
    while (true) {
      if (const auto* let = e.As<ir::LetNode>()) {
        values_.emplace(let->var, GraphValue(Evaluate(let->value)));
        e = let->body;
      } else if (const auto* branches = e.As<ir::IfNode>()) {
        Evaluate(branches->condition);
        e = Taken(*branches);
        has_chosen = true;
      } else {
        break;
      }
    }
    const auto* call = e.As<ir::CallNode>();
    const auto* global = call == nullptr ? nullptr : call->callee.As<ir::GlobalVarNode>();
    if (global == nullptr || values_.contains(e)) return {Evaluate(e), nullptr, {}, has_chosen};
    Outcome outcome{{}, module_.Get(global->name).As<ir::FunctionNode>(), {}, has_chosen};
    for (const Expr& arg : call->args) outcome.arguments.push_back(Evaluate(arg));
    return outcome;
  }

  // The branch that runs; the condition has its value.
  Expr Taken(const ir::IfNode& branches) const {
    return *values_.at(branches.condition).at(0).data<bool>() ? branches.then_branch
                                                              : branches.else_branch;
  }

  // The expression that must be evaluated before `e`; null when there is none.
  Expr FirstMissing(const Expr& e) {
    if (const auto* let = e.As<ir::LetNode>()) {
      const auto value = values_.find(let->value);
      if (value == values_.end()) return let->value;
      values_.emplace(let->var, value->second);
      return values_.contains(let->body) ? Expr() : let->body;
    }
    if (const auto* branches = e.As<ir::IfNode>()) {
      if (!values_.contains(branches->condition)) return branches->condition;
      const Expr taken = Taken(*branches);
      return values_.contains(taken) ? Expr() : taken;
    }
    if (e.kind() == ExprKind::kFunction) return {};
    const std::vector<Expr> children = ir::Children(e);
    for (std::size_t i = 0; i < children.size(); ++i) {
      const ExprKind kind = children[i].kind();
      const bool is_callee =
          i == 0 && e.kind() == ExprKind::kCall &&
          (kind == ExprKind::kOp || kind == ExprKind::kGlobalVar || kind == ExprKind::kFunction);
      if (!is_callee && !values_.contains(children[i])) return children[i];
    }
    return {};
  }

  GraphValue ValueOf(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kConstant:
        return Changed({e.As<ir::ConstantNode>()->data}, e);
      case ExprKind::kCall:
        return CallValue(e);
      case ExprKind::kTuple: {
        GraphValue fields;
        for (const Expr& field : e.As<ir::TupleNode>()->fields) {
          const GraphValue& value = values_.at(field);
          fields.insert(fields.end(), value.begin(), value.end());
        }
        return fields;
      }
      case ExprKind::kTupleGetItem: {
        const auto& item = *e.As<ir::TupleGetItemNode>();
        const auto* type = item.tuple.checked_type().As<ir::TupleTypeNode>();
        CheckInvariant(type != nullptr, "a projection of a checked type is of a tuple");
        std::size_t first = 0;
        for (int i = 0; i < item.index; ++i)
          first += Fields(type->fields[static_cast<std::size_t>(i)]);
        const GraphValue& tuple = values_.at(item.tuple);
        const auto begin = tuple.begin() + static_cast<std::ptrdiff_t>(first);
        return {begin, begin + static_cast<std::ptrdiff_t>(Fields(e.checked_type()))};
      }
      case ExprKind::kLet:
        return values_.at(e.As<ir::LetNode>()->body);
      case ExprKind::kIf:
        return values_.at(Taken(*e.As<ir::IfNode>()));
      case ExprKind::kVar:
        throw InvalidArgument(StrCat("%", ir::Var(e).name(), " has no value")).At(e.span());
      case ExprKind::kOp:
      case ExprKind::kGlobalVar:
      case ExprKind::kFunction:
        throw Unimplemented("a function that is a value cannot be interpreted").At(e.span());
    }
    Unreachable("the switch over expression kinds is exhaustive");
  }

  GraphValue CallValue(const Expr& e) {
    const auto& call = *e.As<ir::CallNode>();
    const auto& known = ops::Known();
    if (call.callee == known.compiler_begin || call.callee == known.compiler_end ||
        call.callee == known.on_device)
      return values_.at(call.args[0]);  // tuples, too
    if (call.op() != nullptr) return Changed(OperatorValue(e, call), e);
    Expr callee = call.callee;
    const bool is_global = callee.kind() == ExprKind::kGlobalVar;
    if (is_global) callee = module_.Get(callee.As<ir::GlobalVarNode>()->name);
    const auto& function = *callee.As<ir::FunctionNode>();
    GraphValues inner;
    if (!is_global) {
      for (const ir::Var& var : ir::FreeVars(callee)) inner.emplace(var, Evaluate(var));
    }
    for (std::size_t i = 0; i < function.params.size(); ++i)
      inner.insert_or_assign(function.params[i], values_.at(call.args[i]));
    const Expr* body = &function.body;
    std::size_t forced = 0;  // calls that no if led to
    while (true) {
      Evaluator evaluator(module_, std::move(inner), change_, depth_ + 1);
      Outcome outcome = evaluator.EvaluateBody(*body);
      if (outcome.callee == nullptr) return std::move(outcome.value);
      forced = outcome.has_chosen ? 0 : forced + 1;
      if (forced > module_.functions().size())
        throw OutOfRange("functions call each other without a condition, and so without end");
      inner.clear();
      for (std::size_t i = 0; i < outcome.arguments.size(); ++i)
        inner.insert_or_assign(outcome.callee->params[i], std::move(outcome.arguments[i]));
      body = &outcome.callee->body;
    }
  }

  GraphValue Changed(GraphValue value, const Expr& of) const {
    if (change_) {
      for (NDArray& array : value) array = change_(array, of);
    }
    return value;
  }

  // A reference is the arrays of its value, which writes change.
  static std::optional<GraphValue> ReferenceValue(const ir::OpNode& op,
                                                  const std::vector<const GraphValue*>& args) {
    GraphValue value;
    if (op.name == "ref" || op.name == "ref_read") {
      for (const NDArray& array : *args[0]) value.push_back(array.Clone());
      return value;
    }
    if (op.name != "ref_write") return std::nullopt;
    for (std::size_t i = 0; i < args[0]->size(); ++i) {
      const NDArray &to = (*args[0])[i], &from = (*args[1])[i];
      if (to.bytes() != 0) std::memcpy(to.raw(), from.raw(), to.bytes());
    }
    return value;
  }

  GraphValue OperatorValue(const Expr& e, const ir::CallNode& call) {
    std::vector<const GraphValue*> given;
    for (const Expr& arg : call.args) given.push_back(&values_.at(arg));
    if (auto value = ReferenceValue(*call.op(), given)) return *std::move(value);
    std::vector<Expr> args;
    for (const Expr& arg : call.args) {
      std::vector<Expr> constants;
      for (const NDArray& array : values_.at(arg)) constants.push_back(ir::Constant::Make(array));
      const bool is_tuple = arg.checked_type().As<ir::TupleTypeNode>() != nullptr;
      args.push_back(is_tuple ? ir::Tuple::Make(std::move(constants)) : constants.at(0));
    }
    if (ops::AsRunTimeCut(e) != nullptr) return {Cut(call, *given[0], *given[1])};
    if (ops::AsCountUp(e) != nullptr) {
      const auto& attrs = call.attrs.As<ops::CountUpAttrs>();
      return {runtime::CountUp(*given[0]->at(0).data<std::int64_t>(), attrs.is_clamped,
                               attrs.needed_by)};
    }
    if (call.op()->name.starts_with("qnn."))
      return QuantizedValue(ir::Call::Make(call.callee, args, call.attrs, e.span()));
    const auto has_variables = [](const Expr& value) { return HasVariables(value.checked_type()); };
    if (has_variables(e) || std::ranges::any_of(call.args, has_variables)) {
      const Expr made = passes::InferType(ir::Call::Make(call.callee, args, call.attrs, e.span()));
      return strategies::EvaluateCall(*made.As<ir::CallNode>());
    }
    const Expr made = ir::Call::Make(call.callee, args, call.attrs, e.span(), e.checked_type());
    return strategies::EvaluateCall(*made.As<ir::CallNode>());
  }

  static NDArray Cut(const ir::CallNode& call, const GraphValue& data, const GraphValue& count) {
    const auto axis = static_cast<std::size_t>(call.attrs.As<ops::RunTimeCutAttrs>().axis);
    const std::int64_t wanted = *count.at(0).data<std::int64_t>();
    return PartAlong(data.at(0), axis, 0,
                     std::clamp<std::int64_t>(wanted, 0, data.at(0).shape().at(axis)));
  }

  // The extents of the values say what they are here.
  static bool HasVariables(const ir::Type& type) {
    return std::ranges::any_of(ir::Flatten(type), [](const ir::Type& part) {
      return part.As<ir::TensorTypeNode>() != nullptr && !ir::IsStaticTensor(part);
    });
  }

  // Quantised operators mean what they are rewritten to.
  static GraphValue QuantizedValue(const Expr& call) {
    const ir::Module module = ir::Module().With("main", ir::Function::Make({}, call));
    return Interpret(passes::CanonicalizeQnn(passes::InferType(module)), {});
  }

  const ir::Module& module_;
  GraphValues values_;
  const ValueChange& change_;
  const int depth_;
};

void CheckInput(const ir::Expr& param, const GraphValue& value) {
  const auto* type = param.checked_type().As<ir::TensorTypeNode>();
  if (type == nullptr) return;
  const auto fits = [](std::int64_t extent, const Dim& dim) {
    return !dim.is_static() || dim.value() == extent;
  };
  if (value.size() != 1 || value[0].dtype() != type->dtype ||
      !std::ranges::equal(value[0].shape(), type->shape, fits))
    throw InvalidArgument(StrCat(
        "the input %", ir::Var(param).name(), " must be ", ir::ToString(param.checked_type()),
        ", not ",
        value.empty() ? "nothing"
                      : StrCat(value[0].dtype().ToString(), " ", ShapeToString(value[0].shape()))));
}

}  // namespace

GraphValues InterpretEach(const ir::Module& module, const ir::FunctionNode& function,
                          const std::vector<NDArray>& inputs, const ValueChange& change) {
  strategies::RegisterStrategies(ops::OpRegistry::Global());
  GraphValues values;
  std::size_t next = 0;
  for (const Expr& param : function.params) {
    GraphValue value;
    for (std::size_t i = Fields(param.checked_type()); i > 0; --i) {
      if (next == inputs.size())
        throw InvalidArgument(StrCat("the input %", ir::Var(param).name(),
                                     " is missing: ", inputs.size(), " inputs are given"));
      value.push_back(inputs[next++]);
    }
    CheckInput(param, value);
    values.emplace(param, std::move(value));
  }
  if (next != inputs.size())
    throw InvalidArgument(StrCat(inputs.size(), " inputs are given; the function takes ", next));
  Evaluator evaluator(module, std::move(values), change, 0);
  evaluator.Evaluate(function.body);
  return evaluator.Take();
}

std::vector<NDArray> Interpret(const ir::Module& module, const std::vector<NDArray>& inputs,
                               const ValueChange& change) {
  const ir::FunctionNode& main = module.Main();
  return InterpretEach(module, main, inputs, change).at(main.body);
}

}  // namespace tenon::verify
