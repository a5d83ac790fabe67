// The function of an exported program (compiler/export.h): one of ifs, calls and extents that
// values decide.
//
//   ExportedProgram net("net.so", "net", lowered);
//   auto results = net.Run(inputs);  // nothing where the program does not take them
#ifndef TENON_VERIFY_CHECK_EXPORTED_PROGRAM_H_
#define TENON_VERIFY_CHECK_EXPORTED_PROGRAM_H_

#include <optional>
#include <string>
#include <vector>

#include "tenon/compiler/lower_program.h"

namespace tenon::verify {

class ExportedProgram {
 public:
  // Throws DataLoss where the library cannot be loaded or lacks the function. The program must
  // outlive this.
  ExportedProgram(const std::string& path, const std::string& name, const LoweredProgram& program);
  ~ExportedProgram();
  ExportedProgram(const ExportedProgram&) = delete;
  ExportedProgram& operator=(const ExportedProgram&) = delete;

  // Throws DataLoss where inputs change, or results come with a status that is not 0.
  std::optional<std::vector<NDArray>> Run(const runtime::Inputs& inputs) const;

 private:
  std::optional<std::vector<NDArray>> RunOfVariables(const std::vector<NDArray>& inputs) const;
  std::optional<std::vector<NDArray>> RunOfNumbers(const std::vector<NDArray>& inputs) const;

  void* handle_;
  void* run_;
  const LoweredProgram& program_;
  const bool has_variables_;
};

}  // namespace tenon::verify

#endif  // TENON_VERIFY_CHECK_EXPORTED_PROGRAM_H_
