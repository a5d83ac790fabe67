// Schedules: how a tensor expression is computed, recorded without changing what it is.
//
// A Schedule has a Stage (schedule/stage.h) for every operation that its outputs need.
// schedule/lower.h turns a schedule into loops. Not thread-safe while it is changed.
//
//   Schedule s(C);
//   auto [outer, inner] = s[C].Split(C.axis(0), 64);
//   s[C].Parallel(outer).Vectorize(inner);
#ifndef TENON_SCHEDULE_SCHEDULE_H_
#define TENON_SCHEDULE_SCHEDULE_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tenon/schedule/block_fetch.h"
#include "tenon/schedule/group.h"
#include "tenon/schedule/record.h"
#include "tenon/schedule/relation.h"
#include "tenon/schedule/stage.h"
#include "tenon/support/present.h"
#include "tenon/te/tensor.h"

namespace tenon::schedule {

class Schedule {
 public:
  explicit Schedule(const Tensor& output) : Schedule(std::vector<Tensor>{output}) {}
  explicit Schedule(std::vector<Tensor> outputs);
  Schedule(Schedule&&) noexcept = default;
  Schedule& operator=(Schedule&&) noexcept = default;

  // Throws NotFound when the tensor's operation is not part of this schedule.
  Stage& operator[](const Tensor& tensor) { return (*this)[tensor.op()]; }
  Stage& operator[](const te::Operation& op);
  const Stage* Find(const te::OperationNode* op) const;

  // Dataflow primitives: each has a file of its own, which opens with what it does.

  // A copy of `tensor`, made by a stage of its own, that the readers read instead of it. Legal for
  // readers that read it; scopes are those of Stage::SetScope.
  Tensor CacheRead(const Tensor& tensor, std::string_view scope,
                   const std::vector<Tensor>& readers);
  // Moves the computation of `tensor` to a new stage; `tensor` becomes a copy of its result. The
  // dimensions of the new tensor are the data loops of the stage, in their order; then the stage
  // starts anew. Elements that a split adds past the end are not computed. Legal for a computed
  // tensor while its reduce axes are whole and no stage is computed inside its loops. If its
  // operation has several outputs, all are moved. Lowering refuses a step of a scan that is cached
  // after its time axis was split or fused.
  Tensor CacheWrite(const Tensor& tensor, std::string_view scope);
  std::vector<Tensor> CacheWrite(const std::vector<Tensor>& outputs, std::string_view scope);

  // Reduces in two steps: the new tensors have `axis` as a data dimension at `factor_axis` and
  // reduce over the rest; `tensor` reduces over that dimension, by an axis of its own,
  // s[tensor].reduce_axis(0), and its loops start anew. Legal for a reduce loop, when no stage is
  // computed inside the stage's loops. Terms are joined in another order, so the combiner must be
  // associative and commutative (te/reducer_laws.h).
  std::vector<Tensor> RFactor(const Tensor& tensor, const IterVar& axis, int factor_axis = 0);

  // Stores `tensor` in the order of the indices that `layout` gives; its readers follow, and its
  // data loops become loops over the new indices, which are returned. `layout` must be one-to-one
  // (schedule/index_map.h). Legal for a computed tensor of one output that is not the schedule's,
  // with constant extents, while its data loops are whole and in order. Lowering refuses a layout
  // that joins or splits the time axis of a step. With `pad`, the layout may have room for more
  // elements, as blocks have that do not divide an extent. These elements are that number.
  std::vector<IterVar> TransformLayout(const Tensor& tensor, const LayoutFunction& layout,
                                       std::optional<double> pad = std::nullopt);

  // The stages that `outputs` need and that need `inputs`. The inputs themselves count if asked.
  // Legal if none is an output of the schedule. Groups may nest but not overlap. The record holds
  // what a group's calls do to its stages.
  Group& CreateGroup(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                     bool include_inputs = false);

  // In each iteration of that loop of `reader`, fetches into the cache what the iteration `offset`
  // later reads of `tensor`, or writes if `tensor` is what the reader computes. If `tensor` is a
  // result that the reader does not read, and has the shape of its own result, it fetches the same
  // place for writing. Lowering refuses a loop of one iteration, a vectorised loop and a tensor
  // that does not exist outside the loop.
  void Prefetch(const Tensor& tensor, const Tensor& reader, const IterVar& axis,
                const loop::Expr& offset);

  // For a `reader` that is computed at a loop of which every `turns` iterations read the same block
  // of `tensor`. While they do, it fetches the block of the next ones, or of later ones, in shares
  // in the order of memory, one in each iteration of `axis`, a loop of the reader. For a reader at
  // the root `axis` is that loop. Lowering refuses what it refuses for Prefetch, extents that are
  // not constant, and scalars.
  void PrefetchNextBlock(const Tensor& tensor, const Tensor& reader, const IterVar& axis,
                         std::int64_t turns, const BlockFetch& fetch = {});

  // The calls that made this schedule (schedule/record.h). Throws FailedPrecondition if the
  // schedule has been moved from.
  const Record& record() const { return Present(record_, "the schedule has been moved from"); }

  // Producers first.
  const std::vector<std::unique_ptr<Stage>>& stages() const { return stages_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }

 private:
  Stage& AddStage(te::Operation op, std::size_t position);
  std::size_t PositionOf(const Stage& stage) const;
  // Lets the stage compute `op`; whoever knows it by its former operation still finds it.
  void Rewrite(Stage& stage, te::Operation op);
  // `base`, or `base` with ".d" after it if a stage has that name.
  std::string FreshName(std::string base) const;
  TensorRef RefTo(const Tensor& tensor);
  void RequireRewritable(const char* primitive, const Stage& stage) const;

  std::vector<Tensor> outputs_;
  std::unique_ptr<Record> record_ = std::make_unique<Record>();  // stages know where it is
  std::vector<std::unique_ptr<Stage>> stages_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::unique_ptr<StageOf> stage_of_ = std::make_unique<StageOf>();  // as for record_
  std::vector<te::Operation> known_ops_;  // keys of it are addresses: they must live
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_SCHEDULE_H_
