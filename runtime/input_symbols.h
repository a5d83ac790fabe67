// The variables in the extents of a model's inputs, and their values in a run.
//
//   const InputSymbols symbols({{"x", Float32, {Dim::Symbol("n"), 4}}});
//   Dim::Values values = symbols.Solve(inputs);  // {{"n", 4}}
#ifndef TENON_RUNTIME_INPUT_SYMBOLS_H_
#define TENON_RUNTIME_INPUT_SYMBOLS_H_

#include <set>
#include <string>
#include <vector>

#include "tenon/runtime/executable.h"
#include "tenon/support/extent_condition.h"

namespace tenon::runtime {

class InputSymbols {
 public:
  // Throws Unimplemented for a variable that no input has as an extent, alone or in a sum of a
  // multiple of it and a number (8*k + 3).
  // `needs` are conditions on them.
  explicit InputSymbols(std::vector<InputInfo> inputs, std::vector<ExtentCondition> needs = {});

  // Throws InvalidArgument for an input that is missing, unknown, of another element type or rank,
  // or whose extents contradict the types, naming input, axis and value, and for values that break
  // a condition.
  Dim::Values Solve(const Inputs& inputs) const;
  const std::set<std::string>& names() const { return names_; }
  const std::vector<InputInfo>& inputs() const { return inputs_; }

 private:
  std::vector<InputInfo> inputs_;
  std::vector<ExtentCondition> needs_;
  std::set<std::string> names_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_INPUT_SYMBOLS_H_
