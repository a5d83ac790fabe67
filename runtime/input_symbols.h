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

namespace tenon::runtime {

class InputSymbols {
 public:
  // Throws Unimplemented for a variable that no input has alone as an extent.
  explicit InputSymbols(std::vector<InputInfo> inputs);

  // Throws InvalidArgument for an input that is missing, unknown, of another element type or rank,
  // or whose extents contradict the types: it names input, axis and value.
  Dim::Values Solve(const Inputs& inputs) const;
  const std::set<std::string>& names() const { return names_; }
  const std::vector<InputInfo>& inputs() const { return inputs_; }

 private:
  std::vector<InputInfo> inputs_;
  std::set<std::string> names_;
};

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_INPUT_SYMBOLS_H_
