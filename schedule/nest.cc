// The arithmetic of axes is schedule/relation.h's. Of a reduction, the data loops
// inside the first reduce loop run twice: once to set the identity, before that reduce loop, and
// once inside it to update (Halide's "pure definition" and "update", here for one update).
#include "tenon/schedule/nest.h"

#include <algorithm>
#include <utility>

#include "tenon/loop/visit.h"
#include "tenon/schedule/tensorize.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::Var;

// Whether one operation joins two values, such as addition: loops of it are known by that form.
bool IsOneOperation(const te::Combiner& combiner) {
  if (combiner.result.size() != 1) return false;
  const auto* n = combiner.result[0].As<loop::BinaryNode>();
  return n != nullptr && n->a.same_as(combiner.lhs[0]) && n->b.same_as(combiner.rhs[0]);
}

class NestMaker {
 public:
  NestMaker(const Stage& stage, std::vector<Expr> body, std::vector<Range> region,
            const LoopHooks& hooks)
      : stage_(stage),
        op_(*stage.op()),
        body_(std::move(body)),
        region_(std::move(region)),
        hooks_(hooks) {}

  Stmt Make() {
    InferExtents();
    if (stage_.marks().tensorize) return MakeTensorized();
    const std::vector<IterVar>& leaves = stage_.leaves();
    const auto first_reduce = static_cast<std::size_t>(
        std::find_if(leaves.begin(), leaves.end(), [](const IterVar& v) { return v.is_reduce; }) -
        leaves.begin());
    Stmt nest;
    if (!op_.is_reduction()) {
      nest = Wrap(Guarded(StoreAll(body_, {}), /*with_reduce=*/true, {}), 0, leaves.size());
      return nest;
    }
    const Stmt update = Wrap(Guarded(Update(), true, {}), first_reduce, leaves.size());
    return Wrap(loop::Seq({Initialize(first_reduce), update}), 0, first_reduce);
  }

  Stmt MakeSteps(const Stmt& step) {
    InferExtents();
    const Expr guard = OverhangGuard(stage_.relations(), extent_, Values({}), false);
    const Stmt body = loop::If(guard, loop::Substitute(step, RootSubstitution({})));
    return Wrap(body, 0, stage_.leaves().size());
  }

 private:
  void InferExtents() {
    for (std::size_t d = 0; d < op_.axes.size(); ++d) extent_[op_.axes[d].var] = region_[d].extent;
    for (const IterVar& axis : op_.reduce_axes) extent_[axis.var] = axis.extent;
    schedule::InferExtents(stage_.relations(), &extent_);
    for (const IterVar& leaf : stage_.leaves()) {
      if (const auto* extent = extent_.at(leaf.var).As<loop::IntImmNode>())
        hooks_.ranges->Bind(leaf.var, {0, extent->value - 1});
    }
  }

  // Values of all axes, given those of the loops; `fresh` renames loops.
  ByVar Values(const ByVar& fresh) const {
    ByVar values;
    for (const IterVar& leaf : stage_.leaves()) {
      const auto renamed = fresh.find(leaf.var);
      values[leaf.var] = renamed == fresh.end() ? Expr(leaf.var) : renamed->second;
    }
    InferRoots(stage_.relations(), extent_, &values);
    return values;
  }

  // The index of root axis `d` in the tensor.
  Expr DataIndex(const ByVar& values, std::size_t d) const {
    return region_[d].min + values.at(op_.axes[d].var);
  }

  ByVar RootSubstitution(const ByVar& fresh) const {
    const ByVar values = Values(fresh);
    ByVar roots;
    for (std::size_t d = 0; d < op_.axes.size(); ++d) roots[op_.axes[d].var] = DataIndex(values, d);
    for (const IterVar& axis : op_.reduce_axes) roots[axis.var] = axis.min + values.at(axis.var);
    return roots;
  }

  std::vector<Expr> Indices(const ByVar& fresh) const {
    const ByVar values = Values(fresh);
    std::vector<Expr> indices;
    for (std::size_t d = 0; d < op_.axes.size(); ++d) indices.push_back(DataIndex(values, d));
    return indices;
  }

  Stmt StoreAll(const std::vector<Expr>& values, const ByVar& fresh) const {
    const ByVar roots = RootSubstitution(fresh);
    const auto kind =
        stage_.marks().streaming ? loop::StoreKind::kStreaming : loop::StoreKind::kPlain;
    std::vector<Stmt> stores;
    for (std::size_t i = 0; i < values.size(); ++i) {
      stores.push_back(
          loop::Store(op_.outputs[i], loop::Substitute(values[i], roots), Indices(fresh), kind));
    }
    return loop::Seq(std::move(stores));
  }

  Stmt Update() const {
    const ByVar roots = RootSubstitution({});
    const std::vector<Expr> indices = Indices({});
    const te::Combiner& combiner = *op_.combiner;
    ByVar operands;
    for (std::size_t i = 0; i < body_.size(); ++i) {
      operands[combiner.lhs[i]] = loop::Load(op_.outputs[i], indices);
      operands[combiner.rhs[i]] = loop::Substitute(body_[i], roots);
    }
    if (IsOneOperation(combiner)) {
      const bool reassociate = combiner.is_sum && op_.outputs[0]->dtype.is_float();
      const auto kind = reassociate ? loop::StoreKind::kReassociated : loop::StoreKind::kPlain;
      return loop::Store(op_.outputs[0], loop::Substitute(combiner.result[0], operands), indices,
                         kind);
    }
    // All new values are computed before the first is stored, since each may depend on all old
    // ones, and no value is computed twice.
    std::vector<Var> values, joined;
    std::vector<Stmt> stores;
    const auto kind =
        combiner.is_order_free ? loop::StoreKind::kReassociated : loop::StoreKind::kPlain;
    for (std::size_t i = 0; i < body_.size(); ++i) {
      values.emplace_back("value", combiner.rhs[i].dtype());
      joined.emplace_back("joined", combiner.lhs[i].dtype());
      stores.push_back(loop::Store(op_.outputs[i], joined[i], indices, kind));
    }
    ByVar names = operands;
    for (std::size_t i = 0; i < body_.size(); ++i) names[combiner.rhs[i]] = values[i];
    Stmt result = loop::Seq(std::move(stores));
    for (std::size_t i = body_.size(); i-- > 0;)
      result = loop::LetStmt(joined[i], loop::Substitute(combiner.result[i], names), result);
    for (std::size_t i = body_.size(); i-- > 0;)
      result = loop::LetStmt(values[i], operands.at(combiner.rhs[i]), result);
    return result;
  }

  // The data loops from `first_reduce` on, under new names, around stores of the identity.
  Stmt Initialize(std::size_t first_reduce) const {
    ByVar fresh;
    std::vector<std::pair<IterVar, Var>> loops;
    for (std::size_t i = 0; i < stage_.leaves().size(); ++i) {
      const IterVar& leaf = stage_.leaves()[i];
      if (leaf.is_reduce) {
        fresh[leaf.var] = 0;
      } else if (i >= first_reduce) {
        loops.emplace_back(leaf, Var(leaf.var.name() + ".init"));
        fresh[leaf.var] = loops.back().second;
      }
    }
    return InitLoops(loops, Guarded(StoreAll(op_.combiner->identity, fresh), false, fresh));
  }

  Stmt InitLoops(const std::vector<std::pair<IterVar, Var>>& loops, Stmt stmt) const {
    for (auto it = loops.rbegin(); it != loops.rend(); ++it) {
      const loop::ForKind kind = stage_.KindOf(it->first);
      stmt = loop::For(it->second, 0, extent_.at(it->first.var),
                       kind == loop::ForKind::kParallel ? loop::ForKind::kSerial : kind, stmt);
    }
    return stmt;
  }

  // The loops outside the tensorized axis around the intrinsic's statements.
  Stmt MakeTensorized() const {
    const std::vector<IterVar>& leaves = stage_.leaves();
    const TensorizeMark& mark = *stage_.marks().tensorize;
    const te::TensorIntrinsicBodies& bodies = mark.intrinsic->bodies;
    const auto refuse = [&](std::string_view reason) {
      throw InvalidArgument(StrCat("tensorize: stage ", stage_.name(), ", axis ",
                                   mark.axis.var.name(), ", intrinsic ", mark.intrinsic->name, ": ",
                                   reason));
    };
    std::size_t position = 0;
    while (position < leaves.size() && !leaves[position].var.same_as(mark.axis.var)) ++position;
    if (position == leaves.size())
      refuse("the axis has been split or fused since; tensorize comes after");
    // What the loops around decide guards nothing.
    const Expr guard = loop::Simplify(Condition(/*with_reduce=*/true, {}), *hooks_.ranges);
    const TensorizeMatch match = MatchTensorize({.stage = stage_,
                                                 .position = position,
                                                 .body = body_,
                                                 .roots = RootSubstitution({}),
                                                 .extents = extent_,
                                                 .guard = guard});
    const Stmt whole = bodies.body(match.inputs, match.outputs);
    std::size_t first_reduce = 0;
    Expr is_first = loop::True();
    ByVar fresh;
    std::vector<std::pair<IterVar, Var>> loops;
    for (std::size_t i = 0; i < position; ++i) {
      if (leaves[i].is_reduce) {
        if (fresh.empty()) first_reduce = i;
        fresh[leaves[i].var] = 0;
        is_first = is_first && leaves[i].var == 0;
      } else if (!fresh.empty()) {
        loops.emplace_back(leaves[i], Var(leaves[i].var.name() + ".init"));
        fresh[leaves[i].var] = loops.back().second;
      }
    }
    if (fresh.empty()) return Wrap(loop::If(guard, whole), 0, position);
    if (!bodies.reduce_update)
      refuse("reduce loops are left outside; the intrinsic has no reduce_update to go on with");
    const Stmt update = bodies.reduce_update(match.inputs, match.outputs);
    if (!bodies.reduce_init)
      return Wrap(loop::If(guard, loop::If(is_first, whole, update)), 0, position);
    const Stmt part = Wrap(loop::If(guard, update), first_reduce, position);
    // Simplified before its loops are renamed, since the ranges of the new names are not known.
    const Expr init_guard = loop::Simplify(Condition(/*with_reduce=*/false, {}), *hooks_.ranges);
    const Stmt init =
        loop::Substitute(loop::If(init_guard, bodies.reduce_init({}, match.outputs)), fresh);
    return Wrap(loop::Seq({InitLoops(loops, init), part}), 0, first_reduce);
  }

  // Conditions that some loop values break: past the end of a split axis, outside the tensor.
  Stmt Guarded(const Stmt& stmt, bool with_reduce, const ByVar& fresh) const {
    return loop::If(Condition(with_reduce, fresh), stmt);
  }

  Expr Condition(bool with_reduce, const ByVar& fresh) const {
    const ByVar values = Values(fresh);
    Expr condition = OverhangGuard(stage_.relations(), extent_, values, with_reduce);
    if (stage_.guard().defined() && with_reduce)
      condition = condition && loop::Substitute(stage_.guard(), RootSubstitution(fresh));
    if (const auto& predicate = stage_.marks().store_predicate)
      condition = condition && (*predicate)(Indices(fresh))[0];
    for (std::size_t d = 0; d < op_.axes.size(); ++d) {
      const Expr shape = op_.outputs[0]->shape[d];
      if (loop::IsConstInt(region_[d].min, 0) && loop::StructuralEqual(region_[d].extent, shape))
        continue;
      const Expr index = DataIndex(values, d);
      condition = condition && index >= 0 && index < shape;
    }
    return condition;
  }

  // The loops [begin, end) around `stmt`.
  Stmt Wrap(Stmt stmt, std::size_t begin, std::size_t end) const {
    for (std::size_t i = end; i-- > begin;) {
      const IterVar& leaf = stage_.leaves()[i];
      stmt = hooks_.inside(leaf, extent_.at(leaf.var), stmt);
      stmt = loop::For(leaf.var, 0, extent_.at(leaf.var), stage_.KindOf(leaf), stmt);
      stmt = hooks_.around(leaf, extent_.at(leaf.var), stmt);
    }
    return stmt;
  }

  const Stage& stage_;
  const te::OperationNode& op_;
  const std::vector<Expr> body_;
  const std::vector<Range> region_;
  const LoopHooks& hooks_;
  ByVar extent_;
};

}  // namespace

Stmt MakeNest(const Stage& stage, const std::vector<Expr>& body, const std::vector<Range>& region,
              const LoopHooks& hooks) {
  return NestMaker(stage, body, region, hooks).Make();
}

Stmt MakeTimeNest(const Stage& scan, const Stmt& step, const LoopHooks& hooks) {
  const IterVar& time = scan.op()->axes[0];
  return NestMaker(scan, {}, {{time.min, time.extent}}, hooks).MakeSteps(step);
}

}  // namespace tenon::schedule
