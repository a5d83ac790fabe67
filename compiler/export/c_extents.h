// The numbers of an exported graph as C: literals or, if the plan has variables, what a function
// computes from the shapes of the inputs.
//
//   CExtents extents(plan, "net_extents");
//   extents.Text(extents.Of(n * 4));  // "v[17]", or "16" where n is a number
//   file.AddDefinitions(extents.Definition());  // once all numbers have been asked for
#ifndef TENON_COMPILER_EXPORT_C_EXTENTS_H_
#define TENON_COMPILER_EXPORT_C_EXTENTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tenon/runtime/plan.h"
#include "tenon/support/dim_program.h"

namespace tenon::compiler {

// Where the values of the variables come from: the shapes of the inputs, which are compared with
// what the plan says, or an array of values, in the order of the plan's variables.
enum class CVariables { kOfShapes, kGiven };

class CExtents {
 public:
  // The plan must outlive this. The C function is called `function`, and the array of numbers "v".
  CExtents(const runtime::Plan& plan, std::string function,
           CVariables variables = CVariables::kOfShapes);

  bool has_variables() const { return !plan_.symbols.empty(); }

  // The place of a number among the operations.
  int Of(const Dim& dim) { return program_.Add(dim); }
  int Sum(int a, int b);
  int Greater(int a, int b);
  int RoundedUp(int a, std::int64_t multiple);
  // An int64_t.
  std::string Text(int number) const;

  // static int32_t FUNCTION(const int64_t* const* shapes, int64_t* v): gives 0, or 2 if the model
  // does not take inputs of these shapes. With given values it is FUNCTION(const int64_t* given,
  // int64_t* v). It calls what ExtentHelpersFor gives.
  std::string Definition() const;
  // The declaration of v, and the call that fills it and returns `refusal` if it fails.
  std::vector<std::string> Call(const std::string& refusal) const;

 private:
  using Kind = DimProgram::Kind;
  int Operation(Kind kind, int a, int b);
  // The C expressions of variables, by their places.
  std::map<int, std::string> VariablesOfShapes() const;
  std::string OperationLine(std::size_t k) const;

  const runtime::Plan& plan_;
  const std::string function_;
  const CVariables variables_;
  DimProgram program_;
  std::vector<int> extents_;              // that must not be negative
  std::vector<std::vector<int>> inputs_;  // extents by input
  std::vector<std::pair<int, int>> conditions_;
};

// The definitions of the functions that `code`, which may be several definitions, calls.
std::string ExtentHelpersFor(const std::string& code);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_EXTENTS_H_
