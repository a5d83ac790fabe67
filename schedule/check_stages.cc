#include "tenon/schedule/check_stages.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <variant>

#include "tenon/loop/print.h"
#include "tenon/loop/simplify/guards.h"
#include "tenon/loop/visit.h"
#include "tenon/schedule/places.h"
#include "tenon/schedule/tails.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;
using loop::Var;

class VariableCheck {
 public:
  VariableCheck(const std::vector<Var>& scalars, const std::string& function)
      : function_(function) {
    for (const Var& scalar : scalars) scalars_.insert(scalar.get());
  }

  void Check(const Stage& stage) const {
    const te::OperationNode& op = *stage.op();
    Vars axes = scalars_;
    for (const auto* list : {&op.axes, &op.reduce_axes}) {
      for (const IterVar& axis : *list) axes.insert(axis.var.get());
    }
    for (const IterVar& axis : op.reduce_axes) {
      for (const Expr* end : {&axis.min, &axis.extent}) {
        if (const auto unknown = Unknown(*end, scalars_))
          Refuse(StrCat("reduce axis ", axis.var.name(), " of ", op.name, " runs over ",
                        loop::Print(*end), ", but no argument's shape has ", *unknown));
      }
    }
    for (const loop::Buffer& output : op.outputs) {
      for (const Expr& extent : output->shape) {
        if (const auto unknown = Unknown(extent, scalars_))
          Refuse(StrCat("the shape of ", op.name, " has the extent ", loop::Print(extent),
                        ", but no argument's shape has ", *unknown));
      }
    }
    for (const Expr& value : op.Expressions()) {
      if (const auto unknown = Unknown(value, axes))
        Refuse(StrCat("stage ", op.name, " uses the variable ", *unknown,
                      ", which is none of its own axes", NamesOf(op),
                      " and no extent of an argument"));
    }
    if (op.combiner) CheckCombiner(op);
    CheckPrefetches(stage);
    for (const Relation& relation : stage.relations()) {
      const auto* split = std::get_if<SplitRelation>(&relation);
      if (split == nullptr) continue;
      const Expr& factor = split->factor.defined() ? split->factor : split->parts;
      if (const auto unknown = Unknown(factor, scalars_))
        throw InvalidArgument(StrCat("split: stage ", op.name, ", axis ", split->parent.var.name(),
                                     ": no argument's shape has ", *unknown, ", which the ",
                                     split->factor.defined() ? "factor " : "number of parts ",
                                     loop::Print(factor), " needs"));
    }
  }

 private:
  using Vars = std::unordered_set<const loop::ExprNode*>;

  [[noreturn]] void Refuse(const std::string& reason) const {
    throw InvalidArgument(StrCat("lower ", function_, ": ", reason));
  }

  void CheckCombiner(const te::OperationNode& op) const {
    Vars operands = scalars_;
    for (const auto* list : {&op.combiner->lhs, &op.combiner->rhs}) {
      for (const Var& var : *list) operands.insert(var.get());
    }
    for (const auto* list : {&op.combiner->result, &op.combiner->identity}) {
      for (const Expr& value : *list) {
        if (const auto unknown = Unknown(value, operands))
          Refuse(StrCat("reducer ", op.combiner->name, " of ", op.name, " uses the variable ",
                        *unknown, ", which is none of its operands"));
      }
    }
  }

  void CheckPrefetches(const Stage& stage) const {
    for (const PrefetchMark& mark : stage.marks().prefetches) {
      const IterVar at = LeafOf(stage.relations(), mark.axis);
      Vars known = scalars_;
      for (const IterVar& leaf : stage.leaves()) {
        known.insert(leaf.var.get());
        if (leaf.var.same_as(at.var)) break;
      }
      if (const auto unknown = Unknown(mark.offset, known))
        throw InvalidArgument(StrCat(
            "prefetch: stage ", stage.name(), ", axis ", mark.axis.var.name(), ": the offset ",
            loop::Print(mark.offset), " uses ", *unknown,
            ", which is neither an extent of an argument nor a loop of the stage around it"));
    }
  }

  static std::string NamesOf(const te::OperationNode& op) {
    std::vector<std::string> names;
    for (const auto* list : {&op.axes, &op.reduce_axes}) {
      for (const IterVar& axis : *list) names.push_back(axis.var.name());
    }
    return names.empty() ? "" : StrCat(" (", StrJoin(names, ", "), ")");
  }

  // The name of a variable of `e` that is not known.
  static std::optional<std::string> Unknown(const Expr& e, const Vars& known) {
    Vars lets;
    std::optional<std::string> name;
    loop::VisitExpr(e, [&](const Expr& part) {
      if (const auto* let = part.As<loop::LetNode>()) lets.insert(let->var.get());
    });
    loop::VisitExpr(e, [&](const Expr& part) {
      if (!name && part.kind() == loop::ExprKind::kVar && !known.contains(part.get()) &&
          !lets.contains(part.get()))
        name = Var(part).name();
    });
    return name;
  }

  const std::string& function_;
  Vars scalars_;
};

// An axis object that two stages reduce over is one variable, which has one value at a time.
void CheckSharedAxes(const Stage& stage) {
  for (const Stage* inner = &stage; inner->placement() == Stage::Placement::kAt;
       inner = &inner->attach_stage()) {
    const Stage& outer = inner->attach_stage();
    const IterVar at = LeafOf(outer.relations(), inner->attach_axis());
    for (const IterVar& loop : outer.leaves()) {
      const auto& own = stage.op()->reduce_axes;
      const bool is_shared = std::any_of(
          own.begin(), own.end(), [&](const IterVar& axis) { return axis.var.same_as(loop.var); });
      if (is_shared)
        throw InvalidArgument(StrCat(
            "compute_at: stage ", stage.name(), " is computed in a loop of ", outer.name(),
            " over reduce axis ", loop.var.name(), ", which belongs to both; make one for each"));
      if (loop.var.same_as(at.var)) break;
    }
  }
}

void CheckVectorLoops(const Stage& stage) {
  const IterVar* vectorized = nullptr;
  for (const IterVar& leaf : stage.leaves()) {
    const loop::ForKind kind = stage.KindOf(leaf);
    const bool is_vectorized = kind == loop::ForKind::kVectorized;
    if (vectorized != nullptr && (is_vectorized || kind == loop::ForKind::kParallel))
      throw InvalidArgument(StrCat("vectorize: stage ", stage.name(), ", axis ",
                                   vectorized->var.name(), ": the loop ", leaf.var.name(),
                                   " inside is ", loop::ToString(kind),
                                   "; vectorize one loop, with serial or unrolled ones inside"));
    if (is_vectorized) vectorized = &leaf;
  }
}

// A mark of memory would say nothing if the stage does not have such memory, or not at a loop.
void CheckMemoryMarks(const Stage& stage) {
  const auto refuse = [&](const char* primitive, std::string_view reason) {
    throw InvalidArgument(StrCat(primitive, ": stage ", stage.name(), " is ", reason));
  };
  constexpr std::string_view kNoLoop =
      "not computed at a loop, so there is no next iteration; give it one with compute_at";
  if (stage.placement() != Stage::Placement::kAt) {
    if (stage.marks().double_buffered) refuse("double_buffer", kNoLoop);
    if (stage.marks().rolling) refuse("rolling_buffer", kNoLoop);
  }
  if (stage.placement() == Stage::Placement::kInline && !stage.marks().alignments.empty())
    refuse("storage_align", "inlined, so that it has no memory whose strides could be aligned");
}

// Checks what is loaded whatever the values are, so not in a branch of a selection.
class ReadCheck {
 public:
  ReadCheck(const Stage& stage, const loop::Bounds& ranges, const std::string& function)
      : stage_(stage), bounds_(ranges), function_(function) {
    for (const auto* list : {&stage.op()->axes, &stage.op()->reduce_axes}) {
      for (const IterVar& axis : *list) {
        if (!(bounds_.Of(axis.var) == loop::Interval())) continue;
        const auto* min = axis.min.As<loop::IntImmNode>();
        const auto* extent = axis.extent.As<loop::IntImmNode>();
        if (extent != nullptr && extent->value <= 0) runs_ = false;
        if (min != nullptr && extent != nullptr)
          bounds_.Bind(axis.var, {min->value, min->value + extent->value - 1});
      }
    }
  }

  // From now on, indices that use one of these must be known to be inside of what there is.
  void Require(std::vector<Var> rounded) { rounded_ = std::move(rounded); }

  // From now on, nothing is read where `condition` does not hold. What it says of the bounds of an
  // axis holds for what is checked later.
  void Assume(const Expr& condition) {
    const loop::Bounds all = bounds_;
    std::vector<Expr> parts;
    loop::SplitConjunction(condition, &parts);
    for (const Var& axis : rounded_) {
      const loop::Interval range = bounds_.Of(axis);
      Expr begin = range.low, end = range.high + 1;
      for (const Expr& part : parts) loop::Tighten(part, axis, &begin, &end);
      const loop::Interval first = loop::RangeOf(begin, all), last = loop::RangeOf(end - 1, all);
      bounds_.Bind(axis, {std::max(range.low, first.low), std::min(range.high, last.high)});
    }
  }

  void Check(const Expr& e) {
    if (!runs_ || !seen_.insert(e.get()).second) return;
    if (const auto* select = e.As<loop::SelectNode>()) {
      // What is to be proved counts in both branches.
      Check(select->condition);
      if (!rounded_.empty()) CheckBranches(*select);
      return;
    }
    for (const Expr& child : loop::Children(e)) Check(child);
    const auto* load = e.As<loop::LoadNode>();
    if (load == nullptr) return;
    for (std::size_t d = 0; d < load->indices.size(); ++d) {
      const auto* extent = load->buffer->shape[d].As<loop::IntImmNode>();
      if (!rounded_.empty()) {
        ProveIndex(*load, d);
      } else if (extent != nullptr) {
        CheckIndex(*load, d, extent->value);
      }
    }
  }

 private:
  // If only the branch that is taken is evaluated, its axes are in the ranges that the condition
  // leaves them.
  void CheckBranches(const loop::SelectNode& select) {
    const loop::Bounds all = bounds_;
    const auto seen = seen_;
    if (select.lazy) Assume(select.condition);
    Check(select.on_true);
    bounds_ = all;
    seen_ = seen;
    Check(select.on_false);
  }

  void ProveIndex(const loop::LoadNode& load, std::size_t d) const {
    const Expr &index = load.indices[d], &extent = load.buffer->shape[d];
    if (std::none_of(rounded_.begin(), rounded_.end(),
                     [&](const Var& axis) { return loop::UsesVar(index, axis); }))
      return;
    if (loop::CanProve(index >= 0, bounds_) && loop::CanProve(index < extent, bounds_)) return;
    throw InvalidArgument(StrCat(
        "split: stage ", stage_.name(), ", Tail::kRoundUp: the iterations past the end read ",
        load.buffer->name, " at ", loop::Print(index), ", which may be outside of the extent ",
        loop::Print(extent), " of dimension ", d, "; use Tail::kShiftInwards or Tail::kGuard"));
  }

  void CheckIndex(const loop::LoadNode& load, std::size_t d, std::int64_t extent) const {
    const loop::Interval reached = Reached(load.indices[d]);
    const bool is_low = reached.low < 0;
    if (reached == loop::Interval() || (!is_low && reached.high < extent)) return;
    throw InvalidArgument(
        StrCat("lower ", function_, ": stage ", stage_.name(), " reads ", load.buffer->name,
               " at index ", is_low ? reached.low : reached.high, " of dimension ", d,
               ", whose extent is ", extent, "; the index is ", loop::Print(load.indices[d])));
  }

  // The first and the last of the indices, if they are known. The axes take all values.
  loop::Interval Reached(const Expr& index) const {
    const loop::Linear sum = loop::ToLinear(index, bounds_);
    loop::Interval reached{sum.constant, sum.constant};
    for (const auto& [atom, coefficient] : sum.terms) {
      const loop::Interval values = bounds_.Of(atom);
      if (atom.kind() != loop::ExprKind::kVar || values == loop::Interval()) return {};
      const bool rises = coefficient > 0;
      std::int64_t low = 0, high = 0;
      if (__builtin_mul_overflow(rises ? values.low : values.high, coefficient, &low) ||
          __builtin_mul_overflow(rises ? values.high : values.low, coefficient, &high) ||
          __builtin_add_overflow(reached.low, low, &reached.low) ||
          __builtin_add_overflow(reached.high, high, &reached.high))
        return {};
    }
    return reached;
  }

  const Stage& stage_;
  loop::Bounds bounds_;
  const std::string& function_;
  bool runs_ = true;
  std::vector<Var> rounded_;
  std::unordered_set<const loop::ExprNode*> seen_;
};

// Passes over loops call themselves for each buffer within another one.
void CheckNumberOfStages(const Schedule& schedule) {
  constexpr std::ptrdiff_t kMax = 4096;
  const auto stored = std::ranges::count_if(schedule.stages(), [](const auto& stage) {
    return !stage->op()->is_placeholder() && stage->placement() != Stage::Placement::kInline;
  });
  if (stored <= kMax) return;
  throw InvalidArgument(StrCat("the schedule has ", stored,
                               " stages with memory of their own; at most ", kMax,
                               " are allowed in one kernel; inline some, or make several kernels"));
}

}  // namespace

void CheckStages(const Schedule& schedule, const std::vector<Var>& scalars,
                 const std::string& function) {
  const VariableCheck variables(scalars, function);
  CheckNumberOfStages(schedule);
  for (const auto& stage : schedule.stages()) {
    if (stage->op()->is_placeholder()) continue;
    variables.Check(*stage);
    CheckSharedAxes(*stage);
    CheckMemoryMarks(*stage);
    CheckVectorLoops(*stage);
    CheckPlace(*stage);
    CheckTails(*stage);
  }
}

void CheckReads(const Stage& stage, const NestBody& body, const loop::Bounds& ranges,
                const std::string& function) {
  // Elements that are left out read nothing.
  if (stage.guard().defined() || stage.marks().store_predicate) return;
  ReadCheck check(stage, ranges, function);
  for (const Expr& value : body.initial) check.Check(value);
  if (body.condition.defined()) {
    check.Check(body.condition);
    return;
  }
  for (const Expr& index : body.target) check.Check(index);
  // Terms that go nowhere read nothing, either.
  if (!body.target.empty()) return;
  for (const Expr& value : body.values) check.Check(value);
}

void CheckRoundedReads(const Stage& stage, const NestBody& body, const std::vector<Range>& region,
                       const loop::Bounds& bounds, const std::string& function) {
  loop::Bounds ranges = bounds;
  std::vector<Var> rounded;
  for (std::size_t d = 0; d < region.size(); ++d) {
    const IterVar& axis = stage.op()->axes[d];
    ranges.Bind(axis.var, {0, loop::RangeOf(region[d].extent - 1, bounds).high});
    if (!loop::StructuralEqual(region[d].extent, axis.extent)) rounded.push_back(axis.var);
  }
  ReadCheck check(stage, ranges, function);
  check.Require(std::move(rounded));
  for (const Expr& e : body.initial) check.Check(e);
  if (body.condition.defined()) {
    check.Check(body.condition);
    check.Assume(body.condition);
  }
  for (const auto* list : {&body.target, &body.values}) {
    for (const Expr& e : *list) check.Check(e);
  }
}

}  // namespace tenon::schedule
