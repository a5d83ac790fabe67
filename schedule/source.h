// What lowered loops were made of: tensor expressions and the calls of a schedule.
//
// Lower gives it along with the loops (loop::Body::source). Immutable; it shares the expressions
// and takes a few kilobytes for the calls.
//
//   const LoweringSource* source = SourceOf(function);
//   loop::Function again = source->Lower(function.name);   // the same loops
#ifndef TENON_SCHEDULE_SOURCE_H_
#define TENON_SCHEDULE_SOURCE_H_

#include <string>
#include <vector>

#include "tenon/loop/function.h"
#include "tenon/schedule/lower.h"
#include "tenon/schedule/record.h"

namespace tenon::schedule {

class LoweringSource : public loop::Source {
 public:
  // Takes the arguments of a call Lower(schedule, args, name, options).
  LoweringSource(const Schedule& schedule, std::vector<Tensor> args, const LowerOptions& options);

  std::string TensorExpressions() const override;
  std::string ScheduleCalls() const override;

  const std::vector<Tensor>& outputs() const { return outputs_; }
  const std::vector<Tensor>& args() const { return args_; }
  const Record& record() const { return record_; }
  const std::vector<RuleUse>& rules() const { return options_.rules; }
  // Makes the recorded calls on a new schedule, and lowers it.
  loop::Function Lower(const std::string& name) const;

 private:
  const std::vector<Tensor> outputs_, args_;
  const Record record_;
  LowerOptions options_;  // without what watches
};

// Null for a function that Lower has not made. Makes the body if it does not exist yet.
const LoweringSource* SourceOf(const loop::Function& function);

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_SOURCE_H_
