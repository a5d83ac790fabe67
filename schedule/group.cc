// A stage is between outputs and inputs when an output needs it and it needs an input.
#include "tenon/schedule/group.h"

#include <algorithm>
#include <unordered_set>

#include "tenon/schedule/schedule.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

void Group::ComputeAt(const Stage& parent, const IterVar& axis) {
  std::vector<Stage*> moving;
  for (Stage* member : members_) {
    if (member->placement() != Stage::Placement::kRoot) continue;
    member->CheckComputeAt(parent, axis);
    moving.push_back(member);
  }
  for (Stage* member : moving) member->ComputeAt(parent, axis);
}

Group& Schedule::CreateGroup(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                             bool include_inputs) {
  std::unordered_set<const Stage*> ends, input_stages, needed, needing;
  for (const Tensor& output : outputs) ends.insert(&(*this)[output]);
  for (const Tensor& input : inputs) input_stages.insert(&(*this)[input]);
  if (ends.empty() || input_stages.empty())
    throw InvalidArgument("create_group: at least one output and one input are needed");
  const auto producers = [&](const Stage& stage) {
    std::vector<const Stage*> result;
    for (const Tensor& input : te::InputsOf(*stage.op())) result.push_back(Find(input.op().get()));
    return result;
  };
  for (auto it = stages_.rbegin(); it != stages_.rend(); ++it) {
    if (!ends.contains(it->get()) && !needed.contains(it->get())) continue;
    needed.insert(it->get());
    if (input_stages.contains(it->get())) continue;
    for (const Stage* producer : producers(**it)) needed.insert(producer);
  }
  std::vector<Stage*> members;
  for (const auto& stage : stages_) {
    const std::vector<const Stage*> from = producers(*stage);
    const bool is_input = input_stages.contains(stage.get());
    if (is_input || std::any_of(from.begin(), from.end(),
                                [&](const Stage* s) { return needing.contains(s); })) {
      needing.insert(stage.get());
      if (needed.contains(stage.get()) && (!is_input || include_inputs) &&
          !stage->op()->is_placeholder())
        members.push_back(stage.get());
    }
  }
  for (const Stage* stage : members) {
    if (stage->is_output())
      stage->Refuse("create_group", nullptr,
                    "an output of the schedule stays at the root and cannot be in a group");
  }
  if (members.empty()) {
    throw InvalidArgument(StrCat("create_group: no stage lies between ", outputs[0].name(), " and ",
                                 inputs[0].name()));
  }
  const auto holds = [](const std::vector<Stage*>& group, const Stage* stage) {
    return std::find(group.begin(), group.end(), stage) != group.end();
  };
  for (const auto& other : groups_) {
    const auto common = static_cast<std::size_t>(
        std::count_if(members.begin(), members.end(),
                      [&](const Stage* stage) { return holds(other->members(), stage); }));
    if (common != 0 && common != members.size() && common != other->members().size()) {
      throw InvalidArgument(StrCat(
          "create_group: the stages from ", members.front()->name(), " to ", members.back()->name(),
          " intersect the group from ", other->members().front()->name(), " to ",
          other->members().back()->name(), "; groups must be apart or inside each other"));
    }
  }
  groups_.emplace_back(new Group(std::move(members)));
  return *groups_.back();
}

}  // namespace tenon::schedule
