#include "tenon/strategies/lower_function.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/visit.h"
#include "tenon/jit/parallel_runtime.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/check_compute.h"
#include "tenon/strategies/strategy.h"
#include "tenon/strategies/te_compute.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/interpret.h"

namespace tenon::strategies {
namespace {

using ir::Expr;
using ir::ExprKind;
using te::Tensor;

using Values = std::unordered_map<Expr, std::vector<Tensor>, ir::ExprHash>;

std::vector<Tensor> Placeholders(const ir::Type& type, const std::string& name) {
  std::vector<Tensor> tensors;
  const auto add = [&](const ir::Type& t, const std::string& n) {
    tensors.push_back(te::Placeholder(ToExprs(ir::StaticShape(t, StrCat("the input ", n))),
                                      t.As<ir::TensorTypeNode>()->dtype, n));
  };
  if (const auto* tuple = type.As<ir::TupleTypeNode>()) {
    for (std::size_t i = 0; i < tuple->fields.size(); ++i)
      add(tuple->fields[i], StrCat(name, "_", i));
  } else {
    add(type, name);
  }
  return tensors;
}

// A rank-0 constant in the code.
Tensor Immediate(const NDArray& data) {
  te::Expr value;
  const DataType t = data.dtype();
  if (t == Float32) {
    value = loop::FloatImm(t, *data.data<float>());
  } else if (t == Float64) {
    value = loop::FloatImm(t, *data.data<double>());
  } else if (t == Int32) {
    value = loop::IntImm(t, *data.data<std::int32_t>());
  } else if (t == Int64) {
    value = loop::IntImm(t, *data.data<std::int64_t>());
  } else {
    CheckInvariant(t.is_bool(), "a constant inside a fused function is a simple scalar");
    value = loop::IntImm(t, *data.data<bool>() ? 1 : 0);
  }
  return te::Compute(
      {}, [&](const std::vector<te::Var>&) { return value; }, "constant");
}

std::vector<Tensor> ComputeCall(const ir::CallNode& call, const std::vector<Tensor>& inputs,
                                const Target& target, Preparer* preparer = nullptr,
                                bool by_winograd = false) {
  const auto* compute = call.op() == nullptr ? nullptr : ops::OpOf(call)->Column<TeCompute>();
  if (compute == nullptr)
    throw Unimplemented(StrCat(call.op() == nullptr ? "a call of a function" : call.op()->name,
                               " has no compute, so no kernel can be made of it"))
        .At(call.span);
  const auto& make =
      by_winograd && compute->make_by_winograd ? compute->make_by_winograd : compute->make;
  const TeCall te_call{call.attrs, inputs, call.checked_type, target, preparer};
  std::vector<Tensor> results = make(te_call);
  RequireResults(call.op()->name, te_call, results);
  return results;
}

// Several results of one shape become outputs of one operation, which computes them in one loop.
std::vector<Tensor> InOneLoop(const std::vector<Tensor>& results) {
  return te::ComputeTuple(
      results[0].shape(),
      [&](const std::vector<te::Var>& i) {
        std::vector<te::Expr> values;
        for (const Tensor& result : results) values.push_back(result[ToExprs(i)]);
        return values;
      },
      "results", "elemwise");
}

bool HaveOneShape(const ir::TupleNode& tuple) {
  return tuple.fields.size() > 1 &&
         std::all_of(tuple.fields.begin(), tuple.fields.end(), [&](const Expr& field) {
           const auto* first = tuple.fields[0].checked_type().As<ir::TensorTypeNode>();
           const auto* type = field.checked_type().As<ir::TensorTypeNode>();
           return first != nullptr && type != nullptr && type->shape == first->shape;
         });
}

}  // namespace

TeFunction LowerFunction(const ir::FunctionNode& function, const LowerFunctionOptions& options) {
  TeFunction lowered;
  Values values;
  for (const Expr& param : function.params) {
    std::vector<Tensor> tensors = Placeholders(param.checked_type(), ir::Var(param).name());
    lowered.params.insert(lowered.params.end(), tensors.begin(), tensors.end());
    values.emplace(param, std::move(tensors));
  }
  std::unordered_set<const te::OperationNode*> constants;
  for (std::size_t i = 0; i < options.is_constant.size(); ++i) {
    if (options.is_constant[i]) constants.insert(lowered.params.at(i).op().get());
  }
  Preparer preparer(std::move(constants));
  ir::VisitPostOrder(function.body, [&](const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kConstant:
        values.emplace(e, std::vector<Tensor>{Immediate(e.As<ir::ConstantNode>()->data)});
        return;
      case ExprKind::kCall: {
        if (e.get() == options.given) {
          values.emplace(e, std::vector<Tensor>{options.given_value});
          return;
        }
        std::vector<Tensor> inputs;
        for (const Expr& arg : e.As<ir::CallNode>()->args) {
          const auto& tensors = values.at(arg);
          inputs.insert(inputs.end(), tensors.begin(), tensors.end());
        }
        values.emplace(
            e, ComputeCall(*e.As<ir::CallNode>(), inputs, options.target,
                           options.is_constant.empty() ? nullptr : &preparer, options.by_winograd));
        return;
      }
      case ExprKind::kTuple: {
        std::vector<Tensor> fields;
        for (const Expr& field : e.As<ir::TupleNode>()->fields) {
          const auto& tensors = values.at(field);
          fields.insert(fields.end(), tensors.begin(), tensors.end());
        }
        values.emplace(e, std::move(fields));
        return;
      }
      case ExprKind::kTupleGetItem: {
        const auto& item = *e.As<ir::TupleGetItemNode>();
        values.emplace(
            e, std::vector<Tensor>{values.at(item.tuple).at(static_cast<std::size_t>(item.index))});
        return;
      }
      case ExprKind::kVar:
      case ExprKind::kOp:
        return;
      case ExprKind::kGlobalVar:
      case ExprKind::kLet:
      case ExprKind::kFunction:
        throw Unimplemented("a fused function holds operator calls only").At(e.span());
    }
  });
  lowered.prepared = preparer.prepared();
  const auto* tuple = function.body.As<ir::TupleNode>();
  if (tuple != nullptr && HaveOneShape(*tuple)) {
    lowered.outputs = InOneLoop(values.at(function.body));
    return lowered;
  }
  // Every result needs storage of its own.
  for (const Tensor& output : values.at(function.body)) {
    bool is_stored_elsewhere = output.op()->is_placeholder();
    for (const Tensor& earlier : lowered.outputs)
      is_stored_elsewhere = is_stored_elsewhere || earlier == output;
    lowered.outputs.push_back(
        is_stored_elsewhere
            ? te::Compute(
                  output.shape(), [&](const std::vector<te::Var>& i) { return output[ToExprs(i)]; },
                  "copy", "elemwise")
            : output);
  }
  return lowered;
}

std::vector<NDArray> EvaluateCall(const ir::CallNode& call, ops::FoldingBudget* budget) {
  RegisterStrategies(ops::OpRegistry::Global());
  // As in kernels, so that a constant and an input of one value give one result.
  const jit::ScopedFlushDenormals flush;
  std::vector<Tensor> inputs;
  std::vector<std::pair<Tensor, NDArray>> given;
  const auto add = [&](const Expr& constant) {
    const NDArray& data = constant.As<ir::ConstantNode>()->data;
    inputs.push_back(te::Placeholder(ToExprs(data.shape()), data.dtype()));
    given.emplace_back(inputs.back(), data);
  };
  for (const Expr& arg : call.args) {
    if (const auto* tuple = arg.As<ir::TupleNode>()) {
      for (const Expr& field : tuple->fields) add(field);
    } else {
      add(arg);
    }
  }
  const std::vector<Tensor> outputs = ComputeCall(call, inputs, jit::HostTarget());
  if (budget != nullptr) {
    const te::Cost cost = te::CostToInterpret(outputs);
    if (!budget->Pay(cost.steps, cost.bytes)) return {};
  }
  return te::Interpret(outputs, given);
}

}  // namespace tenon::strategies
