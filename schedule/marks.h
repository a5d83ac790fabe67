// What a stage's primitives say beyond its loops; lowering acts on each of them.
#ifndef TENON_SCHEDULE_MARKS_H_
#define TENON_SCHEDULE_MARKS_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tenon/loop/stmt.h"
#include "tenon/loop/transform/transforms.h"
#include "tenon/schedule/block_fetch.h"
#include "tenon/schedule/index_map.h"
#include "tenon/te/tensor.h"
#include "tenon/te/tensor_intrinsic.h"

namespace tenon::schedule {

// The stride of a dimension of the result, in elements, is made `offset` modulo `factor`.
struct Alignment {
  std::size_t dimension;
  std::int64_t factor, offset;
};

// Inside the axis, each iteration fetches into the cache what the iteration `offset` later reads of
// the tensor.
struct PrefetchMark {
  te::Tensor tensor;
  te::IterVar axis;
  loop::Expr offset;
};

// While the stage uses a block of the tensor, which it does at `turns` places in a row, each
// iteration of the axis fetches a share of the next block, or of a later one.
struct NextBlockMark {
  te::Tensor tensor;
  te::IterVar axis;
  std::int64_t turns;
  BlockFetch fetch;
};

// The loop and loops inside it are unrolled (loop::AutoUnroll).
struct UnrollMark {
  te::IterVar axis;
  loop::UnrollLimit limit;
};

// The intrinsic stands for the loop over the axis and all inside it.
struct TensorizeMark {
  te::IterVar axis;
  te::TensorIntrinsic intrinsic;
};

struct StageMarks {
  std::unordered_map<loop::Expr, loop::ForKind, loop::ExprHash, loop::ExprSame> kinds;
  std::vector<UnrollMark> unrolls;
  std::vector<PrefetchMark> prefetches;
  std::vector<NextBlockMark> next_blocks;
  std::vector<Alignment> alignments;
  loop::Memory memory = loop::Memory::kAutomatic;
  bool double_buffered = false;
  bool rolling = false;
  bool streaming = false;
  std::optional<TensorizeMark> tensorize;
  std::optional<IndexMap> store_predicate;  // from the axes of the operation to one bool
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_MARKS_H_
