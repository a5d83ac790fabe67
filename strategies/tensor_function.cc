// A call's types bind the variables of the extents; its compute is the same expressions over the
// call's tensors (te/with_inputs.h).
#include "tenon/strategies/tensor_function.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/strategies/author/author_rows.h"
#include "tenon/strategies/author/check_compute.h"
#include "tenon/strategies/author/infer_pattern.h"
#include "tenon/strategies/op_schedule.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/with_inputs.h"

namespace tenon::strategies {
namespace {

using ops::AuthorSite;
using te::Expr;
using te::Tensor;

bool IsExtentOf(const std::vector<Tensor>& inputs, const Expr& var) {
  return std::ranges::any_of(inputs, [&](const Tensor& input) {
    return std::ranges::any_of(input.shape(),
                               [&](const Expr& extent) { return extent.same_as(var); });
  });
}

void Check(const std::string& name, const std::vector<Tensor>& inputs,
           const std::vector<Tensor>& results) {
  const auto refuse = [&](const std::string& reason) {
    throw InvalidArgument(StrCat("tensor function ", name, ": ", reason));
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].op()) refuse(StrCat("input ", i, " is null"));
    if (!inputs[i].op()->is_placeholder())
      refuse(StrCat("input ", inputs[i].name(), " is computed; inputs are placeholders"));
    if (std::find(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(i), inputs[i]) !=
        inputs.begin() + static_cast<std::ptrdiff_t>(i))
      refuse(StrCat("input ", inputs[i].name(), " is given twice"));
  }
  if (results.empty()) refuse("there is no result");
  for (const Tensor& result : results) {
    if (!result.op()) refuse("a result is null");
    if (result.op()->is_placeholder())
      refuse(StrCat("result ", result.name(), " is a placeholder; results are computed"));
  }
  std::vector<std::pair<Tensor, Tensor>> same;
  for (const Tensor& input : inputs) same.emplace_back(input, input);
  te::WithInputs(results, same);  // refuses what is not given
  std::vector<Tensor> all = inputs;
  for (const te::Operation& op : te::PostOrder(results)) {
    for (std::size_t i = 0; i < op->outputs.size(); ++i) all.emplace_back(op, static_cast<int>(i));
  }
  for (const Tensor& tensor : all) {
    for (const Expr& extent : tensor.shape()) {
      loop::VisitExpr(extent, [&](const Expr& e) {
        if (e.kind() == loop::ExprKind::kVar && !IsExtentOf(inputs, e))
          refuse(StrCat("the extent ", loop::Print(extent), " of ", tensor.name(), " uses ",
                        loop::Print(e), ", which is no extent of an input"));
      });
    }
  }
}

// --- types

// The extents that variables stand for in a call.
class Extents {
 public:
  void Learn(ops::TypeCall& call, const Tensor& input, const ir::TensorTypeNode& type) {
    if (type.dtype != input.dtype() || type.shape.size() != input.ndim())
      call.Refuse(StrCat(input.name(), " is ", input.dtype().ToString(), " of ", input.ndim(),
                         " dimensions"));
    for (std::size_t d = 0; d < input.ndim(); ++d) {
      const Dim& dim = type.shape[d];
      const auto* var = input.shape()[d].As<loop::VarNode>();
      if (var == nullptr || dim.is_any()) continue;
      const auto [known, is_new] = values_.emplace(input.shape()[d], dim);
      if (is_new || known->second == dim) continue;
      if (known->second.is_static() && dim.is_static())
        call.Refuse(StrCat("extent ", var->name, " is ", known->second.value(), " and, of ",
                           input.name(), ", ", dim.value()));
      call.AssumeEqual(known->second, dim);
    }
  }

  // "?" where it is not known.
  Dim Of(const Expr& extent) const {
    if (const auto* number = extent.As<loop::IntImmNode>()) return number->value;
    if (const auto value = values_.find(extent); value != values_.end()) return value->second;
    const auto* n = extent.As<loop::BinaryNode>();
    if (n == nullptr) return Dim();
    const Dim a = Of(n->a), b = Of(n->b);
    switch (n->op) {
      case loop::BinaryOp::kAdd:
        return a + b;
      case loop::BinaryOp::kSub:
        return a - b;
      case loop::BinaryOp::kMul:
        return a * b;
      case loop::BinaryOp::kMin:
        return Min(a, b);
      case loop::BinaryOp::kMax:
        return Max(a, b);
      case loop::BinaryOp::kFloorDiv:
        return b.is_static() && b.value() > 0 ? FloorDiv(a, b.value()) : Dim();
      default:
        return Dim();
    }
  }

  ir::Type TypeOf(const Tensor& tensor) const {
    std::vector<ir::Dim> shape;
    for (const Expr& extent : tensor.shape()) shape.push_back(Of(extent));
    return ir::TensorType(std::move(shape), tensor.dtype());
  }

 private:
  std::unordered_map<Expr, Dim, loop::ExprHash, loop::ExprSame> values_;
};

ir::Type TypeOf(const std::vector<Tensor>& tensors, const Extents& extents) {
  std::vector<ir::Type> types;
  for (const Tensor& tensor : tensors) types.push_back(extents.TypeOf(tensor));
  return types.size() == 1 ? types[0] : ir::TupleType(std::move(types));
}

ops::TypeRelation RelationOf(const std::vector<Tensor>& inputs,
                             const std::vector<Tensor>& results) {
  return [inputs, results](ops::TypeCall& call) {
    Extents extents;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (const auto* type = call.tensor(i)) extents.Learn(call, inputs[i], *type);
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) call.LearnInput(i, extents.TypeOf(inputs[i]));
    // A type cannot have a number below 0 as an extent.
    for (const Tensor& result : results) {
      for (const Expr& extent : result.shape()) {
        if (const Dim dim = extents.Of(extent); !dim.is_static()) call.Exceeds(0, dim);
      }
    }
    call.LearnResult(TypeOf(results, extents));
  };
}

// --- the computation

TeMake MakeOf(std::string name, std::vector<Tensor> inputs, std::vector<Tensor> results) {
  return [name = std::move(name), inputs = std::move(inputs),
          results = std::move(results)](const TeCall& call) {
    std::vector<std::pair<Tensor, Tensor>> given;
    loop::ExprMap extents;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      given.emplace_back(inputs[i], call.input(i));
      for (std::size_t d = 0; d < inputs[i].ndim(); ++d) {
        if (inputs[i].shape()[d].kind() == loop::ExprKind::kVar)
          extents.emplace(inputs[i].shape()[d], call.input(i).shape()[d]);
      }
    }
    std::vector<Tensor> made = te::WithInputs(results, given, extents);
    RequireResults(name, call, made);
    return made;
  };
}

Ref<ops::OpDef> Define(const std::string& name, const std::vector<Tensor>& inputs,
                       const std::vector<Tensor>& results, const std::source_location& where) {
  auto op = MakeRef<ops::OpDef>(name, where);
  DefineByTensors({name, where}, inputs, results, op.get());
  return op;
}

Ref<ops::OpDef> Define(const std::string& name, const std::vector<Tensor>& inputs,
                       const schedule::Schedule& schedule, const std::source_location& where) {
  Ref<ops::OpDef> op = Define(name, inputs, schedule.outputs(), where);
  // It runs in a kernel of its own, whose stages are those that the record names.
  op->pattern = ops::OpPattern::kOpaque;
  const std::size_t num_stages = schedule::Schedule(schedule.outputs()).stages().size();
  AddSchedule(
      {name, where},
      [record = schedule.record(), num_stages](const OpSchedule& s) {
        if (s.schedule.stages().size() == num_stages) schedule::Replay(record, s.schedule);
      },
      op.get());
  return op;
}

ir::Expr FunctionOf(const Ref<ops::OpDef>& op, const std::vector<Tensor>& inputs) {
  std::vector<ir::Expr> params;
  for (const Tensor& input : inputs) {
    std::vector<ir::Dim> shape;
    for (const Expr& extent : input.shape()) {
      const auto* var = extent.As<loop::VarNode>();
      shape.push_back(var != nullptr ? Dim::Symbol(var->name) : Extents().Of(extent));
    }
    params.push_back(ir::Var::Make(input.name(), ir::TensorType(std::move(shape), input.dtype())));
  }
  return ir::Function::Make(params, ir::Call::Make(ir::Expr(op), params));
}

}  // namespace

void DefineByTensors(const AuthorSite& site, const std::vector<Tensor>& inputs,
                     const std::vector<Tensor>& results, ops::OpDef* op) {
  Check(site.name, inputs, results);
  for (const Tensor& input : inputs) op->arguments.push_back({input.name(), "Tensor", ""});
  op->type_relation = RelationOf(inputs, results);
  op->relation_name = "tensors";
  op->pattern = PatternOf(inputs, results);
  op->SetColumn(TeCompute{MakeOf(site.name, inputs, results)});
}

ir::Expr TensorOperator(const std::string& name, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& results, std::source_location where) {
  return ir::Expr(Define(name, inputs, results, where));
}
ir::Expr ScheduledOperator(const std::string& name, const std::vector<Tensor>& inputs,
                           const schedule::Schedule& schedule, std::source_location where) {
  return ir::Expr(Define(name, inputs, schedule, where));
}
ir::Expr TensorFunction(const std::string& name, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& results, std::source_location where) {
  return FunctionOf(Define(name, inputs, results, where), inputs);
}
ir::Expr ScheduledFunction(const std::string& name, const std::vector<Tensor>& inputs,
                           const schedule::Schedule& schedule, std::source_location where) {
  return FunctionOf(Define(name, inputs, schedule, where), inputs);
}

}  // namespace tenon::strategies
