// How the axes of a stage come from one another, and the arithmetic of it.
//
// Root axes are those of the operation; each relation makes new axes of older ones; leaves are the
// axes that no relation has consumed. All functions extend the map that they are given.
//
//   ByVar extents = {{i, 10}};
//   InferExtents({SplitRelation{i, outer, inner, 4}}, &extents);  // outer: 3, inner: 4
#ifndef TENON_SCHEDULE_RELATION_H_
#define TENON_SCHEDULE_RELATION_H_

#include <variant>
#include <vector>

#include "tenon/loop/visit.h"
#include "tenon/te/tensor.h"

namespace tenon::schedule {

using te::IterVar;
using te::Tensor;

// What becomes of the last iterations if a split does not divide the loop.
enum class Tail {
  kGuard,        // those past the end are skipped
  kRoundUp,      // they run, too, in memory that has room for them
  kShiftInwards  // the last block begins earlier: some elements are computed twice
};
const char* ToString(Tail tail);

// parent = outer * inner_extent + inner; either the inner extent (factor) or the outer one (parts)
// is given. With kShiftInwards, parent = min(outer * factor, parent_extent - factor) + inner.
struct SplitRelation {
  IterVar parent, outer, inner;
  loop::Expr factor;  // undefined when parts is given
  loop::Expr parts;
  Tail tail = Tail::kGuard;
};
// fused = outer * inner_extent + inner
struct FuseRelation {
  IterVar outer, inner, fused;
};
// An axis of one iteration that stands for no root.
struct SingletonRelation {
  IterVar axis;
};
using Relation = std::variant<SplitRelation, FuseRelation, SingletonRelation>;

using ByVar = loop::ExprMap;

// Goes from the extents of the roots to those of all axes.
void InferExtents(const std::vector<Relation>& relations, ByVar* extents);
// Goes from the values of the leaves to those of all axes.
void InferRoots(const std::vector<Relation>& relations, const ByVar& extents, ByVar* values);
// Goes from the values of the roots to those of all axes.
void InferLeaves(const std::vector<Relation>& relations, const ByVar& extents, ByVar* values);
// The condition that keeps the values of split axes inside their extents. True if every split
// divides or moves its last block inwards. Splits of reduce axes count if asked.
loop::Expr OverhangGuard(const std::vector<Relation>& relations, const ByVar& extents,
                         const ByVar& values, bool with_reduce);
// Whether loop `leaf` is made of `axis`.
bool IsMadeOf(const std::vector<Relation>& relations, const IterVar& leaf, const IterVar& axis);
// The loop that `axis` means after all relations. A split axis stands for its inner loop, a fused
// one for the fused loop.
IterVar LeafOf(const std::vector<Relation>& relations, IterVar axis);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_RELATION_H_
