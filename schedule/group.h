// Groups: the stages between some outputs and some inputs, placed together.
#ifndef TENON_SCHEDULE_GROUP_H_
#define TENON_SCHEDULE_GROUP_H_

#include <vector>

#include "tenon/schedule/stage.h"

namespace tenon::schedule {

// Made by Schedule::CreateGroup; belongs to the schedule.
class Group {
 public:
  // Computes every member that is at the root inside that loop of `parent`, as Stage::ComputeAt
  // does. Legal if it is legal for each of them; if not, none moves.
  void ComputeAt(const Stage& parent, const IterVar& axis);

  // Producers first.
  const std::vector<Stage*>& members() const { return members_; }

 private:
  friend class Schedule;
  explicit Group(std::vector<Stage*> members) : members_(std::move(members)) {}
  std::vector<Stage*> members_;
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_GROUP_H_
