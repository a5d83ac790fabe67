// Reads of inlined stages, replaced by what the stages compute.
#ifndef TENON_SCHEDULE_INLINE_H_
#define TENON_SCHEDULE_INLINE_H_

#include <map>
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
  std::map<std::vector<const void*>, loop::Expr> inlined_;
  std::vector<loop::Expr> kept_;  // keys are addresses: the nodes must live
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_INLINE_H_
