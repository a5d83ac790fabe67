#include "tenon/schedule/schedule.h"

#include <unordered_set>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

Schedule::Schedule(std::vector<Tensor> outputs) : outputs_(std::move(outputs)) {
  if (outputs_.empty()) throw InvalidArgument("schedule: there is no output to schedule");
  std::unordered_set<const te::OperationNode*> output_ops;
  for (const Tensor& output : outputs_) output_ops.insert(output.op().get());
  for (const te::Operation& op : te::PostOrder(outputs_)) {
    stages_.emplace_back(new Stage(op, output_ops.contains(op.get())));
    by_op_[op.get()] = stages_.back().get();
    for (const Tensor& update : op->update) by_op_.at(update.op().get())->is_update_ = true;
  }
}

Stage& Schedule::operator[](const te::Operation& op) {
  const auto found = by_op_.find(op.get());
  if (found == by_op_.end()) {
    throw NotFound(
        StrCat("schedule: tensor ", op->name, " is not part of this schedule; its stages are: ",
               StrJoin(stages_, ", ",
                       [](std::string* text, const auto& stage) { *text += stage->name(); })));
  }
  return *found->second;
}

const Stage* Schedule::Find(const te::OperationNode* op) const {
  const auto found = by_op_.find(op);
  return found == by_op_.end() ? nullptr : found->second;
}

}  // namespace tenon::schedule
