// Extents go down the relations, from the roots to the leaves; index values go up or down, each
// formula beside its relation below.
#include "tenon/schedule/relation.h"

#include <algorithm>

#include "tenon/loop/simplify/simplify.h"
#include "tenon/schedule/split_extents.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

using loop::Expr;

Expr CeilDiv(const Expr& a, const Expr& b) {
  if (a.kind() == loop::ExprKind::kIntImm) return loop::Simplify(loop::FloorDiv(a - 1, b) + 1);
  return loop::Simplify(loop::FloorDiv(a + b - 1, b));
}

// The iterations of two loops as one. Throws InvalidArgument if an int64 cannot count them.
Expr Together(const FuseRelation& fuse, const Expr& outer, const Expr& inner) {
  const auto *a = outer.As<loop::IntImmNode>(), *b = inner.As<loop::IntImmNode>();
  std::int64_t product = 0;
  if (a != nullptr && b != nullptr && __builtin_mul_overflow(a->value, b->value, &product)) {
    throw InvalidArgument(StrCat("fuse: the loops ", fuse.outer.var.name(), " and ",
                                 fuse.inner.var.name(), " have ", a->value, " times ", b->value,
                                 " iterations; a loop has less than 2^63"));
  }
  return loop::Simplify(outer * inner);
}

// Where a block of a split axis begins.
Expr BeginOf(const SplitRelation& split, const ByVar& extents, const Expr& outer) {
  const Expr width = extents.at(split.inner.var);
  const Expr begin = outer * width;
  return split.tail == Tail::kShiftInwards ? loop::Min(begin, extents.at(split.parent.var) - width)
                                           : begin;
}

}  // namespace

Expr AtLeastOne(const Expr& count) {
  return count.kind() == loop::ExprKind::kIntImm ? count : loop::Max(count, 1);
}

bool BlockFits(const Expr& width, const Expr& extent) {
  return loop::CanProve(width <= extent, {}) || loop::CanProve(width <= loop::Max(extent, 1), {}) ||
         loop::CanProve(extent <= 0, {});
}

void InferExtents(const std::vector<Relation>& relations, ByVar* extents) {
  ByVar& extent = *extents;
  for (const Relation& relation : relations) {
    if (const auto* split = std::get_if<SplitRelation>(&relation)) {
      const Expr parent = extent.at(split->parent.var);
      // outer = ceil(parent / factor), inner = min(factor, parent); or outer = parts, inner =
      // ceil(parent / parts)
      if (split->factor.defined()) {
        const bool both_constant = split->factor.kind() == loop::ExprKind::kIntImm &&
                                   parent.kind() == loop::ExprKind::kIntImm;
        const Expr inner = both_constant ? loop::Max(loop::Min(split->factor, parent), 1)
                                         : AtLeastOne(split->factor);
        extent[split->inner.var] = inner;
        extent[split->outer.var] = CeilDiv(parent, inner);
      } else {
        const Expr parts = AtLeastOne(split->parts);
        extent[split->outer.var] = parts;
        extent[split->inner.var] = CeilDiv(parent, parts);
      }
    } else if (const auto* fuse = std::get_if<FuseRelation>(&relation)) {
      extent[fuse->fused.var] =
          Together(*fuse, extent.at(fuse->outer.var), extent.at(fuse->inner.var));
    } else {
      extent[std::get<SingletonRelation>(relation).axis.var] = 1;
    }
  }
}

void InferRoots(const std::vector<Relation>& relations, const ByVar& extents, ByVar* values) {
  ByVar& value = *values;
  for (auto it = relations.rbegin(); it != relations.rend(); ++it) {
    if (const auto* split = std::get_if<SplitRelation>(&*it)) {
      value[split->parent.var] =
          BeginOf(*split, extents, value.at(split->outer.var)) + value.at(split->inner.var);
    } else if (const auto* fuse = std::get_if<FuseRelation>(&*it)) {
      // outer = fused / inner_extent, inner = fused mod inner_extent
      const Expr fused = value.at(fuse->fused.var), width = extents.at(fuse->inner.var);
      value[fuse->outer.var] = loop::FloorDiv(fused, width);
      value[fuse->inner.var] = loop::FloorMod(fused, width);
    }
  }
}

void InferLeaves(const std::vector<Relation>& relations, const ByVar& extents, ByVar* values) {
  ByVar& value = *values;
  for (const Relation& relation : relations) {
    if (const auto* split = std::get_if<SplitRelation>(&relation)) {
      // outer = parent / inner_extent, inner = parent - the beginning of the block
      const Expr parent = value.at(split->parent.var), width = extents.at(split->inner.var);
      const Expr outer = loop::FloorDiv(parent, width);
      value[split->outer.var] = outer;
      value[split->inner.var] = split->tail == Tail::kShiftInwards
                                    ? parent - BeginOf(*split, extents, outer)
                                    : loop::FloorMod(parent, width);
    } else if (const auto* fuse = std::get_if<FuseRelation>(&relation)) {
      // fused = outer * inner_extent + inner
      value[fuse->fused.var] =
          value.at(fuse->outer.var) * extents.at(fuse->inner.var) + value.at(fuse->inner.var);
    } else {
      value[std::get<SingletonRelation>(relation).axis.var] = 0;
    }
  }
}

Expr OverhangGuard(const std::vector<Relation>& relations, const ByVar& extents,
                   const ByVar& values, bool with_reduce) {
  Expr condition = loop::True();
  for (const Relation& relation : relations) {
    const auto* split = std::get_if<SplitRelation>(&relation);
    if (split == nullptr || (split->parent.is_reduce && !with_reduce)) continue;
    if (split->tail == Tail::kShiftInwards) continue;
    const Expr covered = extents.at(split->outer.var) * extents.at(split->inner.var);
    const Expr needed = extents.at(split->parent.var);
    if (!loop::CanProve(covered <= needed, {}))
      condition = condition && values.at(split->parent.var) < needed;
  }
  return condition;
}

const char* ToString(Tail tail) {
  switch (tail) {
    case Tail::kGuard:
      return "Tail::kGuard";
    case Tail::kRoundUp:
      return "Tail::kRoundUp";
    case Tail::kShiftInwards:
      return "Tail::kShiftInwards";
  }
  Unreachable("all tails have names");
}

bool IsMadeOf(const std::vector<Relation>& relations, const IterVar& leaf, const IterVar& axis) {
  std::vector<loop::Var> parts = {axis.var};
  const auto has = [&](const IterVar& other) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](const loop::Var& part) { return part.same_as(other.var); });
  };
  for (const Relation& relation : relations) {
    if (const auto* split = std::get_if<SplitRelation>(&relation)) {
      if (has(split->parent)) parts.insert(parts.end(), {split->outer.var, split->inner.var});
    } else if (const auto* fuse = std::get_if<FuseRelation>(&relation)) {
      if (has(fuse->outer) || has(fuse->inner)) parts.push_back(fuse->fused.var);
    }
  }
  return has(leaf);
}

IterVar LeafOf(const std::vector<Relation>& relations, IterVar axis) {
  for (const Relation& relation : relations) {
    if (const auto* split = std::get_if<SplitRelation>(&relation)) {
      if (split->parent.var.same_as(axis.var)) axis = split->inner;
    } else if (const auto* fuse = std::get_if<FuseRelation>(&relation)) {
      if (fuse->outer.var.same_as(axis.var) || fuse->inner.var.same_as(axis.var))
        axis = fuse->fused;
    }
  }
  return axis;
}

}  // namespace tenon::schedule
