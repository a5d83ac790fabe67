#include "tenon/schedule/record.h"

#include <algorithm>

#include "tenon/schedule/schedule.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {
namespace {

// Makes one recorded call.
class Player {
 public:
  explicit Player(Schedule& schedule) : schedule_(schedule) {}

  void operator()(const SplitStep& step) {
    Stage& stage = StageOf(step.axis);
    if (step.factor.defined())
      stage.Split(AxisOf(step.axis), step.factor, step.tail);
    else
      stage.SplitParts(AxisOf(step.axis), step.parts);
  }
  void operator()(const FuseStep& step) {
    StageOf(step.outer).Fuse(AxisOf(step.outer), AxisOf(step.inner));
  }
  void operator()(const SingletonStep& step) { StageAt(step.stage).Fuse(); }
  void operator()(const ReorderStep& step) {
    std::vector<IterVar> order;
    for (const AxisRef& axis : step.order) order.push_back(AxisOf(axis));
    StageAt(step.stage).Reorder(order);
  }
  void operator()(const KindStep& step) {
    Stage& stage = StageOf(step.axis);
    const IterVar axis = AxisOf(step.axis);
    switch (step.kind) {
      case loop::ForKind::kVectorized:
        stage.Vectorize(axis);
        return;
      case loop::ForKind::kUnrolled:
        stage.Unroll(axis);
        return;
      case loop::ForKind::kParallel:
        stage.Parallel(axis);
        return;
      case loop::ForKind::kSerial:
        break;
    }
    Unreachable("no primitive makes a loop serial");
  }
  void operator()(const ComputeAtStep& step) {
    StageAt(step.stage).ComputeAt(StageOf(step.axis), AxisOf(step.axis));
  }
  void operator()(const ComputeWithStep& step) {
    StageAt(step.stage).ComputeWith(StageOf(step.axis), AxisOf(step.axis));
  }
  void operator()(const StoreAtStep& step) {
    StageAt(step.stage).StoreAt(StageOf(step.axis), AxisOf(step.axis));
  }
  void operator()(const StoreRootStep& step) { StageAt(step.stage).StoreRoot(); }
  void operator()(const ComputeInlineStep& step) { StageAt(step.stage).ComputeInline(); }
  void operator()(const ComputeRootStep& step) { StageAt(step.stage).ComputeRoot(); }
  void operator()(const SetScopeStep& step) { StageAt(step.stage).SetScope(step.scope); }
  void operator()(const DoubleBufferStep& step) { StageAt(step.stage).DoubleBuffer(); }
  void operator()(const RollingBufferStep& step) { StageAt(step.stage).RollingBuffer(); }
  void operator()(const StorePredicateStep& step) {
    StageAt(step.stage).SetStorePredicate([&](const std::vector<loop::Var>& axes) {
      return step.predicate(std::vector<loop::Expr>(axes.begin(), axes.end())).at(0);
    });
  }
  void operator()(const StreamStoresStep& step) { StageAt(step.stage).StreamStores(); }
  void operator()(const StorageAlignStep& step) {
    StageOf(step.axis).StorageAlign(AxisOf(step.axis), step.factor, step.offset);
  }
  void operator()(const PragmaStep& step) {
    StageOf(step.axis).Pragma(AxisOf(step.axis), step.key, step.value);
  }
  void operator()(const PrefetchStep& step) {
    schedule_.Prefetch(TensorOf(step.tensor), TensorOf(step.reader), AxisOf(step.axis),
                       step.offset);
  }
  void operator()(const PrefetchNextBlockStep& step) {
    schedule_.PrefetchNextBlock(TensorOf(step.tensor), TensorOf(step.reader), AxisOf(step.axis),
                                step.turns, step.fetch);
  }
  void operator()(const TensorizeStep& step) {
    StageOf(step.axis).Tensorize(AxisOf(step.axis), step.intrinsic);
  }
  void operator()(const CacheReadStep& step) {
    schedule_.CacheRead(TensorOf(step.tensor), step.scope, TensorsOf(step.readers));
  }
  void operator()(const CacheWriteStep& step) {
    schedule_.CacheWrite(TensorsOf(step.outputs), step.scope);
  }
  void operator()(const RFactorStep& step) {
    schedule_.RFactor(TensorOf(step.tensor), AxisOf(step.axis), step.factor_axis);
  }
  void operator()(const TransformLayoutStep& step) {
    const auto layout = [&](const std::vector<loop::Var>& indices) {
      return step.map(std::vector<loop::Expr>(indices.begin(), indices.end()));
    };
    schedule_.TransformLayout(TensorOf(step.tensor), layout, step.pad);
  }

 private:
  Stage& StageAt(std::size_t number) {
    for (const auto& stage : schedule_.stages()) {
      if (stage->number() == number) return *stage;
    }
    throw InvalidArgument(StrCat("replay: a step is about stage ", number, "; the schedule has ",
                                 schedule_.stages().size(), " stages"));
  }
  Stage& StageOf(const AxisRef& axis) { return StageAt(axis.stage); }
  IterVar AxisOf(const AxisRef& axis) {
    const Stage& stage = StageAt(axis.stage);
    if (axis.axis >= stage.all_axes().size()) {
      throw InvalidArgument(StrCat("replay: a step is about axis ", axis.axis, " of stage ",
                                   stage.name(), ", which has ", stage.all_axes().size()));
    }
    return stage.all_axes()[axis.axis];
  }
  Tensor TensorOf(const TensorRef& tensor) {
    const Stage& stage = StageAt(tensor.stage);
    if (tensor.output < 0 || tensor.output >= static_cast<int>(stage.op()->outputs.size())) {
      throw InvalidArgument(StrCat("replay: a step is about output ", tensor.output, " of stage ",
                                   stage.name(), ", which has ", stage.op()->outputs.size()));
    }
    return Tensor(stage.op(), tensor.output);
  }
  std::vector<Tensor> TensorsOf(const std::vector<TensorRef>& tensors) {
    std::vector<Tensor> result;
    for (const TensorRef& tensor : tensors) result.push_back(TensorOf(tensor));
    return result;
  }

  Schedule& schedule_;
};

}  // namespace

void ReplayStep(const Step& step, Schedule& schedule) { std::visit(Player(schedule), step); }

void Replay(const Record& record, Schedule& schedule) {
  if (!schedule.record().empty()) {
    throw InvalidArgument(StrCat("replay: the schedule has already been changed by ",
                                 schedule.record().size(), " calls; a new one is needed"));
  }
  for (const Step& step : record) ReplayStep(step, schedule);
}

}  // namespace tenon::schedule
