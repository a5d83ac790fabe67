// Schedules: how a tensor expression is computed, recorded without changing what it is.
//
// A Schedule has a Stage (schedule/stage.h) for every operation that its outputs need.
// schedule/lower.h turns a schedule into loops. Not thread-safe while it is changed.
//
//   Schedule s(C);
//   auto [outer, inner] = s[C].Split(C.axis(0), 64);
//   s[C].Parallel(outer).Vectorize(inner);
#ifndef TENON_SCHEDULE_SCHEDULE_H_
#define TENON_SCHEDULE_SCHEDULE_H_

#include <memory>
#include <unordered_map>
#include <vector>

#include "tenon/schedule/relation.h"
#include "tenon/schedule/stage.h"
#include "tenon/te/tensor.h"

namespace tenon::schedule {

class Schedule {
 public:
  explicit Schedule(const Tensor& output) : Schedule(std::vector<Tensor>{output}) {}
  explicit Schedule(std::vector<Tensor> outputs);
  Schedule(Schedule&&) noexcept = default;
  Schedule& operator=(Schedule&&) noexcept = default;

  // Throws NotFound when the tensor's operation is not part of this schedule.
  Stage& operator[](const Tensor& tensor) { return (*this)[tensor.op()]; }
  Stage& operator[](const te::Operation& op);
  const Stage* Find(const te::OperationNode* op) const;

  // Producers first.
  const std::vector<std::unique_ptr<Stage>>& stages() const { return stages_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }

 private:
  std::vector<Tensor> outputs_;
  std::vector<std::unique_ptr<Stage>> stages_;
  std::unordered_map<const te::OperationNode*, Stage*> by_op_;
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_SCHEDULE_H_
