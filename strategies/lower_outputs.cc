#include "tenon/strategies/lower_outputs.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "tenon/jit/library_functions.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/lower.h"
#include "tenon/strategies/auto_schedule.h"
#include "tenon/strategies/generic_schedule.h"
#include "tenon/strategies/planned_extent.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/content.h"

namespace tenon::strategies {

namespace {

using Vars = std::unordered_set<const loop::ExprNode*>;

void AddVars(const std::vector<loop::Expr>& exprs, Vars* vars) {
  for (const loop::Expr& expr : exprs) {
    loop::VisitExpr(expr, [&](const loop::Expr& e) {
      if (e.kind() == loop::ExprKind::kVar) vars->insert(e.get());
    });
  }
}

// The variables of extents that the stages compute over.
void AddExtentVars(const std::vector<te::Tensor>& outputs, Vars* vars) {
  for (const te::Operation& op : te::PostOrder(outputs)) {
    if (op->is_placeholder()) continue;
    for (const loop::Buffer& output : op->outputs) AddVars(output->shape, vars);
    for (const te::IterVar& axis : op->reduce_axes) AddVars({axis.min, axis.extent}, vars);
  }
}

// Adds each parameter that is not read, but from which a stage takes an extent that no other array
// of the kernel has.
void AddParamsOfExtents(const std::vector<te::Tensor>& outputs,
                        const std::vector<te::Tensor>& params, std::vector<bool>* is_kept) {
  Vars of_params, known, used;
  for (std::size_t i = 0; i < params.size(); ++i)
    AddVars(params[i].shape(), (*is_kept)[i] ? &known : &of_params);
  if (of_params.empty()) return;
  for (const te::Tensor& output : outputs) AddVars(output.shape(), &known);
  AddExtentVars(outputs, &used);
  for (const te::Operation& op : te::PostOrder(outputs)) AddVars(op->Expressions(), &used);
  for (std::size_t i = 0; i < params.size(); ++i) {
    if ((*is_kept)[i]) continue;
    Vars extents;
    AddVars(params[i].shape(), &extents);
    (*is_kept)[i] = std::any_of(extents.begin(), extents.end(), [&](const auto* var) {
      return used.contains(var) && !known.contains(var);
    });
    if ((*is_kept)[i]) known.insert(extents.begin(), extents.end());
  }
}

}  // namespace

std::vector<te::Tensor> ParamsReadBy(const std::vector<te::Tensor>& outputs,
                                     const std::vector<te::Tensor>& params,
                                     std::vector<int>* positions) {
  std::unordered_set<const te::OperationNode*> read;
  for (const te::Operation& op : te::PostOrder(outputs)) read.insert(op.get());
  std::vector<bool> is_kept;
  for (const te::Tensor& param : params) is_kept.push_back(read.contains(param.op().get()));
  AddParamsOfExtents(outputs, params, &is_kept);
  std::vector<te::Tensor> used;
  for (std::size_t i = 0; i < params.size(); ++i) {
    if (!is_kept[i]) continue;
    used.push_back(params[i]);
    positions->push_back(static_cast<int>(i));
  }
  return used;
}

namespace {

// A kernel is called with the variables of its arrays' extents. Throws Unimplemented if it computes
// with others, those of arrays that it does not read.
void RequireExtentsOfArgs(const std::vector<te::Tensor>& outputs,
                          const std::vector<te::Tensor>& args) {
  Vars known, used;
  for (const te::Tensor& arg : args) AddVars(arg.shape(), &known);
  AddExtentVars(outputs, &used);
  if (std::any_of(used.begin(), used.end(), [&](const auto* var) { return !known.contains(var); }))
    throw Unimplemented("an extent is that of an array which the kernel does not read");
}

// Whether a library function may be given arrays without elements.
bool TakesEmptyArrays(const te::Operation& op) {
  const auto* call = op->body[0].As<loop::ExternCallNode>();
  return call->callee == jit::ScatterFunction() || call->callee == jit::SuppressFunction();
}

// Throws Unimplemented where an extent may be 0 and what is computed with it would not be right:
// the first state of a scan is always written.
void RequireMoreThanZero(const std::vector<te::Tensor>& outputs) {
  for (const te::Operation& op : te::PostOrder(outputs)) {
    if (op->is_placeholder() || op->is_compute()) continue;
    Vars used;
    for (const loop::Buffer& output : op->outputs) AddVars(output->shape, &used);
    for (const te::Tensor& input : op->inputs) AddVars(input.shape(), &used);
    const bool may_be_empty = std::ranges::any_of(used, [](const loop::ExprNode* var) {
      return MayBeZero(static_cast<const loop::VarNode*>(var)->name);
    });
    if (may_be_empty && !(op->kind == te::OperationKind::kExtern && TakesEmptyArrays(op)))
      throw Unimplemented(StrCat(op->name, " cannot be computed of arrays without elements"));
  }
}

std::vector<loop::Var> PositiveExtents(const std::vector<te::Tensor>& args) {
  std::vector<loop::Var> positive;
  Vars known;
  for (const te::Tensor& arg : args) {
    for (const loop::Expr& extent : arg.shape()) {
      loop::VisitExpr(extent, [&](const loop::Expr& e) {
        if (e.kind() != loop::ExprKind::kVar || MayBeZero(e.As<loop::VarNode>()->name)) return;
        if (known.insert(e.get()).second) positive.emplace_back(e);
      });
    }
  }
  return positive;
}

// What schedules read of a target. Kernels that differ by it are cached apart.
std::string FactsText(const Target& target) {
  return StrCat(target.cpu, " ", target.vector_registers, "*", target.vector_bytes, " ",
                target.l1_bytes, " ", target.l2_bytes, " ", target.l3_bytes, " ", target.line_bytes,
                " ", target.cores);
}

}  // namespace

loop::Function LowerOutputs(std::vector<te::Tensor> args, const std::vector<te::Tensor>& outputs,
                            const std::string& name, const LoweringOptions& options,
                            const ScheduleMaker& maker) {
  args.insert(args.end(), outputs.begin(), outputs.end());
  RequireMoreThanZero(outputs);
  // The content of the expressions does not tell what an author's schedule is.
  if (maker != nullptr)
    return schedule::Lower(
        maker(outputs), args, name,
        {.row_loads = loop::RowLoadsFor(options.target), .pipeline = options.pipeline});
  const auto lower = [=, positive = PositiveExtents(args)](Config* config) {
    const AutoScheduleOptions schedule = {.target = options.target,
                                          .reassociate_sums = options.reassociate_sums,
                                          .blocks_sums = options.blocks_sums,
                                          .positive = positive,
                                          .config = config};
    schedule::LowerOptions lowering = {.row_loads = loop::RowLoadsFor(options.target),
                                       .stream_results = false,  // AutoSchedule says which
                                       .positive = positive,
                                       .pipeline = options.pipeline};
    return schedule::Lower(options.generic ? GenericSchedule(outputs)
                                           : AutoSchedule(outputs, schedule, &lowering.rules),
                           args, name, lowering);
  };
  RequireExtentsOfArgs(outputs, args);
  // The content tells only kernels with the default schedule apart.
  const bool defers = options.defer && (options.config == nullptr || !options.config->has_given());
  const std::optional<std::string> origin = defers ? te::ContentOf(outputs, args) : std::nullopt;
  if (!origin) return lower(options.config);
  const auto make = [=] {
    const loop::Body body = lower(nullptr).body;
    return loop::Body::Made(body.stmt(), body.source());
  };
  loop::Function function = schedule::SignatureOf(args, name);
  function.body = loop::Body(make);
  function.origin = StrCat(FactsText(options.target), options.generic ? " generic" : "",
                           options.reassociate_sums ? "" : " in order",
                           options.blocks_sums ? " blocks " : " ", *origin);
  return function;
}

}  // namespace tenon::strategies
