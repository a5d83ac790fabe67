// One operation of a schedule: its loops, how each runs, and where the whole is computed.
//
// Primitives check first and refuse in words (InvalidArgument naming the primitive, the stage, the
// axis and what is allowed); a refused primitive changes nothing. Stages belong to a Schedule and
// keep their address. Not thread-safe while it is changed.
//
//   auto [outer, inner] = s[C].Split(C.axis(0), 64);
//   s[C].Parallel(outer).Vectorize(inner);
#ifndef TENON_SCHEDULE_STAGE_H_
#define TENON_SCHEDULE_STAGE_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/loop/stmt.h"
#include "tenon/schedule/marks.h"
#include "tenon/schedule/record.h"
#include "tenon/schedule/relation.h"
#include "tenon/te/tensor.h"

namespace tenon::schedule {

class Schedule;
class Stage;

// The stage of each operation, and of those that dataflow primitives have replaced.
using StageOf = std::unordered_map<const te::OperationNode*, Stage*>;

class Stage {
 public:
  // The axis is cut into ceil(extent / factor) times factor iterations, which take its place in
  // that order. If the factor does not divide the extent, `tail` says what becomes of the rest.
  // Legal on a loop of this stage; the factor must be at least 1. Tails other than kGuard are legal
  // only on data axes. Lowering refuses kShiftInwards if the extent may be less than the factor, if
  // threads would compute an element twice, and inside a reduce loop. It takes kRoundUp only of an
  // axis of the operation, of a stage at the root whose memory the caller does not give, and if it
  // can prove that what the additional iterations read is there.
  std::pair<IterVar, IterVar> Split(const IterVar& axis, const loop::Expr& factor,
                                    Tail tail = Tail::kGuard);
  // The same with the number of outer iterations given.
  std::pair<IterVar, IterVar> SplitParts(const IterVar& axis, const loop::Expr& parts);
  // One loop over both, which must be neighbours, in either order. A loop over a data and a reduce
  // axis counts as a reduce axis: elements get their initial values before it begins. What rewrites
  // the reduction (cache_write, rfactor) must come before; tensorize does not know such loops.
  IterVar Fuse(const IterVar& outer, const IterVar& inner);
  // The same for one or more neighbours, from left to right.
  IterVar Fuse(std::span<const IterVar> axes);
  // A new outermost loop of one iteration, where a scalar's producers can be computed.
  IterVar Fuse();
  // The axes take the positions that they hold together, in the order given. Each must be a loop of
  // this stage, not a time axis of a scan, and occur once.
  Stage& Reorder(const std::vector<IterVar>& order);
  // Split both, then outer x, outer y, inner x, inner y.
  struct Tiles {
    IterVar x_outer, y_outer, x_inner, y_inner;
  };
  Tiles Tile(const IterVar& x, const IterVar& y, const loop::Expr& x_factor,
             const loop::Expr& y_factor);

  // Legal on data axes; at lowering the extent must be constant. If the axis has 2^n elements and
  // is not split, a reader that needs more than half gets all, so that vectors are whole.
  Stage& Vectorize(const IterVar& axis);
  // At lowering the extent must be constant. A loop of more than 128 iterations is unrolled in
  // parts of 16.
  Stage& Unroll(const IterVar& axis);
  // Legal on data axes; parallel loops may not nest. If a reduction's terms go to computed indices
  // (te::Into), the axes of these dimensions, in which terms collide, are refused.
  Stage& Parallel(const IterVar& axis);

  // Computes what `parent` needs of this stage inside that loop of it. Legal for a stage that is
  // neither an external operation nor an update of a scan. If the loop is split or fused later, the
  // place moves along to the inner or fused loop. An output still goes to the caller's memory, and
  // dimensions that `parent` does not step through as it does through its own result are computed
  // whole. `parent` must read the output. Lowering needs a data loop of a stage at the root that
  // has elements, with all readers in it, and threads must compute different elements. A scan,
  // which must not be an output, runs through all steps there for the part of its states that is
  // needed.
  Stage& ComputeAt(const Stage& parent, const IterVar& axis);
  // Computes each element where it is read. Legal as compute_at is, except for reductions. External
  // operations read memory, so what they read is stored as well, at the root.
  Stage& ComputeInline();
  // Computes the whole before anything that reads it. Every stage starts so.
  Stage& ComputeRoot();

  // Computes the whole in the first loops of `other`, down to that one, which take the place of as
  // many loops of this stage. Both results come from one pass. Legal for two computes at the root
  // if neither needs the other. Lowering needs loops of equal extents in both, over elements. The
  // loops of this stage must not have marks that differ from those of `other`.
  Stage& ComputeWith(const Stage& other, const IterVar& axis);
  // The result is stored at that loop, or for the whole function, and computed at the loop of the
  // last compute_at, which is inside. What iterations have computed stays. If the loop is serial
  // and the windows that its iterations read overlap as rolling_buffer needs it, each computes only
  // what is new. Legal for a stage at a loop whose memory the caller does not give; compute_at
  // undoes it. Lowering refuses parallel and vectorised loops in between.
  Stage& StoreAt(const Stage& parent, const IterVar& axis);
  Stage& StoreRoot();

  // Sets where the result lives. "global", with which every stage starts, is on the stack if the
  // result is small, else on the heap. "local" is on the stack, and LLVM keeps what it can in
  // registers; lowering refuses more than 256 KiB and sizes that are not constant. Legal for a
  // stage whose memory the caller does not give.
  Stage& SetScope(std::string_view scope);
  // While one iteration of the loop that it is computed at uses the result, the next one's is
  // computed into a second copy. Legal for a stage that is not an output; lowering needs a serial
  // loop.
  Stage& DoubleBuffer();
  // If the windows that iterations of the loop read overlap, each computes only what the one before
  // has not, into a circular buffer of the window's size. Legal for a stage that is neither an
  // output nor double-buffered. Lowering needs a serial loop and windows of one constant size that
  // move along one dimension by a constant number of elements. It refuses a stage that is not
  // computed at a loop, as it does for double_buffer.
  Stage& RollingBuffer();
  // Elements for which `holds`, a function of the operation's data axes, is false are not stored.
  // Memory that the caller gives keeps what it has there; other memory is undefined. Legal for a
  // compute. What rewrites the stage (cache_write, rfactor, transform_layout) must come before.
  // `holds` gives a bool that depends only on the axes.
  Stage& SetStorePredicate(const std::function<loop::Expr(const std::vector<loop::Var>&)>& holds);
  // Non-temporal stores. This is for results larger than the caches, whose whole
  // lines of 64 bytes are written one after the other. It is a hint, which is followed if the
  // stores are vectors of whole lines and the caller's memory is aligned to lines. A run that
  // begins in the middle of a line is stored so from the next line on. Legal for an output that is
  // a compute without reduce axes.
  Stage& StreamStores();
  // Pads the result's memory so that the stride of that data axis is `offset` modulo `factor`.
  // Legal for a stage whose memory the caller does not give; the last axis has the stride 1.
  // Lowering refuses a stage that is inlined.
  Stage& StorageAlign(const IterVar& axis, std::int64_t factor, std::int64_t offset = 0);

  // Keys: "auto_unroll_max_step" unrolls the loop and those serial loops in it whose copies
  // together have at most `value` stores; "unroll_explicit" 0 leaves that to LLVM; "unroll" and
  // "vectorize" mean Unroll and Vectorize.
  Stage& Pragma(const IterVar& axis, std::string_view key, std::int64_t value = 1);
  // Always refuses: a CPU has no thread indices.
  Stage& Bind(const IterVar& axis, std::string_view thread);

  // Puts the intrinsic in the place of the loop over `axis` and of all loops inside it. Legal on a
  // loop of a compute, once per stage, for an intrinsic with the same number and types of outputs
  // and the same kind of reduction. Lowering matches the rest. The loops inside must step through
  // the intrinsic's extents in the last axes (and reduce axes) and stay in one place in the others,
  // without a guard that depends on them. The expressions must be the same. A reduction that goes
  // on outside needs reduce_update.
  Stage& Tensorize(const IterVar& axis, const te::TensorIntrinsic& intrinsic);

  enum class Placement { kRoot, kInline, kAt };
  enum class Storage { kWithComputation, kAt, kRoot };
  struct LoopOf {
    const Stage* stage;
    IterVar axis;
  };
  // What the stage computes now, and what it computed before dataflow primitives rewrote it. Both
  // have the same output buffers, unless the layout was transformed.
  const te::Operation& op() const { return op_; }
  const te::Operation& origin_op() const { return origin_op_; }
  const std::string& name() const { return op_->name; }
  bool is_output() const { return is_output_; }
  // Whether it computes a scan's next state, which is stored where the scan's result is.
  bool is_update() const { return is_update_; }
  Placement placement() const { return placement_; }
  // Axes of op(). Throw OutOfRange.
  const IterVar& axis(int i) const { return Tensor(op_, 0).axis(i); }
  const IterVar& reduce_axis(int i) const { return Tensor(op_, 0).reduce_axis(i); }
  // The loop of that name, as texts show it: "y", "y.outer". After a rewrite it is a loop of the
  // new operation. Throws InvalidArgument, with the names that there are, if there is none or
  // several.
  const IterVar& Loop(std::string_view name) const;
  // Loops in order, outermost first.
  const std::vector<IterVar>& leaves() const { return leaves_; }
  const std::vector<Relation>& relations() const { return relations_; }
  // All axes that the stage has had since it last started anew, and its number among the stages, by
  // which records know them.
  const std::vector<IterVar>& all_axes() const { return all_axes_; }
  std::size_t number() const { return number_; }
  loop::ForKind KindOf(const IterVar& leaf) const;
  // Requires a stage at kAt.
  const Stage& attach_stage() const { return *attach_stage_; }
  const IterVar& attach_axis() const { return *attach_axis_; }
  // The loop down to which it is computed with another stage, if it is.
  const std::optional<LoopOf>& with() const { return with_; }
  Storage storage() const { return storage_; }
  // Requires a stage that is stored at kAt.
  const LoopOf& store() const { return *store_; }
  // Whether a loop is around the one at which the stage is computed. Requires a stage at kAt.
  bool IsAround(const Stage& parent, const IterVar& axis) const;
  const StageMarks& marks() const { return marks_; }
  // A condition in the axes of op(). Elements, or the terms of a reduction, for which it is false
  // are left out. They are the overhang of a cached or factored tensor, which nobody reads.
  // Undefined: nothing is left out.
  const loop::Expr& guard() const { return guard_; }
  // For a step of a scan, the step that an element belongs to, in the axes of op(). Undefined for
  // other stages.
  const loop::Expr& time() const { return time_; }

 private:
  friend class Schedule;
  friend class Group;
  Stage(te::Operation op, std::size_t number, Record* record, const StageOf* stage_of);
  // The position of a loop. Throws, and says why, for an axis that was split already or does not
  // belong to this stage.
  std::size_t Position(const char* primitive, const IterVar& axis) const;
  void RequireData(const char* primitive, const IterVar& axis) const;
  // Refuses loops that only set initial values (te::IterVar::starts_only).
  void RequireUpdates(const char* primitive, const IterVar& axis) const;
  // Refuses external operations and updates of scans, whose places are fixed.
  void RequireMovable(const char* primitive) const;
  void RequireSameSchedule(const char* primitive, const Stage& other) const;
  std::pair<IterVar, IterVar> SplitAt(std::size_t position, SplitRelation relation);
  [[noreturn]] void Refuse(const char* primitive, const IterVar* axis,
                           const std::string& reason) const;

  // Whether it reads what `producer` computes now, itself or through what it reads.
  bool Needs(const Stage& producer) const;
  bool IsLeaf(const IterVar& axis) const;
  loop::Memory ParseScope(const char* primitive, std::string_view scope) const;
  void CheckComputeAt(const Stage& parent, const IterVar& axis) const;
  void PlaceAnew(Placement placement);
  void RequireStorable(const char* primitive) const;
  void RequireOwnMemory(const char* primitive) const;
  AxisRef RefTo(const IterVar& axis) const;
  // Starts anew with the loops of `op`.
  void Reset(te::Operation op);

  te::Operation op_, origin_op_;
  std::size_t number_;
  Record* record_;  // the schedule's, as is the next
  const StageOf* stage_of_;
  bool is_output_ = false;
  bool is_update_ = false;
  loop::Expr guard_, time_;
  StageMarks marks_;
  std::vector<IterVar> leaves_;
  std::vector<IterVar> all_axes_;
  std::vector<Relation> relations_;
  Placement placement_ = Placement::kRoot;
  const Stage* attach_stage_ = nullptr;
  std::unique_ptr<IterVar> attach_axis_;
  std::optional<LoopOf> with_, store_;
  Storage storage_ = Storage::kWithComputation;
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_STAGE_H_
