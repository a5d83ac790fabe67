#include "tenon/verify/draw/loop_caller.h"

#include <optional>
#include <utility>

#include "tenon/loop/expr.h"
#include "tenon/support/error.h"

namespace tenon::verify {

using schedule::Stage;
using te::IterVar;
using te::Tensor;

bool LoopCaller::CallOnLoop(Stage& stage) {
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
    case Primitive::kReorder:
      Reorder(stage);
      return true;
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
    case Primitive::kPragma:
      Pragma(stage, axis);
      return true;
    case Primitive::kPrefetch:
      Prefetch(stage, axis);
      return true;
    case Primitive::kBind:
      stage.Bind(axis, "threadIdx.x");
      return true;
    default:
      Unreachable("all other primitives are called on stages");
  }
}

bool LoopCaller::VectorizeSpace(Stage& stage) {
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

// Some of the loops, in any order.
void LoopCaller::Reorder(Stage& stage) {
  std::vector<IterVar> order = stage.leaves();
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[Next() % i]);
  order.erase(order.begin() + 1 + static_cast<std::ptrdiff_t>(Next() % order.size()), order.end());
  stage.Reorder(order);
}

bool LoopCaller::RFactor(Stage& stage) {
  std::vector<IterVar> reduced;
  for (const IterVar& leaf : stage.leaves()) {
    if (leaf.is_reduce) reduced.push_back(leaf);
  }
  if (reduced.empty()) return false;
  const IterVar axis = Pick(reduced);
  s_.RFactor(Tensor(stage.op(), 0), axis, static_cast<int>(Next() % (stage.op()->axes.size() + 1)));
  return true;
}

void LoopCaller::Pragma(Stage& stage, const IterVar& axis) {
  static const std::vector<std::pair<const char*, int>>& pragmas =
      *new std::vector<std::pair<const char*, int>>{{"auto_unroll_max_step", 16},
                                                    {"auto_unroll_max_step", 64},
                                                    {"unroll_explicit", 0},
                                                    {"unroll", 1},
                                                    {"vectorize", 1},
                                                    {"no_such_pragma", 1}};
  const auto& [key, value] = Pick(pragmas);
  stage.Pragma(axis, key, value);
}

void LoopCaller::Prefetch(Stage& stage, const IterVar& axis) {
  const Tensor own(stage.op(), 0);
  std::vector<Tensor> tensors = te::InputsOf(*stage.op());
  tensors.push_back(own);
  tensors.push_back(s_.outputs().front());
  const Tensor& fetched = Pick(tensors);
  const std::uint32_t number = 1 + Next() % 3;
  if (Next() % 2 == 0) {
    s_.Prefetch(fetched, own, axis, static_cast<int>(number));
  } else {
    const schedule::BlockFetch fetch{.blocks = 1 + Next() % 4, .past_nearest = Next() % 2 == 0};
    s_.PrefetchNextBlock(fetched, own, axis, number, fetch);
  }
}

}  // namespace tenon::verify
