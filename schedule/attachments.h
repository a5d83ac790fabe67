// Stages that are computed at a loop of a stage that reads them. Only files inside schedule/
// include this header.
//
//   inside = attachments.Place(producer, stage, axis, extent, inside);  // the loop's body
//   loop = attachments.AddFirstCopies(axis, loop);                      // the loop itself
#ifndef TENON_SCHEDULE_ATTACHMENTS_H_
#define TENON_SCHEDULE_ATTACHMENTS_H_

#include <unordered_map>
#include <vector>

#include "tenon/schedule/lowering.h"

namespace tenon::schedule {

class Attachments {
 public:
  explicit Attachments(Lowering& lowering) : lowering_(lowering) {}

  // Puts the producer before `inside`, for the region that that reads, in the way that the
  // producer's marks and storage ask for. Throws InvalidArgument if the loop over `axis` of `stage`
  // does not allow that way.
  loop::Stmt Place(const Stage& producer, const Stage& stage, const IterVar& axis,
                   const loop::Expr& extent, const loop::Stmt& inside);
  // Puts the producer there in memory of its own, computed each time.
  loop::Stmt PlacePlainly(const Stage& producer, const loop::Stmt& inside);

  // Adds what stages inside the loop have asked for around it: memory of all iterations, and what
  // the first iteration finds there.
  loop::Stmt AddFirstCopies(const IterVar& axis, loop::Stmt loop);
  // Adds the memory of what is computed further inside and stored at this loop.
  loop::Stmt AllocateAt(const Stage& stage, const IterVar& axis, loop::Stmt inside);
  // Adds the memory of a stage that is stored further outside than it is computed, around `stmt`.
  loop::Stmt AllocateStored(const Stage& producer, loop::Stmt stmt);

 private:
  loop::Stmt PlaceOutput(const Stage& producer, const Stage& stage, const IterVar& axis,
                         const loop::Stmt& inside);
  loop::Stmt PlaceTwice(const Stage& producer, const Stage& stage, const IterVar& axis,
                        const loop::Expr& extent, const loop::Stmt& inside);
  loop::Stmt PlaceRolling(const Stage& producer, const Stage& stage, const IterVar& axis,
                          const loop::Stmt& inside);
  loop::Stmt PlaceStored(const Stage& producer, const Stage& stage, const IterVar& axis,
                         const loop::Expr& extent, const loop::Stmt& inside);

  // What to put before the loop of that variable once it is made.
  struct FirstCopy {
    loop::Stmt compute;
    std::vector<loop::Buffer> memory;
  };

  Lowering& lowering_;
  std::unordered_map<loop::Expr, std::vector<FirstCopy>, loop::ExprHash, loop::ExprSame>
      first_copies_;
  // For stages that are stored further outside, the buffers that stand for their outputs until
  // then.
  std::unordered_map<const Stage*, std::vector<loop::Buffer>> stored_;
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_ATTACHMENTS_H_
