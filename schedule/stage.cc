#include "tenon/schedule/stage.h"

#include <algorithm>
#include <iterator>

#include "tenon/loop/check_given.h"
#include "tenon/loop/print.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/reducer_laws.h"

namespace tenon::schedule {

using loop::Expr;

namespace {

// `leaves` with those of `order` in the places that they hold together.
std::vector<IterVar> InOrder(std::vector<IterVar> leaves, const std::vector<IterVar>& order) {
  std::size_t next = 0;
  for (IterVar& leaf : leaves) {
    const bool moves =
        std::ranges::any_of(order, [&](const IterVar& axis) { return axis.var.same_as(leaf.var); });
    if (moves) leaf = order[next++];
  }
  return leaves;
}

// Why terms may not be joined in the order of the loops `after`, if it is not that of `before`. A
// loop may also pass one that no call names.
std::optional<std::string> WhyNotInOrder(const te::OperationNode& op,
                                         const std::vector<IterVar>& before,
                                         const std::vector<IterVar>& after) {
  if (!op.is_reduction()) return std::nullopt;
  std::vector<IterVar> first, second;
  const auto is_reduce = [](const IterVar& leaf) { return leaf.is_reduce; };
  std::ranges::copy_if(before, std::back_inserter(first), is_reduce);
  std::ranges::copy_if(after, std::back_inserter(second), is_reduce);
  const bool is_same = std::ranges::equal(
      first, second, [](const IterVar& a, const IterVar& b) { return a.var.same_as(b.var); });
  if (is_same) return std::nullopt;
  const auto why = te::WhyOrderCounts(*op.combiner, op.body);
  return why ? std::optional(StrCat(*why, ", so that its reduce loops keep their order"))
             : std::nullopt;
}

constexpr const char* kStepsInOrder = "the steps of a scan run one after the other";

}  // namespace

Stage::Stage(te::Operation op, std::size_t number, Record* record, const StageOf* stage_of)
    : origin_op_(op), number_(number), record_(record), stage_of_(stage_of) {
  Reset(std::move(op));
}

void Stage::Reset(te::Operation op) {
  op_ = std::move(op);
  leaves_ = op_->axes;
  leaves_.insert(leaves_.end(), op_->reduce_axes.begin(), op_->reduce_axes.end());
  all_axes_ = leaves_;
  relations_.clear();
  marks_.kinds.clear();
  marks_.unrolls.clear();
  marks_.prefetches.clear();
  marks_.next_blocks.clear();
}

AxisRef Stage::RefTo(const IterVar& axis) const {
  const auto found = std::find_if(all_axes_.begin(), all_axes_.end(), [&](const IterVar& other) {
    return other.var.same_as(axis.var);
  });
  return {number_, static_cast<std::size_t>(found - all_axes_.begin())};
}

void Stage::Refuse(const char* primitive, const IterVar* axis, const std::string& reason) const {
  throw InvalidArgument(StrCat(primitive, ": stage ", name(),
                               axis != nullptr ? StrCat(", axis ", axis->var.name()) : "", ": ",
                               reason));
}

std::size_t Stage::Position(const char* primitive, const IterVar& axis) const {
  if (op_->kind == te::OperationKind::kExtern)
    Refuse(primitive, nullptr, "an external operation is one call, which has no loops to schedule");
  const auto is_axis = [&](const IterVar& other) { return other.var.same_as(axis.var); };
  const auto found = std::find_if(leaves_.begin(), leaves_.end(), is_axis);
  if (found != leaves_.end()) return static_cast<std::size_t>(found - leaves_.begin());
  const std::string loops = StrJoin(
      leaves_, ", ", [](std::string* text, const IterVar& leaf) { *text += leaf.var.name(); });
  if (std::any_of(all_axes_.begin(), all_axes_.end(), is_axis)) {
    Refuse(primitive, &axis,
           StrCat("the axis has already been split or fused; the loops are now: ", loops));
  }
  Refuse(primitive, &axis,
         StrCat("the axis is not part of the schedule of this stage; its loops are: ", loops));
}

const IterVar& Stage::Loop(std::string_view name) const {
  const auto has_name = [&](const IterVar& leaf) { return leaf.var.name() == name; };
  const auto count = std::count_if(leaves_.begin(), leaves_.end(), has_name);
  if (count == 1) return *std::find_if(leaves_.begin(), leaves_.end(), has_name);
  Refuse("loop", nullptr,
         StrCat(count == 0 ? "no loop" : "more than one loop", " has the name \"", name,
                "\"; its loops are: ",
                StrJoin(leaves_, ", ",
                        [](std::string* text, const IterVar& leaf) { *text += leaf.var.name(); })));
}

bool Stage::IsLeaf(const IterVar& axis) const {
  return std::any_of(leaves_.begin(), leaves_.end(),
                     [&](const IterVar& leaf) { return leaf.var.same_as(axis.var); });
}

void Stage::RequireData(const char* primitive, const IterVar& axis) const {
  if (leaves_[Position(primitive, axis)].is_ordered) {
    Refuse(primitive, &axis,
           "this is the time axis of a scan, whose steps need each other's results; only data axes "
           "are allowed");
  }
  if (leaves_[Position(primitive, axis)].is_reduce) {
    Refuse(
        primitive, &axis,
        "this is a reduce axis, whose iterations depend on each other; only data axes are allowed");
  }
}

void Stage::RequireUpdates(const char* primitive, const IterVar& axis) const {
  if (!leaves_[Position(primitive, axis)].starts_only) return;
  Refuse(primitive, &axis,
         "terms go to computed indices of this dimension, so that its loop sets initial values "
         "alone; only the other data axes and the reduce axes run updates");
}

std::pair<IterVar, IterVar> Stage::SplitAt(std::size_t position, SplitRelation relation) {
  const IterVar& parent = relation.parent;
  relation.outer = relation.inner = parent;
  relation.outer.var = loop::Var(parent.var.name() + ".outer");
  relation.inner.var = loop::Var(parent.var.name() + ".inner");
  for (IterVar* part : {&relation.outer, &relation.inner}) {
    part->min = 0;
    part->extent = Expr();
  }
  leaves_[position] = relation.outer;
  leaves_.insert(leaves_.begin() + static_cast<std::ptrdiff_t>(position) + 1, relation.inner);
  all_axes_.push_back(relation.outer);
  all_axes_.push_back(relation.inner);
  record_->emplace_back(SplitStep{RefTo(parent), relation.factor, relation.parts, relation.tail});
  const std::pair<IterVar, IterVar> result(relation.outer, relation.inner);
  relations_.emplace_back(std::move(relation));
  return result;
}

std::pair<IterVar, IterVar> Stage::Split(const IterVar& axis, const Expr& factor, Tail tail) {
  const std::size_t position = Position("split", axis);
  if (tail != Tail::kGuard) {
    RequireData("split", axis);
    RequireUpdates("split", axis);
  }
  if (const auto why = loop::WhyNoFactor(factor))
    Refuse("split", &axis, StrCat("the factor is ", loop::Print(factor), "; ", *why));
  return SplitAt(position, {.parent = leaves_[position],
                            .outer = axis,
                            .inner = axis,
                            .factor = factor,
                            .parts = Expr(),
                            .tail = tail});
}

std::pair<IterVar, IterVar> Stage::SplitParts(const IterVar& axis, const Expr& parts) {
  const std::size_t position = Position("split", axis);
  if (const auto why = loop::WhyNoFactor(parts))
    Refuse("split", &axis, StrCat("the number of parts is ", loop::Print(parts), "; ", *why));
  return SplitAt(position, {.parent = leaves_[position],
                            .outer = axis,
                            .inner = axis,
                            .factor = Expr(),
                            .parts = parts});
}

IterVar Stage::Fuse(const IterVar& outer, const IterVar& inner) {
  std::size_t first = Position("fuse", outer), second = Position("fuse", inner);
  if (first > second) std::swap(first, second);
  if (second != first + 1) {
    Refuse("fuse", &outer,
           StrCat("it and ", inner.var.name(), " are not consecutive loops; reorder them first"));
  }
  const IterVar a = leaves_[first], b = leaves_[second];
  if (a.starts_only != b.starts_only) {
    Refuse("fuse", &outer,
           StrCat("of it and ", inner.var.name(),
                  " one is of a dimension that terms go to at computed indices; both must be or "
                  "none"));
  }
  const IterVar fused{loop::Var(StrCat(a.var.name(), ".", b.var.name(), ".fused")),
                      0,
                      Expr(),
                      a.is_reduce || b.is_reduce,
                      a.is_ordered || b.is_ordered,
                      a.starts_only};
  leaves_[first] = fused;
  leaves_.erase(leaves_.begin() + static_cast<std::ptrdiff_t>(second));
  all_axes_.push_back(fused);
  relations_.emplace_back(FuseRelation{a, b, fused});
  record_->emplace_back(FuseStep{RefTo(a), RefTo(b)});
  return fused;
}

IterVar Stage::Fuse(std::span<const IterVar> axes) {
  if (axes.empty()) Refuse("fuse", nullptr, "no loop is given; there must be one at least");
  // Copies: they may be this stage's own list of loops, which is about to change.
  const std::vector<IterVar> given(axes.begin(), axes.end());
  std::size_t first = Position("fuse", given[0]), last = first;
  for (std::size_t i = 1; i < given.size(); ++i) {
    const std::size_t position = Position("fuse", given[i]);
    if ((position + 1 != first && position != last + 1) ||
        leaves_[position].starts_only != leaves_[first].starts_only) {
      Refuse("fuse", &given[i],
             "it does not lie beside those before it in the list, in loops of the same kind; "
             "reorder them first");
    }
    first = std::min(first, position);
    last = std::max(last, position);
  }
  IterVar fused = leaves_[Position("fuse", given[0])];
  for (std::size_t i = 1; i < given.size(); ++i) fused = Fuse(fused, given[i]);
  return fused;
}

IterVar Stage::Fuse() {
  if (op_->is_placeholder()) Refuse("fuse", nullptr, "a placeholder is given and has no loops");
  const IterVar axis{loop::Var("singleton"), 0, Expr(1), false};
  leaves_.insert(leaves_.begin(), axis);
  all_axes_.push_back(axis);
  relations_.emplace_back(SingletonRelation{axis});
  record_->emplace_back(SingletonStep{number_});
  return axis;
}

Stage& Stage::Reorder(const std::vector<IterVar>& order) {
  std::vector<IterVar> axes;
  for (const IterVar& axis : order) {
    const std::size_t position = Position("reorder", axis);
    const bool is_twice = std::ranges::any_of(
        axes, [&](const IterVar& other) { return other.var.same_as(axis.var); });
    if (is_twice) Refuse("reorder", &axis, "the axis appears more than once");
    if (leaves_[position].is_ordered) Refuse("reorder", &axis, kStepsInOrder);
    axes.push_back(leaves_[position]);
  }
  std::vector<IterVar> reordered = InOrder(leaves_, axes);
  if (const auto why = WhyNotInOrder(*op_, leaves_, reordered)) Refuse("reorder", nullptr, *why);
  leaves_ = std::move(reordered);
  ReorderStep step{number_, {}};
  for (const IterVar& axis : axes) step.order.push_back(RefTo(axis));
  record_->emplace_back(std::move(step));
  return *this;
}

Stage::Tiles Stage::Tile(const IterVar& x, const IterVar& y, const Expr& x_factor,
                         const Expr& y_factor) {
  // Copies: they may be elements of this stage's own list of loops, which is about to change.
  const IterVar rows = leaves_[Position("tile", x)], columns = leaves_[Position("tile", y)];
  if (x.var.same_as(y.var)) Refuse("tile", &x, "the two axes are the same");
  for (const Expr* factor : {&x_factor, &y_factor}) {
    if (const auto why = loop::WhyNoFactor(*factor))
      Refuse("tile", factor == &x_factor ? &x : &y,
             StrCat("the factor is ", loop::Print(*factor), "; ", *why));
  }
  // What reorder would refuse, before anything is split: each axis stands for its outer part, and a
  // copy for its inner one.
  IterVar row = rows, column = columns;
  row.var = loop::Var("row");
  column.var = loop::Var("column");
  std::vector<IterVar> split;
  for (const IterVar& leaf : leaves_) {
    split.push_back(leaf);
    if (leaf.var.same_as(rows.var)) split.push_back(row);
    if (leaf.var.same_as(columns.var)) split.push_back(column);
  }
  for (const IterVar* axis : {&rows, &columns}) {
    if (axis->is_ordered) Refuse("tile", axis, kStepsInOrder);
  }
  if (const auto why = WhyNotInOrder(*op_, split, InOrder(split, {rows, columns, row, column})))
    Refuse("tile", nullptr, *why);
  const auto [x_outer, x_inner] = Split(rows, x_factor);
  const auto [y_outer, y_inner] = Split(columns, y_factor);
  Reorder({x_outer, y_outer, x_inner, y_inner});
  return {x_outer, y_outer, x_inner, y_inner};
}

Stage& Stage::Vectorize(const IterVar& axis) {
  RequireData("vectorize", axis);
  marks_.kinds[axis.var] = loop::ForKind::kVectorized;
  record_->emplace_back(KindStep{RefTo(axis), loop::ForKind::kVectorized});
  return *this;
}
Stage& Stage::Unroll(const IterVar& axis) {
  Position("unroll", axis);
  marks_.kinds[axis.var] = loop::ForKind::kUnrolled;
  record_->emplace_back(KindStep{RefTo(axis), loop::ForKind::kUnrolled});
  return *this;
}
Stage& Stage::Parallel(const IterVar& axis) {
  RequireData("parallel", axis);
  RequireUpdates("parallel", axis);
  marks_.kinds[axis.var] = loop::ForKind::kParallel;
  record_->emplace_back(KindStep{RefTo(axis), loop::ForKind::kParallel});
  return *this;
}

loop::ForKind Stage::KindOf(const IterVar& leaf) const {
  const auto found = marks_.kinds.find(leaf.var);
  return found == marks_.kinds.end() ? loop::ForKind::kSerial : found->second;
}

}  // namespace tenon::schedule
