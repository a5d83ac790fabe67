#include "tenon/loop/check_given.h"
#include "tenon/loop/print.h"
#include "tenon/schedule/schedule.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

void Schedule::Prefetch(const Tensor& tensor, const Tensor& reader, const IterVar& axis,
                        const loop::Expr& offset) {
  Stage& stage = (*this)[reader];
  (*this)[tensor];  // throws when it is foreign
  stage.RequireUpdates("prefetch", axis);
  if (!offset.defined()) stage.Refuse("prefetch", &axis, "the offset is null");
  if (offset.dtype() != Int64) {
    stage.Refuse("prefetch", &axis,
                 StrCat("the offset ", loop::Print(offset), " is no int64 number of iterations"));
  }
  stage.marks_.prefetches.push_back({tensor, axis, offset});
  record_->emplace_back(PrefetchStep{RefTo(tensor), RefTo(reader), stage.RefTo(axis), offset});
}

void Schedule::PrefetchNextBlock(const Tensor& tensor, const Tensor& reader, const IterVar& axis,
                                 std::int64_t turns, const BlockFetch& fetch) {
  Stage& stage = (*this)[reader];
  (*this)[tensor];  // throws when it is foreign
  stage.RequireUpdates("prefetch_next_block", axis);
  if (turns < 1) {
    stage.Refuse("prefetch_next_block", &axis,
                 StrCat("a block is used at least once, not ", turns, " times"));
  }
  if (fetch.blocks < 1) {
    stage.Refuse("prefetch_next_block", &axis,
                 StrCat("the next block is 1 block later, not ", fetch.blocks));
  }
  std::int64_t later = 0;  // iterations
  if (__builtin_mul_overflow(turns, fetch.blocks, &later) || loop::WhyNoFactor(later)) {
    stage.Refuse("prefetch_next_block", &axis,
                 StrCat(fetch.blocks, " blocks that are used ", turns,
                        " times each are too many; they may take 2^40 iterations together"));
  }
  stage.marks_.next_blocks.push_back({tensor, axis, turns, fetch});
  record_->emplace_back(
      PrefetchNextBlockStep{RefTo(tensor), RefTo(reader), stage.RefTo(axis), turns, fetch});
}

}  // namespace tenon::schedule
