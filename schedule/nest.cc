// The arithmetic of axes is schedule/relation.h's. In a reduction, the data loops inside the first
// reduce loop run twice: once to set the identity, before that reduce loop, and once inside it to
// update (Halide's "pure definition" and "update", here for one update). A loop over data and
// reduce axes together runs only for the updates; for the initial values its data axes have loops
// of their own. If the terms go to computed indices, the loops over these dimensions only set
// initial values, and updates run in all other loops.
#include "tenon/schedule/nest.h"

#include <algorithm>
#include <utility>

#include "tenon/loop/print.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/mixed_fusion.h"
#include "tenon/schedule/split_extents.h"
#include "tenon/schedule/tensorize.h"
#include "tenon/schedule/tile_body.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Stmt;
using loop::Var;

// Whether a single operation, such as addition, joins two values. Loops of it are known by that
// form.
bool IsOneOperation(const te::Combiner& combiner) {
  if (combiner.result.size() != 1) return false;
  const auto* n = combiner.result[0].As<loop::BinaryNode>();
  return n != nullptr && n->a.same_as(combiner.lhs[0]) && n->b.same_as(combiner.rhs[0]);
}

// The loops of the updates, or those of the initial values, which may have other names.
struct LoopSet {
  std::vector<Relation> relations;
  ByVar fresh = {};  // of axes whose value is not the loop of their own name
};

// The stage's axes, and the conditions on them.
class NestAxes {
 public:
  NestAxes(const Stage& stage, NestBody body, std::vector<Range> region)
      : stage_(stage),
        op_(*stage.op()),
        body_(std::move(body)),
        region_(std::move(region)),
        updates_{stage.relations()} {}

 protected:
  // A block that is moved inwards begins before the region if the region is smaller than the block.
  void RequireRoom() const {
    for (const Relation& relation : stage_.relations()) {
      const auto* split = std::get_if<SplitRelation>(&relation);
      if (split == nullptr || split->tail != Tail::kShiftInwards) continue;
      const Expr& extent = extent_.at(split->parent.var);
      const Expr& width = extent_.at(split->inner.var);
      if (BlockFits(width, extent)) continue;
      throw InvalidArgument(StrCat("split: stage ", stage_.name(), ", axis ",
                                   split->parent.var.name(), ", Tail::kShiftInwards: the extent ",
                                   loop::Print(extent), " may be less than the factor ",
                                   loop::Print(split->factor), "; use Tail::kGuard"));
    }
  }

  // Infers the extents of axes and loops. `bounds` gets the loops' ranges.
  void InferExtents(loop::Bounds* bounds) {
    for (std::size_t d = 0; d < op_.axes.size(); ++d) extent_[op_.axes[d].var] = region_[d].extent;
    for (const IterVar& axis : op_.reduce_axes) extent_[axis.var] = axis.extent;
    schedule::InferExtents(stage_.relations(), &extent_);
    for (const IterVar& leaf : stage_.leaves()) {
      if (const auto* extent = extent_.at(leaf.var).As<loop::IntImmNode>())
        bounds->Bind(leaf.var, {0, extent->value - 1});
    }
  }

  // Values of all axes, given those of the loops.
  ByVar Values(const LoopSet& loops) const {
    ByVar values = loops.fresh;
    for (const IterVar& leaf : stage_.leaves()) values.emplace(leaf.var, Expr(leaf.var));
    InferRoots(loops.relations, extent_, &values);
    return values;
  }

  // The index of root axis `d` in the tensor.
  Expr DataIndex(const ByVar& values, std::size_t d) const {
    return region_[d].min + values.at(op_.axes[d].var);
  }

  ByVar RootSubstitution(const LoopSet& loops) const {
    const ByVar values = Values(loops);
    ByVar roots;
    for (std::size_t d = 0; d < op_.axes.size(); ++d) roots[op_.axes[d].var] = DataIndex(values, d);
    for (const IterVar& axis : op_.reduce_axes) roots[axis.var] = axis.min + values.at(axis.var);
    return roots;
  }

  std::vector<Expr> Indices(const LoopSet& loops) const {
    const ByVar values = Values(loops);
    std::vector<Expr> indices;
    for (std::size_t d = 0; d < op_.axes.size(); ++d) indices.push_back(DataIndex(values, d));
    return indices;
  }

  Expr Condition(bool with_reduce, const LoopSet& loops) const {
    const ByVar values = Values(loops);
    std::vector<Expr> indices;
    for (std::size_t d = 0; d < op_.axes.size(); ++d) indices.push_back(DataIndex(values, d));
    Expr condition = OverhangCondition(loops, with_reduce) && PredicateOf(indices);
    for (std::size_t d = 0; d < op_.axes.size(); ++d) {
      if (!IsWhole(d)) condition = condition && IsInside(indices[d], d);
    }
    return condition;
  }

  // The condition on terms. Those that do not count, or belong to elements that are not there, read
  // nothing.
  Expr TermCondition() const {
    const ByVar values = Values(updates_);
    Expr condition = OverhangCondition(updates_, /*with_reduce=*/true);
    for (std::size_t d = 0; d < op_.axes.size(); ++d) {
      if (!op_.axes[d].starts_only && !IsWhole(d))
        condition = condition && IsInside(DataIndex(values, d), d);
    }
    return condition;
  }

  // The condition on the element that a term is added to, at `indices`, some of which may be
  // computed.
  Expr ElementCondition(const std::vector<Expr>& indices) const {
    Expr condition = PredicateOf(indices);
    for (std::size_t d = 0; d < op_.axes.size(); ++d) {
      if (!op_.axes[d].starts_only) continue;
      if (!IsWhole(d)) {
        condition = condition && indices[d] >= region_[d].min &&
                    indices[d] < region_[d].min + region_[d].extent;
      }
      condition = condition && IsInside(indices[d], d);
    }
    return condition;
  }

  // The condition that keeps loops before the ends of split axes, and to the terms that count.
  Expr OverhangCondition(const LoopSet& loops, bool with_reduce) const {
    std::vector<Relation> relations = loops.relations;
    // There is room past the end of what is rounded up, and an update does not run in a loop that
    // only sets initial values.
    std::erase_if(relations, [&](const Relation& relation) {
      const auto* split = std::get_if<SplitRelation>(&relation);
      return split != nullptr &&
             (split->tail == Tail::kRoundUp || (with_reduce && split->parent.starts_only));
    });
    Expr condition = OverhangGuard(relations, extent_, Values(loops), with_reduce);
    if (stage_.guard().defined() && with_reduce)
      condition = condition && loop::Substitute(stage_.guard(), RootSubstitution(loops));
    return condition;
  }

  Expr PredicateOf(const std::vector<Expr>& indices) const {
    const auto& predicate = stage_.marks().store_predicate;
    return predicate ? (*predicate)(indices)[0] : loop::True();
  }

  // If an axis is rounded up, what lies past its end is in memory as well.
  bool IsWhole(std::size_t d) const {
    if (!loop::IsConstInt(region_[d].min, 0)) return false;
    if (loop::StructuralEqual(region_[d].extent, op_.outputs[0]->shape[d])) return true;
    const auto rounds = [&](const Relation& relation) {
      const auto* split = std::get_if<SplitRelation>(&relation);
      return split != nullptr && split->tail == Tail::kRoundUp &&
             split->parent.var.same_as(op_.axes[d].var);
    };
    return std::any_of(stage_.relations().begin(), stage_.relations().end(), rounds);
  }
  Expr IsInside(const Expr& index, std::size_t d) const {
    return index >= 0 && index < op_.outputs[0]->shape[d];
  }

  const Stage& stage_;
  const te::OperationNode& op_;
  const NestBody body_;
  const std::vector<Range> region_;
  const LoopSet updates_;
  ByVar extent_;
};

// Without a reduce_init, the first iteration of the reduce loops around the tensorized tile, the
// first `position` leaves, sets the results.
void RequireFirstIteration(const Stage& stage, std::size_t position, const ByVar& extents,
                           const loop::Bounds& ranges) {
  const TensorizeMark& mark = *stage.marks().tensorize;
  for (const IterVar& axis : stage.op()->reduce_axes) {
    if (!stage.guard().defined() || !loop::UsesVar(stage.guard(), axis.var)) continue;
    throw InvalidArgument(StrCat(
        "tensorize: stage ", stage.name(), ", axis ", mark.axis.var.name(), ", intrinsic ",
        mark.intrinsic->name,
        ": of some elements all terms are past the end of a split (rfactor), "
        "and then nothing would set them; the intrinsic needs a reduce_init, or the split a factor "
        "that divides"));
  }
  for (std::size_t i = 0; i < position; ++i) {
    const IterVar& leaf = stage.leaves()[i];
    const Expr& extent = extents.at(leaf.var);
    if (!leaf.is_reduce || loop::CanProve(extent >= 1, ranges)) continue;
    throw InvalidArgument(StrCat(
        "tensorize: stage ", stage.name(), ", axis ", mark.axis.var.name(), ", intrinsic ",
        mark.intrinsic->name, ": the loop ", leaf.var.name(), " outside has ", loop::Print(extent),
        " iterations, maybe none, and then nothing would set the results; the intrinsic needs a "
        "reduce_init, or the extent to be known to be positive"));
  }
}

class NestMaker : public NestAxes {
 public:
  NestMaker(const Stage& stage, NestBody body, std::vector<Range> region, const LoopHooks& hooks,
            std::size_t outer)
      : NestAxes(stage, std::move(body), std::move(region)), hooks_(hooks), outer_(outer) {}

  Stmt Make() {
    InferExtents(hooks_.ranges);
    RequireRoom();
    if (stage_.marks().tensorize) return MakeTensorized();
    const std::vector<IterVar>& leaves = stage_.leaves();
    if (!op_.is_reduction())
      return Wrap(Guarded(StoreAll(body_.values, updates_), /*with_reduce=*/true, updates_), outer_,
                  leaves.size());
    const auto first_update = static_cast<std::size_t>(
        std::find_if(leaves.begin(), leaves.end(),
                     [](const IterVar& v) { return v.is_reduce || v.starts_only; }) -
        leaves.begin());
    const Stmt update = Wrap(CountedUpdate(), first_update, leaves.size());
    return Wrap(loop::Seq({Initialize(first_update), update}), outer_, first_update);
  }

  Stmt MakeSteps(const Stmt& step) {
    InferExtents(hooks_.ranges);
    const Expr guard = OverhangGuard(stage_.relations(), extent_, Values(updates_), false);
    const Stmt body = loop::If(guard, loop::Substitute(step, RootSubstitution(updates_)));
    return Wrap(body, 0, stage_.leaves().size());
  }

 private:
  Stmt StoreAll(const std::vector<Expr>& values, const LoopSet& loops) const {
    const ByVar roots = RootSubstitution(loops);
    const auto kind =
        stage_.marks().streaming ? loop::StoreKind::kStreaming : loop::StoreKind::kPlain;
    std::vector<Stmt> stores;
    for (std::size_t i = 0; i < values.size(); ++i) {
      stores.push_back(
          loop::Store(op_.outputs[i], loop::Substitute(values[i], roots), Indices(loops), kind));
    }
    return loop::Seq(std::move(stores));
  }

  // The update of a term, if it counts and goes to an element of the region.
  Stmt CountedUpdate() const {
    const ByVar roots = RootSubstitution(updates_);
    std::vector<Expr> indices;
    std::vector<std::pair<Var, Expr>> computed;
    for (std::size_t d = 0; d < op_.axes.size(); ++d) {
      if (!op_.axes[d].starts_only) {
        indices.push_back(roots.at(op_.axes[d].var));
        continue;
      }
      // It is read once, so what it is read from cannot change on the way.
      computed.emplace_back(Var("target"), loop::Substitute(body_.target[d], roots));
      indices.push_back(computed.back().first);
    }
    const Expr counts =
        body_.condition.defined() ? loop::Substitute(body_.condition, roots) : loop::True();
    const Stmt update = Update(roots, indices);
    if (body_.target.empty())
      return loop::If(TermCondition() && ElementCondition(indices), loop::If(counts, update));
    // Where a term goes is computed only for one that counts.
    Stmt placed = loop::If(ElementCondition(indices), update);
    for (std::size_t i = computed.size(); i-- > 0;)
      placed = loop::LetStmt(computed[i].first, computed[i].second, placed);
    return loop::If(TermCondition(), loop::If(counts, placed));
  }

  Stmt Update(const ByVar& roots, const std::vector<Expr>& indices) const {
    const te::Combiner& combiner = *op_.combiner;
    const std::vector<Expr>& terms = body_.values;
    ByVar operands;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      operands[combiner.lhs[i]] = loop::Load(op_.outputs[i], indices);
      operands[combiner.rhs[i]] = loop::Substitute(terms[i], roots);
    }
    if (IsOneOperation(combiner)) {
      const bool reassociate =
          combiner.is_sum && op_.outputs[0]->dtype.is_float() && body_.target.empty();
      const auto kind = reassociate ? loop::StoreKind::kReassociated : loop::StoreKind::kPlain;
      return loop::Store(op_.outputs[0], loop::Substitute(combiner.result[0], operands), indices,
                         kind);
    }
    // All new values are computed before the first is stored, since each may depend on all old
    // ones. No value is computed twice.
    std::vector<Var> values, joined;
    std::vector<Stmt> stores;
    const auto kind = combiner.is_order_free && body_.target.empty()
                          ? loop::StoreKind::kReassociated
                          : loop::StoreKind::kPlain;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      values.emplace_back("value", combiner.rhs[i].dtype());
      joined.emplace_back("joined", combiner.lhs[i].dtype());
      stores.push_back(loop::Store(op_.outputs[i], joined[i], indices, kind));
    }
    ByVar names = operands;
    for (std::size_t i = 0; i < terms.size(); ++i) names[combiner.rhs[i]] = values[i];
    Stmt result = loop::Seq(std::move(stores));
    for (std::size_t i = terms.size(); i-- > 0;)
      result = loop::LetStmt(joined[i], loop::Substitute(combiner.result[i], names), result);
    for (std::size_t i = terms.size(); i-- > 0;)
      result = loop::LetStmt(values[i], operands.at(combiner.rhs[i]), result);
    return result;
  }

  // The data loops from `first` on, under new names, around stores of what elements start as.
  Stmt Initialize(std::size_t first) const {
    LoopSet starts{OfOneKind(stage_.relations())};
    std::vector<std::pair<IterVar, Var>> loops;
    const auto add = [&](const IterVar& axis) {
      loops.emplace_back(axis, Var(axis.var.name() + ".init"));
      starts.fresh[axis.var] = loops.back().second;
    };
    // Axes that a fusion with the other kind has taken; other loops may be vectors, so they go
    // inside.
    std::vector<IterVar> roots = op_.axes;
    roots.insert(roots.end(), op_.reduce_axes.begin(), op_.reduce_axes.end());
    for (const IterVar& axis : LeavesOf(std::move(roots), starts.relations)) {
      if (std::ranges::any_of(stage_.leaves(),
                              [&](const IterVar& leaf) { return leaf.var.same_as(axis.var); }))
        continue;
      if (axis.is_reduce) {
        starts.fresh[axis.var] = 0;
      } else {
        add(axis);
      }
    }
    for (std::size_t i = 0; i < stage_.leaves().size(); ++i) {
      const IterVar& leaf = stage_.leaves()[i];
      if (leaf.is_reduce) {
        starts.fresh[leaf.var] = 0;
      } else if (i >= first) {
        add(leaf);
      }
    }
    if (body_.initial.empty())
      return InitLoops(loops, Guarded(StoreAll(op_.combiner->identity, starts), false, starts));
    // Elements that are left out have no value to start at.
    Stmt stores = StoreAll(body_.initial, starts);
    if (stage_.guard().defined())
      stores = loop::If(loop::Substitute(stage_.guard(), RootSubstitution(starts)), stores);
    return InitLoops(loops, Guarded(stores, false, starts));
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
    if (!body_.initial.empty() || body_.condition.defined() || !body_.target.empty())
      refuse(
          "the reduction has initial values, a condition or computed indices, which no intrinsic "
          "knows");
    std::size_t position = 0;
    while (position < leaves.size() && !leaves[position].var.same_as(mark.axis.var)) ++position;
    if (position == leaves.size())
      refuse("the axis has been split or fused since; tensorize comes after");
    if (FindMixedFusion(stage_.relations()) != nullptr)
      refuse("a data and a reduce axis are fused, which no intrinsic knows");
    // What the loops around it decide need not be guarded.
    const Expr guard = loop::Simplify(Condition(/*with_reduce=*/true, updates_), *hooks_.ranges);
    const TensorizeMatch match = MatchTensorize({.stage = stage_,
                                                 .position = position,
                                                 .body = body_.values,
                                                 .roots = RootSubstitution(updates_),
                                                 .extents = extent_,
                                                 .guard = guard});
    const auto run = [&](std::string_view part, const te::TileBody& body,
                         const std::vector<te::Tile>& inputs) {
      return RunTileBody(*mark.intrinsic, part, body, inputs, match.outputs);
    };
    const Stmt whole = run("body", bodies.body, match.inputs);
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
    if (fresh.empty()) return Wrap(loop::If(guard, whole), outer_, position);
    if (!bodies.reduce_update)
      refuse("reduce loops are left outside; the intrinsic has no reduce_update to go on with");
    const Stmt update = run("reduce_update", bodies.reduce_update, match.inputs);
    if (!bodies.reduce_init) {
      RequireFirstIteration(stage_, position, extent_, *hooks_.ranges);
      return Wrap(loop::If(guard, loop::If(is_first, whole, update)), outer_, position);
    }
    const Stmt part = Wrap(loop::If(guard, update), first_reduce, position);
    // Simplified before its loops are renamed, since the ranges of the new names are not known.
    const Expr init_guard =
        loop::Simplify(Condition(/*with_reduce=*/false, updates_), *hooks_.ranges);
    const Stmt init =
        loop::Substitute(loop::If(init_guard, run("reduce_init", bodies.reduce_init, {})), fresh);
    return Wrap(loop::Seq({InitLoops(loops, init), part}), outer_, first_reduce);
  }

  // Guards `stmt` by conditions that some loop values break, those past the end of a split axis or
  // outside the tensor.
  Stmt Guarded(const Stmt& stmt, bool with_reduce, const LoopSet& loops) const {
    return loop::If(Condition(with_reduce, loops), stmt);
  }

  // The loops [begin, end) around `stmt`.
  Stmt Wrap(Stmt stmt, std::size_t begin, std::size_t end) const {
    for (std::size_t i = end; i-- > begin;) {
      const IterVar& leaf = stage_.leaves()[i];
      if (leaf.starts_only) continue;
      stmt = hooks_.inside(leaf, extent_.at(leaf.var), stmt);
      stmt = loop::For(leaf.var, 0, extent_.at(leaf.var), stage_.KindOf(leaf), stmt);
      stmt = hooks_.around(leaf, extent_.at(leaf.var), stmt);
    }
    return stmt;
  }

  const LoopHooks& hooks_;
  const std::size_t outer_;
};

}  // namespace

Stmt MakeNest(const Stage& stage, const NestBody& body, const std::vector<Range>& region,
              const LoopHooks& hooks, std::size_t outer) {
  return NestMaker(stage, body, region, hooks, outer).Make();
}

Stmt MakeTimeNest(const Stage& scan, const Stmt& step, const LoopHooks& hooks) {
  const IterVar& time = scan.op()->axes[0];
  return NestMaker(scan, {}, {{time.min, time.extent}}, hooks, 0).MakeSteps(step);
}

}  // namespace tenon::schedule
