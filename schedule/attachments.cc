// The region that the loop's body reads decides how much an iteration computes. The ways of placing
// a producer differ in how much of it is computed again, and in where its memory is.
#include "tenon/schedule/attachments.h"

#include <utility>

#include "tenon/loop/visit.h"
#include "tenon/schedule/attached_output.h"
#include "tenon/schedule/needed_region.h"
#include "tenon/schedule/places.h"
#include "tenon/schedule/rolling.h"

namespace tenon::schedule {

using loop::Expr;
using loop::Stmt;

Stmt Attachments::Place(const Stage& producer, const Stage& stage, const IterVar& axis,
                        const Expr& extent, const Stmt& inside) {
  if (producer.storage() != Stage::Storage::kWithComputation)
    return PlaceStored(producer, stage, axis, extent, inside);
  if (producer.marks().double_buffered) return PlaceTwice(producer, stage, axis, extent, inside);
  if (producer.marks().rolling && !loop::IsConstInt(extent, 1))
    return PlaceRolling(producer, stage, axis, inside);
  if (producer.is_output()) return PlaceOutput(producer, stage, axis, inside);
  return PlacePlainly(producer, inside);
}

Stmt Attachments::PlacePlainly(const Stage& producer, const Stmt& inside) {
  std::vector<Range> region = RegionNeeded(producer, inside, lowering_.bounds);
  WidenLanes(producer, region);
  Stmt result = loop::Seq({Nest(lowering_, producer, region), inside});
  for (const loop::Buffer& buffer : producer.op()->outputs)
    result = AllocateBox(producer, buffer, region, result);
  return result;
}

// Computes into the caller's memory. The parameter becomes another buffer, which only `inside`
// knows. Whoever reads the output elsewhere may do so before it is computed, and CheckPlacements
// finds the former buffer there.
Stmt Attachments::PlaceOutput(const Stage& producer, const Stage& stage, const IterVar& axis,
                              const Stmt& inside) {
  if (stage.placement() != Stage::Placement::kRoot || !stage.op()->is_compute() ||
      lowering_.steps.IsStep(stage))
    RefuseAt("compute_at", producer, stage, axis,
             "an output needs a loop of a stage that is computed at the root, as a whole");
  const loop::Bounds& bounds = lowering_.bounds;
  const std::vector<Range> region =
      RegionOfOutput(producer, stage, axis, RegionNeeded(producer, inside, bounds), inside, bounds);
  Stmt result = loop::Seq({Nest(lowering_, producer, region), inside});
  for (const loop::Buffer& buffer : producer.op()->outputs) {
    if (!lowering_.parameters.Has(buffer)) {
      result = AllocateBox(producer, buffer, region, result);
      continue;
    }
    const Box box(producer, buffer, WholeRegion(buffer));
    result = box.Move(result, MinsOf(WholeRegion(buffer)));
    lowering_.parameters.Replace(buffer, box.memory());
  }
  return result;
}

// Iteration v computes what the next one reads into copy (v + 1) mod 2, and reads copy v mod 2.
// What iteration 0 reads is computed before the loop.
Stmt Attachments::PlaceTwice(const Stage& producer, const Stage& stage, const IterVar& axis,
                             const Expr& extent, const Stmt& inside) {
  RequireSerial("double_buffer", producer, stage, axis);
  const std::vector<Range> region = RegionNeeded(producer, inside, lowering_.bounds);
  const std::vector<Expr> mins = MinsOf(region);
  for (const Range& range : region) {
    if (loop::UsesVar(range.extent, axis.var))
      RefuseAt("double_buffer", producer, stage, axis,
               "iterations read parts of different size; they must be alike");
  }
  const Stmt nest = Nest(lowering_, producer, region);
  // Computes what iteration `v` reads, into the copy for it.
  const auto compute = [&](const std::vector<Box>& boxes, const Expr& v) {
    Stmt stmt = loop::Substitute(nest, {{axis.var, v}});
    std::vector<Expr> begin;
    for (const Expr& min : mins) begin.push_back(loop::Substitute(min, {{axis.var, v}}));
    for (const Box& box : boxes) stmt = box.Move(stmt, begin, loop::FloorMod(v, 2));
    return stmt;
  };
  std::vector<Box> boxes;
  for (const loop::Buffer& buffer : producer.op()->outputs)
    boxes.emplace_back(producer, buffer, region, 2);
  Stmt use = inside;
  for (const Box& box : boxes) use = box.Move(use, mins, loop::FloorMod(axis.var, 2));
  FirstCopy first{loop::If(extent > 0, compute(boxes, 0)), {}};
  for (const Box& box : boxes) first.memory.push_back(box.memory());
  first_copies_[axis.var].push_back(std::move(first));
  return loop::Seq({loop::If(axis.var + 1 < extent, compute(boxes, Expr(axis.var) + 1)), use});
}

// Every iteration computes what the one before has not, into memory around the loop. Its reads are
// those of a whole window, so that the window of a stage that it reads moves along with it.
Stmt Attachments::PlaceRolling(const Stage& producer, const Stage& stage, const IterVar& axis,
                               const Stmt& inside) {
  RequireSerial("rolling_buffer", producer, stage, axis);
  const std::vector<Range> region = RegionNeeded(producer, inside, lowering_.bounds);
  const RollingRegion rolling = FindRolling(producer, region, axis);
  Stmt all = loop::Seq({loop::If(Expr(axis.var) < 1, Nest(lowering_, producer, rolling.first)),
                        Nest(lowering_, producer, rolling.next), inside});
  FirstCopy around{loop::Seq({}), {}};
  for (const loop::Buffer& buffer : producer.op()->outputs) {
    const Box box(producer, buffer, region, 1, rolling.dimension);
    all = box.Move(all, MinsOf(region));
    around.memory.push_back(box.memory());
  }
  first_copies_[axis.var].push_back(std::move(around));
  return all;
}

// Computes into memory that is around an outer loop. The buffers become others, which only this
// loop knows, and CheckPlacements finds the former ones where somebody else reads them. A window
// that slides along the loop computes only what is new.
Stmt Attachments::PlaceStored(const Stage& producer, const Stage& stage, const IterVar& axis,
                              const Expr& extent, const Stmt& inside) {
  std::vector<Range> region = RegionNeeded(producer, inside, lowering_.bounds);
  std::optional<RollingRegion> window;
  if (stage.KindOf(axis) == loop::ForKind::kSerial && !loop::IsConstInt(extent, 1))
    window = WindowOf(region, axis);
  if (!window) WidenLanes(producer, region);
  const Stmt nest =
      window ? loop::Seq({loop::If(Expr(axis.var) < 1, Nest(lowering_, producer, window->first)),
                          Nest(lowering_, producer, window->next)})
             : Nest(lowering_, producer, region);
  std::vector<loop::Buffer>& kept = stored_[&producer];
  loop::BufferMap buffers;
  for (const loop::Buffer& buffer : producer.op()->outputs) {
    kept.push_back(loop::Buffer::Make(buffer->name, buffer->dtype, buffer->shape));
    buffers[buffer] = kept.back();
  }
  return loop::ReplaceBuffers(loop::Seq({nest, inside}), buffers);
}

Stmt Attachments::AllocateStored(const Stage& producer, Stmt stmt) {
  for (const loop::Buffer& buffer : std::exchange(stored_[&producer], {})) {
    // The memory may belong to an attempt at a scan's step that was given up.
    const auto region = RegionTouched(stmt, buffer, lowering_.bounds);
    if (region) stmt = AllocateBox(producer, buffer, *region, stmt);
  }
  return stmt;
}

Stmt Attachments::AllocateAt(const Stage& stage, const IterVar& axis, Stmt inside) {
  for (const auto& producer : lowering_.schedule.stages()) {
    if (producer->storage() == Stage::Storage::kAt && stored_.contains(producer.get()) &&
        IsStoredAt(*producer, stage, axis))
      inside = AllocateStored(*producer, inside);
  }
  return inside;
}

Stmt Attachments::AddFirstCopies(const IterVar& axis, Stmt loop) {
  const auto found = first_copies_.find(axis.var);
  if (found == first_copies_.end()) return loop;
  for (const FirstCopy& first : found->second) {
    loop = loop::Seq({first.compute, loop});
    for (const loop::Buffer& memory : first.memory) loop = loop::Allocate(memory, loop);
  }
  first_copies_.erase(found);
  return loop;
}

}  // namespace tenon::schedule
