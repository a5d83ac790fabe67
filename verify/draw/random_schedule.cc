#include "tenon/verify/draw/random_schedule.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include "tenon/loop/expr.h"
#include "tenon/verify/draw/loop_caller.h"
#include "tenon/verify/draw/random_patterns.h"

namespace tenon::verify {
namespace {

using schedule::Schedule;
using schedule::Stage;
using te::IterVar;
using te::Tensor;

class Caller : public LoopCaller {
 public:
  using LoopCaller::LoopCaller;

  bool Call() {
    std::vector<Stage*> computed;
    for (const auto& stage : s_.stages()) {
      if (!stage->op()->is_placeholder()) computed.push_back(stage.get());
    }
    if (computed.empty()) return false;
    Stage& stage = *Pick(computed);
    switch (call_.primitive) {
      case Primitive::kCacheRead:
        return CacheRead();
      case Primitive::kComputeAt:
        return ComputeAt(stage);
      case Primitive::kComputeWith:
        return ComputeWith(stage, computed);
      case Primitive::kStoreAt:
        return AtLoop(computed, [this](Stage& at) { StoreAt(at); });
      case Primitive::kComputeInline:
        stage.ComputeInline();
        return true;
      case Primitive::kComputeRoot:
        stage.ComputeRoot();
        return true;
      case Primitive::kFuseNothing:
        stage.Fuse();
        return true;
      case Primitive::kCacheWrite:
        return CacheWrite(stage);
      case Primitive::kSetScope:
        stage.SetScope(Next() % 3 == 0 ? "global" : "local");
        return true;
      case Primitive::kDoubleBuffer:
        return AtLoop(computed, [](Stage& at) { at.DoubleBuffer(); });
      case Primitive::kRollingBuffer:
        return AtLoop(computed, [](Stage& at) { at.RollingBuffer(); });
      case Primitive::kStreamStores:
        stage.StreamStores();
        return true;
      case Primitive::kTransformLayout:
        return TransformLayout(stage);
      case Primitive::kTensorize:
        return Tensorize(computed);
      case Primitive::kVectorizeSpace:
        return VectorizeSpace(stage);
      default:
        return !stage.leaves().empty() && CallOnLoop(stage);
    }
  }

 private:
  // Calls it on a stage that is computed at a loop.
  bool AtLoop(const std::vector<Stage*>& computed, const std::function<void(Stage&)>& call) {
    std::vector<Stage*> placed;
    std::copy_if(computed.begin(), computed.end(), std::back_inserter(placed),
                 [](const Stage* stage) { return stage->placement() == Stage::Placement::kAt; });
    if (placed.empty()) return false;
    call(*Pick(placed));
    return true;
  }

  bool ComputeAt(Stage& stage) {
    std::vector<Stage*> readers = ReadersOf(Tensor(stage.op(), 0));
    // Sometimes a loop of a stage that reads it through other stages, or not at all.
    if (Next() % 5 == 0) {
      readers.clear();
      for (const auto& other : s_.stages()) readers.push_back(other.get());
    }
    if (readers.empty()) return false;
    const Stage& reader = *Pick(readers);
    if (reader.leaves().empty()) return false;
    const IterVar axis = Pick(reader.leaves());
    stage.ComputeAt(reader, axis);
    return true;
  }

  bool ComputeWith(Stage& stage, const std::vector<Stage*>& computed) {
    const Stage& other = *Pick(computed);
    if (other.leaves().empty()) return false;
    stage.ComputeWith(
        other,
        other.leaves()[Next() % std::min<std::size_t>(other.leaves().size(), 1 + Next() % 2)]);
    return true;
  }

  // At the root, or at a loop of a stage in which it is computed.
  void StoreAt(Stage& stage) {
    std::vector<const Stage*> hosts;
    for (const Stage* at = &stage; at->placement() == Stage::Placement::kAt;
         at = &at->attach_stage())
      hosts.push_back(&at->attach_stage());
    const Stage& host = *Pick(hosts);
    if (Next() % 4 == 0 || host.leaves().empty()) {
      stage.StoreRoot();
    } else {
      stage.StoreAt(host, Pick(host.leaves()));
    }
  }

  bool CacheRead() {
    std::vector<Stage*> stages;
    for (const auto& stage : s_.stages()) stages.push_back(stage.get());
    Stage& stage = *Pick(stages);
    const Tensor tensor(stage.op(), static_cast<int>(Next() % stage.op()->outputs.size()));
    const std::vector<Stage*> readers = ReadersOf(tensor);
    if (readers.empty()) return false;
    std::vector<Tensor> chosen;
    const std::uint32_t mask = Next();
    for (std::size_t i = 0; i < readers.size(); ++i) {
      if (i == 0 || ((mask >> i) & 1U) != 0) chosen.emplace_back(readers[i]->op(), 0);
    }
    s_.CacheRead(tensor, Next() % 3 == 0 ? "local" : "global", chosen);
    return true;
  }

  bool CacheWrite(Stage& stage) {
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < stage.op()->outputs.size(); ++i)
      outputs.emplace_back(stage.op(), static_cast<int>(i));
    s_.CacheWrite(outputs, Next() % 3 == 0 ? "local" : "global");
    return true;
  }

  bool TransformLayout(Stage& stage) {
    const std::size_t rank = stage.op()->axes.size();
    if (rank == 0) return false;
    const std::size_t d = Next() % rank, how = Next() % 3;
    const loop::Expr factor = Factor();
    const auto pad = Next() % 2 == 0 ? std::optional<double>(1) : std::nullopt;
    const auto layout = [&](const std::vector<loop::Var>& i) {
      std::vector<loop::Expr> to(i.begin(), i.end());
      if (how == 0) {
        std::reverse(to.begin(), to.end());
      } else {  // the dimension in blocks, whose elements move last or stay
        const loop::Expr inner = loop::FloorMod(to[d], factor);
        to[d] = loop::FloorDiv(to[d], factor);
        const auto place = how == 1 ? to.end() : to.begin() + static_cast<std::ptrdiff_t>(d) + 1;
        to.insert(place, inner);
      }
      return to;
    };
    s_.TransformLayout(Tensor(stage.op(), 0), layout, pad);
    return true;
  }

  bool Tensorize(const std::vector<Stage*>& computed) {
    const int width = std::array{4, 8, 16, 16}[Next() % 4];
    std::vector<Stage*> fitting;
    for (Stage* stage : computed) {
      if (IntrinsicFor(*stage->op(), width)) fitting.push_back(stage);
    }
    if (fitting.empty()) return false;
    Stage& stage = *Pick(fitting);
    const te::TensorIntrinsic intrinsic = *IntrinsicFor(*stage.op(), width);
    const std::optional<IterVar> axis = InnermostSpace(stage);
    if (!axis) return false;
    const te::OperationNode& pattern = *intrinsic->op;
    const IterVar first = stage.Split(*axis, pattern.axes[0].extent).second;
    std::vector<IterVar> inside = {first};
    const std::vector<IterVar> leaves = stage.leaves();
    const auto last = std::find_if(leaves.rbegin(), leaves.rend(),
                                   [](const IterVar& leaf) { return leaf.is_reduce; });
    if (last != leaves.rend())
      inside.push_back(stage.Split(*last, pattern.reduce_axes[0].extent).second);
    std::vector<IterVar> order;
    for (const IterVar& leaf : stage.leaves()) {
      const auto is_leaf = [&](const IterVar& other) { return other.var.get() == leaf.var.get(); };
      if (std::none_of(inside.begin(), inside.end(), is_leaf)) order.push_back(leaf);
    }
    order.insert(order.end(), inside.begin(), inside.end());
    stage.Reorder(order);
    stage.Tensorize(first, intrinsic);
    return true;
  }
};

}  // namespace

bool HasSeveralSteps(Primitive primitive) {
  return primitive == Primitive::kTile || primitive == Primitive::kTensorize ||
         primitive == Primitive::kVectorizeSpace;
}

std::vector<ScheduleCall> RandomCalls(Random& random) {
  using enum Primitive;
  // Each primitive is drawn as often as it occurs here.
  static const std::vector<Primitive>& deck = *new std::vector<Primitive>{
      kSplit,          kSplit,         kSplit,           kSplit,           kSplitParts,
      kFuse,           kFuse,          kFuseNothing,     kReorder,         kReorder,
      kTile,           kVectorize,     kVectorize,       kVectorize,       kUnroll,
      kUnroll,         kParallel,      kComputeAt,       kComputeAt,       kComputeAt,
      kComputeAt,      kComputeAt,     kComputeInline,   kComputeInline,   kComputeRoot,
      kCacheRead,      kCacheRead,     kCacheWrite,      kCacheWrite,      kRFactor,
      kRFactor,        kSetScope,      kDoubleBuffer,    kDoubleBuffer,    kStorageAlign,
      kPragma,         kPrefetch,      kTransformLayout, kTransformLayout, kBind,
      kRollingBuffer,  kRollingBuffer, kTensorize,       kTensorize,       kTensorize,
      kTensorize,      kTensorize,     kTensorize,       kVectorizeSpace,  kVectorizeSpace,
      kVectorizeSpace, kStreamStores,  kComputeWith,     kComputeWith,     kStoreAt,
      kStoreAt,        kStoreAt};
  std::vector<ScheduleCall> calls(static_cast<std::size_t>(random.Below(14)));
  for (ScheduleCall& call : calls) {
    call.primitive = random.Of(deck);
    for (std::uint32_t& choice : call.choices) choice = static_cast<std::uint32_t>(random.Next());
  }
  return calls;
}

bool Apply(const ScheduleCall& call, Schedule& schedule) { return Caller(call, schedule).Call(); }

}  // namespace tenon::verify
