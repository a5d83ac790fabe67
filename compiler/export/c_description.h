// What the header of an export says of the function that runs it.
#ifndef TENON_COMPILER_EXPORT_C_DESCRIPTION_H_
#define TENON_COMPILER_EXPORT_C_DESCRIPTION_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/jit/c/c_source.h"
#include "tenon/support/data_type.h"
#include "tenon/support/dim.h"

namespace tenon::compiler {

struct CArray {
  std::string name;  // may be empty
  DataType dtype;
  std::vector<Dim> extents;
};

struct CInterface {
  std::string name;  // of the export
  std::vector<CArray> inputs, outputs;
  std::optional<std::string> workspace_bytes;  // nothing where shapes decide
  std::vector<std::string> cpu_features;       // that native code needs
  bool calls_functions = false;                // which may call themselves
};

// NAME_NUM_INPUTS and the like.
void AddMacros(const CInterface& described, jit::CFile* file);
// The comment of NAME_run.
std::string DescribeRun(const CInterface& described);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_DESCRIPTION_H_
