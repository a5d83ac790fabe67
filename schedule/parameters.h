// The parameters of a function while it is lowered. Only files inside schedule/ include this
// header.
//
//   Parameters parameters(args, "vadd");
//   parameters.Replace(c, memory);              // `memory` now is what callers pass for `c`
//   body = parameters.UseArguments(body);       // and here it becomes `c` again
#ifndef TENON_SCHEDULE_PARAMETERS_H_
#define TENON_SCHEDULE_PARAMETERS_H_

#include <string>
#include <vector>

#include "tenon/schedule/schedule.h"

namespace tenon::schedule {

class Parameters {
 public:
  // The arguments' buffers, and the variables of their shapes in order. Throws InvalidArgument for
  // an argument that is given twice; `function` is named in the message.
  Parameters(const std::vector<Tensor>& args, const std::string& function);

  const std::vector<loop::Buffer>& buffers() const { return buffers_; }
  const std::vector<loop::Buffer>& arguments() const { return arguments_; }
  const std::vector<loop::Var>& scalars() const { return scalars_; }
  bool Has(const loop::Buffer& buffer) const;
  // Requires that `buffer` is a parameter.
  void Replace(const loop::Buffer& buffer, const loop::Buffer& memory);

  // Callers who name a kernel before its body is made expect the buffers of the arguments.
  loop::Stmt UseArguments(const loop::Stmt& body) const;

 private:
  void AddScalars(const loop::Expr& extent);

  std::vector<loop::Buffer> arguments_, buffers_;
  std::vector<loop::Var> scalars_;
};

}  // namespace tenon::schedule

#endif  // TENON_SCHEDULE_PARAMETERS_H_
