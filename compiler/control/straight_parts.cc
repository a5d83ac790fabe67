// Every value is followed to its tensors, through tuples and lets. A kernel belongs to the part
// after the last call that it depends on. So parts exchange only tensors.
#include "tenon/compiler/control/straight_parts.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/extents/count_up_attrs.h"
#include "tenon/ops/extents/extent_attrs.h"
#include "tenon/ops/extents/run_time_cut.h"
#include "tenon/ops/index/index_attrs.h"
#include "tenon/ops/known_ops.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::CallNode;
using ir::Expr;
using ir::ExprKind;
using ir::FunctionNode;
using ir::Type;

Leaves LeavesMadeBy(const Expr& maker) {
  Leaves leaves;
  const std::size_t count = ir::Flatten(maker.checked_type()).size();
  for (std::size_t i = 0; i < count; ++i) leaves.push_back({maker, i});
  return leaves;
}

bool IsFunctionCall(const CallNode& call) { return call.callee.kind() == ExprKind::kGlobalVar; }

// Builds the kernels of one part over its inputs, as expressions.
class PartBuilder {
 public:
  PartBuilder(const StraightParts& parts, const std::vector<Expr>& kernels)
      : parts_(parts), inside_(kernels.begin(), kernels.end()) {
    for (const Expr& kernel : kernels) Add(kernel);
  }

  Part Finish(Leaves outputs) {
    std::vector<Expr> fields;
    std::vector<Type> types;
    for (const Leaf& leaf : outputs) {
      fields.push_back(ExprOf(leaf));
      types.push_back(fields.back().checked_type());
    }
    const Expr result =
        fields.size() == 1 ? fields[0] : ir::Tuple::Make(fields, {}, ir::TupleType(types));
    std::vector<Type> param_types;
    for (const Expr& param : params_) param_types.push_back(param.checked_type());
    const Type type = ir::FuncType(std::move(param_types), result.checked_type());
    return {.function =
                ir::Function::Make(params_, result, result.checked_type(), {}, result.span(), type),
            .inputs = std::move(inputs_),
            .outputs = std::move(outputs)};
  }

 private:
  void Add(const Expr& kernel) {
    const auto& call = *kernel.As<CallNode>();
    std::vector<Expr> args;
    for (const Expr& arg : call.args) {
      std::size_t next = 0;
      args.push_back(ValueOf(arg.checked_type(), parts_.LeavesOf(arg), &next));
    }
    const Expr made = ir::Call::Make(call.callee, std::move(args), call.attrs, kernel.span(),
                                     kernel.checked_type());
    std::size_t next = 0;
    AddOutputs(kernel, made, &next);
  }

  // An expression for each tensor of a kernel's result.
  void AddOutputs(const Expr& kernel, const Expr& value, std::size_t* next) {
    const auto* tuple = value.checked_type().As<ir::TupleTypeNode>();
    if (tuple == nullptr) {
      values_.emplace(Leaf{kernel, (*next)++}, value);
      return;
    }
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      AddOutputs(
          kernel,
          ir::TupleGetItem::Make(value, static_cast<int>(i), kernel.span(), tuple->fields[i]),
          next);
  }

  Expr ValueOf(const Type& type, const Leaves& leaves, std::size_t* next) {
    const auto* tuple = type.As<ir::TupleTypeNode>();
    if (tuple == nullptr) return ExprOf(leaves[(*next)++]);
    std::vector<Expr> fields;
    for (const Type& field : tuple->fields) fields.push_back(ValueOf(field, leaves, next));
    return ir::Tuple::Make(std::move(fields), {}, type);
  }

  Expr ExprOf(const Leaf& leaf) {
    if (leaf.maker.kind() == ExprKind::kConstant) return leaf.maker;
    const auto found = values_.find(leaf);
    if (found != values_.end()) return found->second;
    CheckInvariant(!inside_.contains(leaf.maker), "a kernel comes after those that it reads");
    const Type type = ir::Flatten(leaf.maker.checked_type())[leaf.index];
    const Expr param = ir::Var::MakeChecked(StrCat("x", params_.size()), type, leaf.maker.span());
    params_.push_back(param);
    inputs_.push_back(leaf);
    values_.emplace(leaf, param);
    return param;
  }

  const StraightParts& parts_;
  const std::unordered_set<Expr, ir::ExprHash> inside_;
  std::unordered_map<Leaf, Expr, LeafHash> values_;
  std::vector<Expr> params_;
  Leaves inputs_;
};

}  // namespace

std::vector<Expr> WriteArguments(const Expr& e) {
  const auto* call = e.As<CallNode>();
  const auto* function = call == nullptr ? nullptr : call->callee.As<FunctionNode>();
  const auto* body = function == nullptr ? nullptr : function->body.As<CallNode>();
  if (body == nullptr || !(body->callee == ops::Known().scatter_nd) ||
      body->attrs.As<ops::ScatterNDAttrs>().mode != "update")
    return {};
  std::vector<Expr> arguments;
  for (const Expr& arg : body->args) {
    const auto param = std::find(function->params.begin(), function->params.end(), arg);
    if (param == function->params.end()) return {};
    arguments.push_back(call->args[static_cast<std::size_t>(param - function->params.begin())]);
  }
  const Type& place = arguments[1].checked_type();
  const bool is_one = ir::IsStaticTensor(place) && place.As<ir::TensorTypeNode>()->dtype == Int64 &&
                      ir::StaticShape(place, "a place") == Shape{1};
  return is_one ? arguments : std::vector<Expr>();
}

std::optional<RunTimeCut> AsCut(const Expr& e) {
  const auto* call = e.As<CallNode>();
  const auto* function = call == nullptr ? nullptr : call->callee.As<FunctionNode>();
  const CallNode* cut = function == nullptr ? nullptr : ops::AsRunTimeExtent(function->body);
  if (cut == nullptr) return std::nullopt;
  const auto given = [&](std::size_t i) {
    const Expr& arg = cut->args[i];
    const auto param = std::find(function->params.begin(), function->params.end(), arg);
    return param == function->params.end()
               ? arg
               : call->args[static_cast<std::size_t>(param - function->params.begin())];
  };
  if (ops::AsCountUp(function->body) != nullptr) {
    const auto& attrs = cut->attrs.As<ops::CountUpAttrs>();
    return RunTimeCut{.whole = Expr(),
                      .count = given(0),
                      .extent = attrs.extent,
                      .is_clamped = attrs.is_clamped,
                      .needed_by = attrs.needed_by};
  }
  const auto& attrs = cut->attrs.As<ops::RunTimeCutAttrs>();
  return RunTimeCut{.whole = given(0),
                    .count = given(1),
                    .axis = static_cast<std::size_t>(attrs.axis),
                    .extent = attrs.extent};
}

StraightParts::StraightParts(const Expr& function) {
  const auto& node = *function.As<FunctionNode>();
  for (const Expr& param : node.params) leaves_.emplace(param, LeavesMadeBy(param));
  // A let's value comes before its body, so its variable is known there.
  std::unordered_map<Expr, std::vector<Expr>, ir::ExprHash> waiting;  // variables, by their value
  const auto enter = [&](const Expr& e) {
    const auto* let = e.As<ir::LetNode>();
    if (let != nullptr) {
      const auto known = leaves_.find(let->value);
      if (known != leaves_.end()) {
        leaves_.emplace(let->var, Leaves(known->second));
      } else {
        waiting[let->value].push_back(let->var);
      }
    }
    return e.kind() != ExprKind::kFunction && e.kind() != ExprKind::kIf;
  };
  ir::VisitPostOrder(
      node.body,
      [&](const Expr& e) {
        Number(e);
        const auto vars = waiting.find(e);
        if (vars == waiting.end()) return;
        for (const Expr& var : vars->second) leaves_.emplace(var, Leaves(LeavesOf(e)));
      },
      enter);
  results_ = leaves_.at(node.body);
  MakeParts();
}

void StraightParts::Number(const Expr& e) {
  switch (e.kind()) {
    case ExprKind::kVar:
    case ExprKind::kOp:
    case ExprKind::kGlobalVar:
      return;
    case ExprKind::kFunction:
      if (!e.As<FunctionNode>()->is_primitive())
        throw Unimplemented(
            "a function that is a value cannot be compiled; define it as a function of the module")
            .At(e.span());
      return;
    case ExprKind::kConstant:
      leaves_.emplace(e, LeavesMadeBy(e));
      return;
    case ExprKind::kTuple: {
      Leaves all;
      for (const Expr& field : e.As<ir::TupleNode>()->fields) {
        const Leaves& inner = LeavesOf(field);
        all.insert(all.end(), inner.begin(), inner.end());
      }
      leaves_.emplace(e, std::move(all));
      return;
    }
    case ExprKind::kTupleGetItem: {
      const auto& item = *e.As<ir::TupleGetItemNode>();
      const auto [first, count] = ir::LeavesOfField(item.tuple.checked_type(), item.index);
      const auto begin = LeavesOf(item.tuple).begin() + static_cast<std::ptrdiff_t>(first);
      leaves_.emplace(e, Leaves(begin, begin + static_cast<std::ptrdiff_t>(count)));
      return;
    }
    case ExprKind::kLet:
      leaves_.emplace(e, LeavesOf(e.As<ir::LetNode>()->body));
      return;
    case ExprKind::kIf:  // all that the function is, over its parameters
      calls_.push_back(e);
      stages_.emplace(e, calls_.size());
      leaves_.emplace(e, LeavesMadeBy(e));
      return;
    case ExprKind::kCall:
      break;
  }
  const auto& call = *e.As<CallNode>();
  std::size_t stage = 0;
  for (const Expr& arg : call.args) {
    for (const Leaf& leaf : LeavesOf(arg)) stage = std::max(stage, StageOf(leaf));
  }
  const std::vector<Expr> write = WriteArguments(e);
  const bool is_write = !write.empty() && !is_kernel_.contains(LeavesOf(write[0])[0].maker);
  if (IsFunctionCall(call) || is_write || AsCut(e)) {
    calls_.push_back(e);
    stages_.emplace(e, calls_.size());
  } else {
    kernels_.push_back(e);
    is_kernel_.insert(e);
    stages_.emplace(e, stage);
  }
  leaves_.emplace(e, LeavesMadeBy(e));
}

std::size_t StraightParts::StageOf(const Leaf& leaf) const {
  const auto found = stages_.find(leaf.maker);
  return found == stages_.end() ? 0 : found->second;
}

void StraightParts::MakeParts() {
  std::vector<std::vector<Expr>> kernels(calls_.size() + 1);
  for (const Expr& kernel : kernels_) kernels[stages_.at(kernel)].push_back(kernel);
  // What is read after the part that makes it.
  std::unordered_set<Leaf, LeafHash> read;
  const auto read_all = [&](const Expr& reader, std::size_t stage) {
    if (reader.kind() == ExprKind::kIf) return;
    for (const Expr& arg : reader.As<CallNode>()->args) {
      for (const Leaf& leaf : LeavesOf(arg)) {
        if (StageOf(leaf) < stage) read.insert(leaf);
      }
    }
  };
  for (const Expr& kernel : kernels_) read_all(kernel, stages_.at(kernel));
  for (const Expr& call : calls_) read_all(call, stages_.at(call));
  read.insert(results_.begin(), results_.end());
  for (const std::vector<Expr>& of_part : kernels) {
    Leaves outputs;
    for (const Expr& kernel : of_part) {
      for (const Leaf& leaf : LeavesOf(kernel)) {
        if (read.contains(leaf)) outputs.push_back(leaf);
      }
    }
    if (outputs.empty()) {
      parts_.emplace_back();
    } else {
      parts_.push_back(PartBuilder(*this, of_part).Finish(std::move(outputs)));
    }
  }
}

}  // namespace tenon::compiler
