#include "tenon/verify/draw/random_schedule.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>

#include "tenon/loop/expr.h"
#include "tenon/support/error.h"
#include "tenon/verify/draw/random_patterns.h"

namespace tenon::verify {
namespace {

using schedule::Schedule;
using schedule::Stage;
using te::IterVar;
using te::Tensor;

// What a call's numbers choose.
class Operands {
 public:
  Operands(const ScheduleCall& call, Schedule& schedule) : call_(call), s_(schedule) {}

 protected:
  std::uint32_t Next() { return call_.choices[next_++ % call_.choices.size()]; }
  template <typename T>
  const T& Pick(const std::vector<T>& list) {
    return list[Next() % list.size()];
  }
  loop::Expr Factor() {
    static const std::vector<int>& factors =
        *new std::vector<int>{1, 2, 3, 4, 5, 7, 8, 8, 16, 16, 32, 64};
    return Pick(factors);
  }

  // Mostly that which is always legal.
  schedule::Tail RandomTail() {
    switch (Next() % 6) {
      case 0:
        return schedule::Tail::kRoundUp;
      case 1:
        return schedule::Tail::kShiftInwards;
      default:
        return schedule::Tail::kGuard;
    }
  }

  std::vector<Stage*> ReadersOf(const Tensor& tensor) {
    std::vector<Stage*> readers;
    for (const auto& stage : s_.stages()) {
      for (const Tensor& input : te::InputsOf(*stage->op())) {
        if (s_.Find(input.op().get()) == s_.Find(tensor.op().get()) &&
            input.index() == tensor.index()) {
          readers.push_back(stage.get());
          break;
        }
      }
    }
    return readers;
  }

  // The last leaf axis that runs over elements of the result.
  static std::optional<IterVar> InnermostSpace(const Stage& stage) {
    std::optional<IterVar> last;
    for (const IterVar& leaf : stage.leaves()) {
      if (!leaf.is_reduce) last = leaf;
    }
    return last;
  }

  const ScheduleCall& call_;
  Schedule& s_;

 private:
  std::size_t next_ = 0;
};

// Calls on loops of a stage.
class LoopCaller : public Operands {
 public:
  using Operands::Operands;

  bool CallOnLoop(Stage& stage) {
    const std::vector<IterVar> leaves = stage.leaves();
    const std::size_t at = Next() % leaves.size();
    const IterVar& axis = leaves[at];
    switch (call_.primitive) {
      case Primitive::kSplit:
        stage.Split(axis, Factor(), RandomTail());
        return true;
      case Primitive::kSplitParts:
        stage.SplitParts(axis, Factor());
        return true;
      case Primitive::kFuse:
        if (leaves.size() < 2) return false;
        stage.Fuse(axis, leaves[at + 1 < leaves.size() ? at + 1 : at - 1]);
        return true;
      case Primitive::kReorder: {
        std::vector<IterVar> order = leaves;
        for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[Next() % i]);
        order.erase(order.begin() + 1 + static_cast<std::ptrdiff_t>(Next() % order.size()),
                    order.end());
        stage.Reorder(order);
        return true;
      }
      case Primitive::kTile: {
        if (leaves.size() < 2) return false;
        const loop::Expr x = Factor(), y = Factor();
        stage.Tile(axis, leaves[(at + 1) % leaves.size()], x, y);
        return true;
      }
      case Primitive::kVectorize:
        stage.Vectorize(Next() % 3 == 0 ? axis : leaves.back());
        return true;
      case Primitive::kUnroll:
        stage.Unroll(axis);
        return true;
      case Primitive::kParallel:
        stage.Parallel(Next() % 2 == 0 ? axis : leaves.front());
        return true;
      case Primitive::kRFactor:
        return RFactor(stage);
      case Primitive::kStorageAlign:
        stage.StorageAlign(Pick(stage.op()->axes.empty() ? leaves : stage.op()->axes),
                           1 + Next() % 32, Next() % 8);
        return true;
      case Primitive::kPragma: {
        static const std::vector<std::pair<const char*, int>>& pragmas =
            *new std::vector<std::pair<const char*, int>>{{"auto_unroll_max_step", 16},
                                                          {"auto_unroll_max_step", 64},
                                                          {"unroll_explicit", 0},
                                                          {"unroll", 1},
                                                          {"vectorize", 1},
                                                          {"no_such_pragma", 1}};
        const auto& [key, value] = Pick(pragmas);
        stage.Pragma(axis, key, value);
        return true;
      }
      case Primitive::kPrefetch: {
        const Tensor own(stage.op(), 0);
        std::vector<Tensor> tensors = te::InputsOf(*stage.op());
        tensors.push_back(own);
        tensors.push_back(s_.outputs().front());
        const Tensor& fetched = Pick(tensors);
        const std::uint32_t number = 1 + Next() % 3;
        if (Next() % 2 == 0) {
          s_.Prefetch(fetched, own, axis, static_cast<int>(number));
        } else {
          const schedule::BlockFetch fetch{.blocks = 1 + Next() % 4,
                                           .past_nearest = Next() % 2 == 0};
          s_.PrefetchNextBlock(fetched, own, axis, number, fetch);
        }
        return true;
      }
      case Primitive::kBind:
        stage.Bind(axis, "threadIdx.x");
        return true;
      default:
        Unreachable("all other primitives are called on stages");
    }
  }

  bool VectorizeSpace(Stage& stage) {
    std::optional<IterVar> axis = InnermostSpace(stage);
    if (!axis) return false;
    if (Next() % 3 != 0) axis = stage.Split(*axis, Factor()).second;
    std::vector<IterVar> order;
    for (const IterVar& leaf : stage.leaves()) {
      if (leaf.var.get() != axis->var.get()) order.push_back(leaf);
    }
    order.push_back(*axis);
    stage.Reorder(order);
    stage.Vectorize(*axis);
    return true;
  }

 private:
  bool RFactor(Stage& stage) {
    std::vector<IterVar> reduced;
    for (const IterVar& leaf : stage.leaves()) {
      if (leaf.is_reduce) reduced.push_back(leaf);
    }
    if (reduced.empty()) return false;
    const IterVar axis = Pick(reduced);
    s_.RFactor(Tensor(stage.op(), 0), axis,
               static_cast<int>(Next() % (stage.op()->axes.size() + 1)));
    return true;
  }
};

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
