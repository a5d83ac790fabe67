#include "tenon/schedule/schedule.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"
#include "tenon/te/scan.h"

namespace tenon::schedule {

Schedule::Schedule(std::vector<Tensor> outputs) : outputs_(std::move(outputs)) {
  if (outputs_.empty()) throw InvalidArgument("schedule: there is no output to schedule");
  std::unordered_set<const te::OperationNode*> output_ops;
  for (const Tensor& output : outputs_) {
    output.buffer();  // throws where it is null
    output_ops.insert(output.op().get());
  }
  for (const te::Operation& op : te::PostOrder(outputs_)) {
    AddStage(op, stages_.size()).is_output_ = output_ops.contains(op.get());
    if (op->kind != te::OperationKind::kScan) continue;
    for (const Tensor& update : op->update) stage_of_->at(update.op().get())->is_update_ = true;
    for (const te::Operation& step : te::StepOperations(*op))
      stage_of_->at(step.get())->time_ = step->axes[0].var;
  }
}

Stage& Schedule::AddStage(te::Operation op, std::size_t position) {
  const auto at = stages_.begin() + static_cast<std::ptrdiff_t>(position);
  Stage& stage =
      **stages_.emplace(at, new Stage(op, stages_.size(), record_.get(), stage_of_.get()));
  (*stage_of_)[op.get()] = &stage;
  known_ops_.push_back(std::move(op));
  return stage;
}

TensorRef Schedule::RefTo(const Tensor& tensor) {
  return {(*this)[tensor].number(), tensor.index()};
}

std::size_t Schedule::PositionOf(const Stage& stage) const {
  const auto is_stage = [&](const auto& other) { return other.get() == &stage; };
  return static_cast<std::size_t>(std::find_if(stages_.begin(), stages_.end(), is_stage) -
                                  stages_.begin());
}

void Schedule::Rewrite(Stage& stage, te::Operation op) {
  (*stage_of_)[op.get()] = &stage;
  known_ops_.push_back(op);
  stage.op_ = std::move(op);
}

std::string Schedule::FreshName(std::string base) const {
  const auto has_name = [&](const auto& stage) { return stage->name() == base; };
  while (std::any_of(stages_.begin(), stages_.end(), has_name)) base += ".d";
  return base;
}

void Schedule::RequireRewritable(const char* primitive, const Stage& stage) const {
  for (const auto& other : stages_) {
    if (other->placement() == Stage::Placement::kAt && &other->attach_stage() == &stage) {
      stage.Refuse(primitive, nullptr,
                   StrCat("stage ", other->name(),
                          " is computed inside its loops, which would be made anew; call ",
                          primitive, " before its compute_at"));
    }
  }
  if (stage.marks().store_predicate) {
    stage.Refuse(primitive, nullptr,
                 StrCat("its store predicate is in terms of axes that would be made anew; call ",
                        primitive, " before set_store_predicate"));
  }
}

Stage& Schedule::operator[](const te::Operation& op) {
  if (!op) throw NotFound("schedule: a null tensor is no part of a schedule");
  const StageOf& stage_of = Present(stage_of_, "the schedule has been moved from");
  const auto found = stage_of.find(op.get());
  if (found == stage_of.end()) {
    throw NotFound(
        StrCat("schedule: tensor ", op->name, " is not part of this schedule; its stages are: ",
               StrJoin(stages_, ", ",
                       [](std::string* text, const auto& stage) { *text += stage->name(); })));
  }
  return *found->second;
}

const Stage* Schedule::Find(const te::OperationNode* op) const {
  const StageOf& stage_of = Present(stage_of_, "the schedule has been moved from");
  const auto found = stage_of.find(op);
  return found == stage_of.end() ? nullptr : found->second;
}

}  // namespace tenon::schedule
