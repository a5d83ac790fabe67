// The loops are those that a schedule gives to the loop pipeline, taken before its first step.
#include "tenon/strategies/lower/generic_loops.h"

#include <optional>

#include "tenon/loop/pipeline.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/lower.h"
#include "tenon/strategies/generic_schedule.h"
#include "tenon/strategies/lower_function.h"

namespace tenon::strategies {
namespace {

using loop::ForKind;
using loop::Stmt;

bool AsksOf(const Stmt& body, const loop::Var& lane) {
  bool asks = false;
  loop::VisitStmts(body, [&](const Stmt& s) {
    const auto* condition = s.As<loop::IfNode>();
    asks = asks || (condition != nullptr && loop::UsesVar(condition->condition, lane));
  });
  return asks;
}

class Serializer : public loop::StmtMutator {
 protected:
  Stmt MutateStmt(const Stmt& stmt) override {
    const auto* node = stmt.As<loop::ForNode>();
    if (node == nullptr) return MutateStmtChildren(stmt);
    const Stmt body = MutateStmt(node->body);
    if (node->for_kind != ForKind::kVectorized || !AsksOf(body, node->var)) {
      const bool stays = node->for_kind == ForKind::kVectorized;
      return loop::For(node->var, node->min, node->extent,
                       stays ? ForKind::kVectorized : ForKind::kSerial, body);
    }
    const loop::Var serial(node->var.name() + ".s");
    return loop::For(serial, node->min, node->extent, ForKind::kSerial,
                     loop::Substitute(body, {{node->var, serial}}));
  }
};

}  // namespace

loop::Function GenericLoops(const ir::FunctionNode& function, const std::string& name) {
  const TeFunction te = LowerFunction(function, {.plain_forms = true});
  std::vector<te::Tensor> args = te.params;
  args.insert(args.end(), te.outputs.begin(), te.outputs.end());
  std::optional<loop::Function> nests;
  schedule::LowerOptions options;
  options.pipeline.observer = [&](const loop::PipelineStep& step) {
    if (step.name == loop::kNests) nests = step.function;
  };
  schedule::Lower(GenericSchedule(te.outputs), args, name, options);
  const Stmt flat = loop::FlattenBuffers(Serializer()(nests->body.stmt()));
  nests->body = loop::Body(loop::Simplify(loop::VectorizeLoops(flat)));
  return *nests;
}

}  // namespace tenon::strategies
