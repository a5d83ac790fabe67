#include "tenon/schedule/source.h"

#include <utility>

#include "tenon/schedule/schedule.h"
#include "tenon/support/strings.h"

namespace tenon::schedule {

LoweringSource::LoweringSource(const Schedule& schedule, std::vector<Tensor> args,
                               const LowerOptions& options)
    : outputs_(schedule.outputs()),
      args_(std::move(args)),
      record_(schedule.record()),
      options_(options) {
  options_.pipeline = {.transforms = options.pipeline.transforms};
}

std::string LoweringSource::TensorExpressions() const { return te::Print(outputs_); }

std::string LoweringSource::ScheduleCalls() const {
  std::string text;
  for (const auto& [rule, reason, stages] : options_.rules)
    StrAppend(&text, "// rule: ", rule, " (", reason, "): ", StrJoin(stages, ", "), "\n");
  return text + PrintRecord(record_, outputs_);
}

loop::Function LoweringSource::Lower(const std::string& name) const {
  Schedule again(outputs_);
  Replay(record_, again);
  return schedule::Lower(again, args_, name, options_);
}

const LoweringSource* SourceOf(const loop::Function& function) {
  return dynamic_cast<const LoweringSource*>(function.body.source().get());
}

}  // namespace tenon::schedule
