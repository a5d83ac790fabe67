// The variables of a program in C: each call that waits has values of its own for them, "e[3]",
// which are -1 where nothing has given one.
//
//   CFrameExtents extents(program, inputs, "net");
//   extents.GivenBy(function.extents, [](std::size_t i) { return StrCat("r[", i, "]"); });
//       // {"tenon_set_extent(&e[0], r[1].shape[0], 0)"}: expressions that are 0 or a status
#ifndef TENON_COMPILER_EXPORT_C_FRAME_EXTENTS_H_
#define TENON_COMPILER_EXPORT_C_FRAME_EXTENTS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tenon/runtime/planned_program.h"

namespace tenon::compiler {

// Whether arrays of the program have other sizes in each run.
bool HasVariables(const runtime::PlannedProgram& program);
// The most axes of an array in a register; 1 at least.
std::size_t MostAxes(const runtime::PlannedProgram& program);

class CFrameExtents {
 public:
  // `inputs` is a plan of the inputs. C functions get names that begin with `prefix`.
  CFrameExtents(const runtime::PlannedProgram& program, const runtime::Plan& inputs,
                std::string prefix);

  std::size_t count() const { return places_.size(); }
  // The first ones are those of the inputs, in the order of their plan.
  std::size_t count_of_inputs() const { return count_of_inputs_; }
  // "e[3]".
  std::string At(const std::string& name) const;
  // "{e[3], e[0]}"; "{0}" where there are none.
  std::string Values(const std::vector<std::string>& names) const;
  // What gives variables the extents of arrays, or compares them. `array` names the i-th one.
  std::vector<std::string> GivenBy(const std::vector<runtime::ExtentPlace>& places,
                                   const std::function<std::string(std::size_t)>& array) const;
  std::string GivenBy(const std::string& name, const std::string& value, int least) const;
  // Whether the condition holds, or is on a variable without a value.
  std::string Need(const ExtentCondition& condition);
  // The functions that these expressions call, except those of the machine (c_machine.h).
  const std::string& definitions() const { return definitions_; }

 private:
  void AddNames(const std::vector<std::string>& names);

  const std::string prefix_;
  std::map<std::string, std::size_t> places_;
  std::size_t count_of_inputs_;
  std::map<std::string, std::string> needs_;  // functions by conditions
  std::string definitions_;
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_FRAME_EXTENTS_H_
