#include "tenon/compiler/symbolic/symbolic_kernels.h"

#include <algorithm>
#include <tuple>
#include <utility>

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

// The variables with which no result has elements if they are 0.
std::set<std::string> EmptyingVariables(const LocalFunction& local) {
  const std::vector<ir::Type> results =
      ir::Flatten(local.function.As<ir::FunctionNode>()->body.checked_type());
  std::set<std::string> emptying;
  for (const auto& [variable, extent] : local.extents) {
    const std::map<std::string, Dim> none = {{variable, Dim(0)}};
    const auto is_empty = [&](const ir::Type& result) {
      return std::ranges::any_of(result.As<ir::TensorTypeNode>()->shape,
                                 [&](const Dim& dim) { return dim.Substitute(none) == Dim(0); });
    };
    if (std::ranges::all_of(results, is_empty)) emptying.insert(variable);
  }
  return emptying;
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

// A kernel that may be made for a call.
struct Candidate {
  KernelTable::Request request;
  SymbolicUse use;
};

struct Candidates {
  Expr function;
  std::vector<Candidate> kernels;  // the best one first
};

Candidates CandidatesFor(const ir::CallNode& call) {
  Candidates made{.function = call.callee, .kernels = {}};
  const LocalFunction local = WithLocalExtents(call.callee);
  const std::set<std::string> emptying = EmptyingVariables(local);
  const auto add = [&](const LocalFunction& function, const std::set<std::string>& may_be_zero) {
    Candidate& candidate = made.kernels.emplace_back();
    candidate.request = RequestOf(call);
    candidate.request.function = function.function;
    candidate.request.hash = ir::StructuralHash(function.function);
    candidate.use = {.extents = function.extents,
                     .assumed_equal = function.assumed_equal,
                     .emptying = emptying,
                     .may_be_zero = may_be_zero,
                     .labels = LabelsOf(call.callee)};
  };
  std::set<std::string> zeros;
  for (const auto& [variable, extent] : local.extents) {
    if (extent.LowerBound().value_or(0) < 1 && !emptying.contains(variable)) zeros.insert(variable);
  }
  if (!zeros.empty()) {
    if (const auto with_zeros = WithZeros(call.callee, local, zeros)) {
      std::set<std::string> may_be_zero;
      for (const std::string& variable : zeros) may_be_zero.insert(NameWithZero(variable));
      add(*with_zeros, may_be_zero);
    }
  }
  add(local, {});
  return made;
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
  std::vector<Candidates> calls;
  std::vector<KernelTable::Request> requests;
  ir::VisitPostOrder(
      fused.Main().body,
      [&](const Expr& e) {
        const auto* call = e.As<ir::CallNode>();
        const auto* function = call == nullptr ? nullptr : call->callee.As<ir::FunctionNode>();
        if (function == nullptr) return;
        RequireKnownExtents(e);
        AddConditionsOf(call->callee, &kernels);
        if (OnlyReshapes(*function)) return;
        calls.push_back(CandidatesFor(*call));
        requests.push_back(calls.back().kernels[0].request);
      },
      [](const Expr& e) { return e.kind() != ir::ExprKind::kFunction; });
  strategy.library = strategies::LibraryChoice::kTe;
  KernelTable table(strategy, &kernels.list);
  table.MakeAhead(requests);
  for (Candidates& call : calls) {
    for (Candidate& candidate : call.kernels) {
      const KernelTable::Request& request = candidate.request;
      try {
        candidate.use.kernel =
            table.For(request.function, request.name, request.constants, request.hash);
        kernels.uses.emplace(call.function, std::move(candidate.use));
        break;
      } catch (const Error& error) {
        // If there is no other, it is made for each shape.
        if (error.code() != absl::StatusCode::kUnimplemented) throw;
      }
    }
  }
  return kernels;
}

std::vector<runtime::Node> NodesOf(const SymbolicKernels& kernels) {
  std::vector<runtime::Node> nodes;
  for (const auto& [function, use] : kernels.uses) {
    runtime::Node& node = nodes.emplace_back();
    node.name = kernels.list[static_cast<std::size_t>(use.kernel)].name;
    node.hash = use.labels.hash;
    node.kernel = use.kernel;
    node.origins = use.labels.origins;
  }
  // The uses are in no order.
  std::ranges::sort(nodes, {}, [](const runtime::Node& node) {
    return std::tie(node.kernel, node.name, node.origins);
  });
  return nodes;
}

Lowered ListedKernels(SymbolicKernels kernels) {
  Lowered listed;
  listed.plan.nodes = NodesOf(kernels);
  listed.plan.conditions = std::move(kernels.conditions);
  listed.kernels = std::move(kernels.list);
  return listed;
}

}  // namespace tenon::compiler
