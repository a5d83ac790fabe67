#include "tenon/strategies/lower_function.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "tenon/ir/flatten.h"
#include "tenon/ir/visit.h"
#include "tenon/jit/runtime/parallel_runtime.h"
#include "tenon/ops/registry.h"
#include "tenon/strategies/author/check_compute.h"
#include "tenon/strategies/choice/te_forms.h"
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

std::vector<Tensor> Placeholders(const ir::Type& type, const std::string& name,
                                 SymbolVars* symbols) {
  const bool is_tuple = type.As<ir::TupleTypeNode>() != nullptr;
  std::vector<Tensor> tensors;
  for (const ir::Type& leaf : ir::Flatten(type)) {
    const auto& tensor = *leaf.As<ir::TensorTypeNode>();
    tensors.push_back(te::Placeholder(symbols->ExprsOf(tensor.shape), tensor.dtype,
                                      is_tuple ? StrCat(name, "_", tensors.size()) : name));
  }
  return tensors;
}

// A rank-0 constant in the code.
Tensor Immediate(const NDArray& data) {
  CheckInvariant(data.shape().empty(), "a constant inside a fused function has rank 0");
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
    CheckInvariant(t.is_bool(), "a constant inside a fused function is a number of the code");
    value = loop::IntImm(t, *data.data<bool>() ? 1 : 0);
  }
  return te::Compute(
      {}, [&](const std::vector<te::Var>&) { return value; }, "constant");
}

const TeCompute& ComputeOf(const ir::CallNode& call) {
  const auto* compute = call.op() == nullptr ? nullptr : ops::OpOf(call)->Column<TeCompute>();
  if (compute == nullptr)
    throw Unimplemented(StrCat(call.op() == nullptr ? "a call of a function" : call.op()->name,
                               " has no compute, so no kernel can be made of it"))
        .At(call.span);
  return *compute;
}

std::vector<Tensor> ComputeCall(const ir::CallNode& call, const TeCall& te_call,
                                const TeForm* form = nullptr) {
  const TeCompute& compute = ComputeOf(call);
  std::vector<Tensor> results = (form != nullptr ? form->make : MakeOf(compute, te_call))(te_call);
  RequireResults(call.op()->name, te_call, results);
  return results;
}

// The form that suits all calls, which defines the operator; null where there is one way only.
const TeForm* DefinitionOf(const ir::CallNode& call) {
  const std::vector<TeForm>& forms = ComputeOf(call).forms;
  return forms.empty() ? nullptr : &forms.back();
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
      "results");
}

bool HaveOneShape(const ir::TupleNode& tuple) {
  return tuple.fields.size() > 1 &&
         std::all_of(tuple.fields.begin(), tuple.fields.end(), [&](const Expr& field) {
           const auto* first = tuple.fields[0].checked_type().As<ir::TensorTypeNode>();
           const auto* type = field.checked_type().As<ir::TensorTypeNode>();
           return first != nullptr && type != nullptr && type->shape == first->shape;
         });
}

// The expressions of a function as tensors, in the order in which they are visited.
class Lowering {
 public:
  Lowering(const ir::FunctionNode& function, const LowerFunctionOptions& options)
      : options_(options) {
    for (const Expr& param : function.params) {
      std::vector<Tensor> tensors =
          Placeholders(param.checked_type(), ir::Var(param).name(), &symbols_);
      params_.insert(params_.end(), tensors.begin(), tensors.end());
      values_.emplace(param, std::move(tensors));
    }
    std::unordered_set<const te::OperationNode*> constants;
    for (std::size_t i = 0; i < options.is_constant.size(); ++i) {
      if (options.is_constant[i]) constants.insert(params_.at(i).op().get());
    }
    preparer_.emplace(std::move(constants));
  }

  const std::vector<Tensor>& params() const { return params_; }
  const std::vector<PreparedTensor>& prepared() const { return preparer_->prepared(); }
  const std::vector<Tensor>& ValueOf(const Expr& e) const { return values_.at(e); }
  const std::vector<Tensor>& formed_inputs() const { return formed_inputs_; }
  const std::vector<Tensor>& formed_results() const { return formed_results_; }

  // Lowers `e` and all that it reads.
  void Visit(const Expr& root) {
    ir::VisitPostOrder(
        root, [&](const Expr& e) { VisitOne(e); }, ir::OutsideLiterals(root));
  }

  // Calls `use` with the call as computes see it; what it reads must be visited.
  template <typename Use>
  auto WithCall(const ir::CallNode& call, const Use& use) {
    const std::vector<Tensor> inputs = TensorsOf(call.args);
    std::vector<ir::Type> types;
    for (const Expr& arg : call.args) {
      const std::vector<ir::Type> fields = ir::Flatten(arg.checked_type());
      types.insert(types.end(), fields.begin(), fields.end());
    }
    return use(TeCall{call.attrs, inputs, call.checked_type, options_.target,
                      options_.is_constant.empty() ? nullptr : &*preparer_, &symbols_,
                      std::move(types), &call == options_.formed ? options_.config : nullptr,
                      options_.keeps_order});
  }

 private:
  std::vector<Tensor> TensorsOf(const std::vector<Expr>& parts) const {
    std::vector<Tensor> all;
    for (const Expr& part : parts) {
      const std::vector<Tensor>& tensors = values_.at(part);
      all.insert(all.end(), tensors.begin(), tensors.end());
    }
    return all;
  }

  std::vector<Tensor> CallValue(const ir::CallNode& call) {
    if (&call == options_.given) return {options_.given_value};
    const TeForm* form = &call == options_.formed ? options_.form
                         : options_.plain_forms   ? DefinitionOf(call)
                                                  : nullptr;
    return WithCall(call, [&](const TeCall& te_call) {
      std::vector<Tensor> results = Computed(call, te_call, form);
      if (&call == options_.formed) {
        formed_inputs_ = te_call.inputs;
        formed_results_ = results;
      }
      return results;
    });
  }

  // Refusals of expressions do not know which call they are for, nor where it is.
  static std::vector<Tensor> Computed(const ir::CallNode& call, const TeCall& te_call,
                                      const TeForm* form) {
    try {
      return ComputeCall(call, te_call, form);
    } catch (const Error& error) {
      if (error.code() == absl::StatusCode::kInternal || error.span().known() || !call.op()) throw;
      const std::string& op = call.op()->name;
      const bool is_named = error.message().find(op) != std::string::npos;
      Error placed(error.code(), is_named ? error.message() : StrCat(op, ": ", error.message()));
      for (const std::string& note : error.notes()) placed.AddNote(note);
      throw std::move(placed.At(call.span));
    }
  }

  void VisitOne(const Expr& e) {
    switch (e.kind()) {
      case ExprKind::kConstant:
        values_.emplace(e, std::vector<Tensor>{Immediate(e.As<ir::ConstantNode>()->data)});
        return;
      case ExprKind::kCall:
        values_.emplace(e, CallValue(*e.As<ir::CallNode>()));
        return;
      case ExprKind::kTuple:
        values_.emplace(e, TensorsOf(e.As<ir::TupleNode>()->fields));
        return;
      case ExprKind::kTupleGetItem: {
        const auto& item = *e.As<ir::TupleGetItemNode>();
        const auto [begin, count] = ir::LeavesOfField(item.tuple.checked_type(), item.index);
        const auto first = values_.at(item.tuple).begin() + static_cast<std::ptrdiff_t>(begin);
        values_.emplace(e, std::vector<Tensor>(first, first + static_cast<std::ptrdiff_t>(count)));
        return;
      }
      case ExprKind::kVar:
        // Of a let, or of what is around the function.
        if (!values_.contains(e))
          throw Unimplemented(
              StrCat("a fused function holds operator calls only, of its parameters; %",
                     ir::Var(e).name(), " is none of them"))
              .At(e.span());
        return;
      case ExprKind::kOp:
        return;
      case ExprKind::kGlobalVar:
      case ExprKind::kLet:
      case ExprKind::kFunction:
      case ExprKind::kIf:
        throw Unimplemented("a fused function holds operator calls only").At(e.span());
    }
  }

  const LowerFunctionOptions& options_;
  SymbolVars symbols_;
  std::vector<Tensor> params_;
  Values values_;
  std::optional<Preparer> preparer_;
  std::vector<Tensor> formed_inputs_, formed_results_;
};

}  // namespace

TeFunction LowerFunction(const ir::FunctionNode& function, const LowerFunctionOptions& options) {
  Lowering lowering(function, options);
  lowering.Visit(function.body);
  const std::vector<Tensor>& results = lowering.ValueOf(function.body);
  TeFunction lowered{.params = lowering.params(),
                     .outputs = {},
                     .prepared = lowering.prepared(),
                     .formed_inputs = lowering.formed_inputs(),
                     .formed_results = lowering.formed_results()};
  const auto* tuple = function.body.As<ir::TupleNode>();
  if (tuple != nullptr && HaveOneShape(*tuple)) {
    lowered.outputs = InOneLoop(results);
    return lowered;
  }
  // Every result needs storage of its own.
  for (const Tensor& output : results) {
    bool is_stored_elsewhere = output.op()->is_placeholder();
    for (const Tensor& earlier : lowered.outputs)
      is_stored_elsewhere = is_stored_elsewhere || earlier == output;
    lowered.outputs.push_back(
        is_stored_elsewhere
            ? te::Compute(
                  output.shape(), [&](const std::vector<te::Var>& i) { return output[ToExprs(i)]; },
                  "copy")
            : output);
  }
  return lowered;
}

std::vector<Candidate> WeighFormsOf(const ir::CallNode& call, const ir::FunctionNode& function,
                                    const LowerFunctionOptions& options) {
  const TeCompute& compute = ComputeOf(call);
  if (compute.forms.empty()) return {};
  Lowering lowering(function, options);
  for (const Expr& arg : call.args) lowering.Visit(arg);
  return lowering.WithCall(call,
                           [&](const TeCall& te_call) { return WeighForms(compute, te_call); });
}

std::vector<NDArray> EvaluateCall(const ir::CallNode& call, ops::FoldingBudget* budget) {
  RegisterStrategies(ops::OpRegistry::Global());
  // As in kernels, so that a constant and an input of the same value give the same result.
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
  std::vector<ir::Type> types;
  for (const auto& [tensor, data] : given)
    types.push_back(ir::TensorTypeOf(data.shape(), data.dtype()));
  const std::vector<Tensor> outputs =
      ComputeCall(call,
                  {call.attrs, inputs, call.checked_type, jit::HostTarget(), nullptr, nullptr,
                   std::move(types)},
                  DefinitionOf(call));
  if (budget != nullptr) {
    const te::Cost cost = te::CostToInterpret(outputs);
    if (!budget->Pay(cost.steps, cost.bytes)) return {};
  }
  return te::Interpret(outputs, given);
}

}  // namespace tenon::strategies
