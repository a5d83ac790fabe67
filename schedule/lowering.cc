#include "tenon/schedule/lowering.h"

namespace tenon::schedule {

using loop::Expr;
using loop::Stmt;

NestBody BodyOf(Lowering& lowering, const Stage& stage) {
  const te::OperationNode& op = *stage.op();
  const auto inlined = [&](const std::vector<Expr>& values) {
    std::vector<Expr> result;
    for (const Expr& value : values) result.push_back(lowering.inliner(value));
    return result;
  };
  return {.values = inlined(op.body),
          .initial = inlined(op.initial),
          .condition = op.condition.defined() ? lowering.inliner(op.condition) : Expr(),
          .target = inlined(op.target)};
}

Stmt Nest(Lowering& lowering, const Stage& stage, const std::vector<Range>& region) {
  lowering.steps.RequireOneStep(stage, region, lowering.ranges);
  return MakeNest(stage, BodyOf(lowering, stage), region, lowering.hooks(stage));
}

Stmt AllocateBox(const Stage& stage, const loop::Buffer& buffer, const std::vector<Range>& region,
                 const Stmt& stmt) {
  const Box box(stage, buffer, region);
  return loop::Allocate(box.memory(), box.Move(stmt, MinsOf(region)));
}

}  // namespace tenon::schedule
