// Reads of inlined stages, replaced by what the stages compute.
#ifndef TENON_SCHEDULE_INLINE_H_
#define TENON_SCHEDULE_INLINE_H_

#include <unordered_map>
#include <utility>
#include <vector>

#include "tenon/loop/visit.h"
#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

// Rewrites expressions under the placements that the schedule has now. Reads of one element share
// one expression. The schedule must outlive it.
class Inliner : public loop::ExprMutator {
 public:
  explicit Inliner(const Schedule& schedule) : schedule_(schedule) {}

 protected:
  loop::Expr Mutate(const loop::Expr& e) override;

 private:
  const Schedule& schedule_;
  int level_ = 0;  // of stages that are being inlined, one in the other
  // For each tensor, what was inlined by the indices at which it is read. Schedules keep the
  // buffers alive.
  std::unordered_map<const loop::BufferNode*,
                     std::vector<std::pair<std::vector<loop::Expr>, loop::Expr>>>
      inlined_;
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_INLINE_H_
