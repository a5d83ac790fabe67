// What exported programs run on: arrays that are counted, and registers of calls that wait for
// others. It is C text.
#ifndef TENON_COMPILER_EXPORT_C_MACHINE_H_
#define TENON_COMPILER_EXPORT_C_MACHINE_H_

#include <string>

namespace tenon::compiler {

// The types, and those functions that `code` calls.
std::string MachineFor(const std::string& code);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_MACHINE_H_
