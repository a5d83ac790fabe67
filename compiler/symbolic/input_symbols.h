// The variables in the extents of a module's inputs, and their values in a run.
//
//   const InputSymbols symbols(module.Main());
//   Dim::Values values = symbols.Solve(inputs);  // {{"n", 4}}
#ifndef TENON_COMPILER_SYMBOLIC_INPUT_SYMBOLS_H_
#define TENON_COMPILER_SYMBOLIC_INPUT_SYMBOLS_H_

#include <set>
#include <string>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ir/input_spec.h"
#include "tenon/ir/module.h"
#include "tenon/runtime/executable.h"

namespace tenon::compiler {

// Whether an extent of an input of @main is an expression of variables, or not known.
bool HasSymbols(const ir::Module& module);
// The module with a variable of its own for each "?" of its inputs: "x_0" for axis 0 of x.
ir::Module NameExtents(const ir::Module& module);

class InputSymbols {
 public:
  // Throws Unimplemented for a variable that no input has alone as an extent, and what InputsOf
  // throws (compiler/plan/model_inputs.h).
  explicit InputSymbols(const ir::FunctionNode& main);

  // Throws InvalidArgument for an input that is missing, unknown, of another element type or rank,
  // or whose extents contradict the types: it names input, axis and value.
  Dim::Values Solve(const runtime::Inputs& inputs) const;
  const std::set<std::string>& names() const { return names_; }
  // What an executable says of them.
  std::vector<runtime::InputInfo> Infos() const;

 private:
  std::vector<ir::InputSpec> inputs_;
  std::set<std::string> names_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_SYMBOLIC_INPUT_SYMBOLS_H_
