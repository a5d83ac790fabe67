#include "tenon/compiler/symbolic/symbolic_kernels.h"

#include <algorithm>

#include "tenon/compiler/plan/build_plan.h"
#include "tenon/compiler/plan/kernel_table.h"
#include "tenon/compiler/symbolic/local_extents.h"
#include "tenon/ir/flatten.h"
#include "tenon/ir/structural.h"
#include "tenon/ir/visit.h"
#include "tenon/ops/op.h"
#include "tenon/ops/registry.h"
#include "tenon/passes/infer_type.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::compiler {
namespace {

using ir::Expr;

// Whether the function's results are views of memory, whatever the extents. A tuple inside has
// arrays of which only extents are read.
bool OnlyReshapes(const ir::FunctionNode& function) {
  bool only = function.body.kind() != ir::ExprKind::kTuple;
  ir::VisitPostOrder(function.body, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    only = only && (e.kind() == ir::ExprKind::kVar || e.kind() == ir::ExprKind::kOp ||
                    e.kind() == ir::ExprKind::kTuple ||
                    (call != nullptr && call->op() != nullptr && ops::OpOf(*call)->reshape_only));
  });
  return only;
}

void RequireKnownExtents(const Expr& call) {
  for (const ir::Type& type : ir::Flatten(call.checked_type())) {
    const auto* tensor = type.As<ir::TensorTypeNode>();
    if (tensor == nullptr || std::none_of(tensor->shape.begin(), tensor->shape.end(),
                                          [](const Dim& dim) { return dim.is_any(); }))
      continue;
    throw Unimplemented(
        StrCat("the result of ",
               NameOfFunction(*call.As<ir::CallNode>()->callee.As<ir::FunctionNode>()),
               " has the type ", ir::ToString(type),
               ", whose extents do not follow from those of the inputs"))
        .At(call.span());
  }
}

}  // namespace

void AddConditions(const std::vector<ExtentCondition>& more, std::vector<ExtentCondition>* all) {
  for (const ExtentCondition& condition : more) {
    if (std::find(all->begin(), all->end(), condition) == all->end()) all->push_back(condition);
  }
}

namespace {

void AddConditionsOf(const Expr& function, SymbolicKernels* kernels) {
  const Expr& body = function.As<ir::FunctionNode>()->body;
  AddConditions(passes::ConditionsOf(body), &kernels->conditions);
  ir::VisitPostOrder(body, [&](const Expr& e) {
    const auto* call = e.As<ir::CallNode>();
    const ops::OpDef* op = call == nullptr ? nullptr : ops::OpOf(*call);
    if (op != nullptr && !ops::HasKnownConditions(*op)) kernels->silent_op = op->name;
  });
}

}  // namespace

bool SymbolicKernels::HasCode(int kernel) const {
  return std::holds_alternative<loop::Function>(
      list[static_cast<std::size_t>(kernel)].choice.built.kernel);
}

std::vector<std::string> SymbolicKernels::VariablesOf(int kernel) const {
  std::vector<std::string> names;
  const auto& made = list[static_cast<std::size_t>(kernel)].choice.built.kernel;
  for (const loop::Var& scalar : std::get<loop::Function>(made).scalars)
    names.push_back(scalar.name());
  return names;
}

SymbolicKernels LowerSymbolicKernels(const ir::Module& fused,
                                     strategies::StrategyOptions strategy) {
  SymbolicKernels kernels;
  std::vector<KernelTable::Request> requests;
  std::vector<std::pair<Expr, SymbolicUse>> uses;
  ir::VisitPostOrder(
      fused.Main().body,
      [&](const Expr& e) {
        const auto* call = e.As<ir::CallNode>();
        const auto* function = call == nullptr ? nullptr : call->callee.As<ir::FunctionNode>();
        if (function == nullptr) return;
        RequireKnownExtents(e);
        AddConditionsOf(call->callee, &kernels);
        if (OnlyReshapes(*function)) return;
        LocalFunction local = WithLocalExtents(call->callee);
        KernelTable::Request request = RequestOf(*call);
        request.function = local.function;
        request.hash = ir::StructuralHash(local.function);
        requests.push_back(std::move(request));
        uses.emplace_back(call->callee, SymbolicUse{.extents = std::move(local.extents),
                                                    .assumed_equal = std::move(local.assumed_equal),
                                                    .labels = LabelsOf(call->callee)});
      },
      [](const Expr& e) { return e.kind() != ir::ExprKind::kFunction; });
  strategy.library = strategies::LibraryChoice::kTe;
  KernelTable table(strategy, &kernels.list);
  table.MakeAhead(requests);
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const KernelTable::Request& request = requests[i];
    try {
      uses[i].second.kernel =
          table.For(request.function, request.name, request.constants, request.hash);
      kernels.uses.insert(std::move(uses[i]));
    } catch (const Error& error) {
      // It is made for each shape.
      if (error.code() != absl::StatusCode::kUnimplemented) throw;
    }
  }
  return kernels;
}

}  // namespace tenon::compiler
