// What exported programs run on: arrays that are counted, and registers of calls that wait for
// others. It is C text.
#ifndef TENON_COMPILER_EXPORT_C_MACHINE_H_
#define TENON_COMPILER_EXPORT_C_MACHINE_H_

#include <cstddef>
#include <string>

namespace tenon::compiler {

// The types, and those functions that `code` calls. Arrays have room for the extents of `axes`
// axes.
std::string MachineFor(const std::string& code, std::size_t axes = 0);

}  // namespace tenon::compiler

#endif  // TENON_COMPILER_EXPORT_C_MACHINE_H_
