// The steps of a program as cases of a switch in C: one for each function, and one for what follows
// each call that is not the last step of its function.
//
//   CSwitch(program, {"net_constant0"}, {"net_part0"}, nullptr).Body({}, 4096);
#ifndef TENON_COMPILER_EXPORT_C_SWITCH_H_
#define TENON_COMPILER_EXPORT_C_SWITCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tenon/compiler/export/c_frame_extents.h"
#include "tenon/jit/c/c_text.h"
#include "tenon/runtime/planned_program.h"

namespace tenon::compiler {

class CSwitch {
 public:
  // `constants` are C expressions, `parts` the functions of the parts. `extents` is null for a
  // program of numbers. All must outlive this.
  CSwitch(const runtime::PlannedProgram& program, const std::vector<std::string>& constants,
          const std::vector<std::string>& parts, CFrameExtents* extents)
      : program_(program), addresses_(constants), parts_(parts), extents_(extents) {}

  // The body of a function of inputs, outputs and workspace, of which parts need so many bytes. It
  // calls what MachineFor gives (c_machine.h). With variables it is one of inputs, shapes, outputs
  // and output_shapes. The lines `solve` declare "v", whose first numbers are the variables of the
  // inputs, and return for shapes that do not fit. Throws InvalidArgument for a write that does not
  // fit.
  std::string Body(const std::vector<std::string>& solve, std::int64_t workspace);

 private:
  // Ends the run where the C expression is not 0.
  void Require(const std::string& status);
  // The most arrays that a call is given or gives.
  std::size_t MostGiven() const;
  // Values that nobody reads afterwards are moved (runtime/program.cc).
  void Give(const std::vector<runtime::Register>& wanted,
            const std::vector<runtime::Register>& last_reads);
  void LetGo(const runtime::Step& step);
  void Case(std::size_t number, const std::string& comment);
  void Enter(std::size_t function);
  void EnterExtents(const runtime::ProgramFunction& function);
  // What is left to do after a call, in the case that follows it.
  void ComeBack(const runtime::Step& step);
  void AddFunction(std::size_t function);
  void AddStep(const runtime::Step& step);
  void AddPartStep(const runtime::Step& step);
  void AddPartOfVariables(const runtime::Step& step);
  void AddWrite(const runtime::Step& step);
  void AddWriteOfVariables(const runtime::Step& step);
  void AddCut(const runtime::Step& step);
  void AddCountUp(const runtime::Step& step);
  void SetCutExtent(const runtime::Step& step);
  // The local `count`: what a value holds, from 0 to the extent.
  void CountWithin(const std::string& value, const std::string& extent);
  void Begin(std::int64_t workspace);
  void BeginVariables(const std::vector<std::string>& solve);
  void GiveResults();
  void GiveResultsOfVariables();
  void End();
  // The results of @main that the caller gets.
  std::size_t NumResults() const;
  static std::string At(runtime::Register r);
  static Shape ShapeOf(const runtime::ArrayType& type);  // of numbers
  static bool IsIn(const std::vector<runtime::Register>& list, runtime::Register r);
  // The bytes of the array `value`.
  static std::string BytesOf(const std::string& value, const runtime::ArrayType& type);
  // If it ends its function, what it calls takes that one's place.
  void AddCall(const runtime::Step& step, bool ends);

  const runtime::PlannedProgram& program_;
  const std::vector<std::string>& addresses_;
  const std::vector<std::string>& parts_;
  CFrameExtents* const extents_;
  jit::CBlock out_;
  std::size_t next_case_ = 0;
  bool may_end_ = false;                   // whether a function that is written gives results
  std::vector<runtime::ArrayType> types_;  // by register of the function that is written
};

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_SWITCH_H_
