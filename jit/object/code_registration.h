// Tells debuggers and profilers what linked code is called. Any number of threads may call it. Only
// files inside jit/ include this header.
//
//   std::unique_ptr<GdbEntry> entry = RegisterCode(object, "vadd.kernel", address);
#ifndef TENON_JIT_OBJECT_CODE_REGISTRATION_H_
#define TENON_JIT_OBJECT_CODE_REGISTRATION_H_

#include <memory>
#include <string>
#include <string_view>

#include "tenon/jit/object/gdb_interface.h"

namespace tenon::jit {

// `object` is the ELF file that was linked, `address` where its function `symbol` lies now; every
// function in that one's section is made known. Where `places` are given, "vadd.kernel (places)"
// is shown. gdb knows the code while the result lives; perf (jit/object/perf_map.h) keeps what it
// was told.
std::unique_ptr<GdbEntry> RegisterCode(std::string_view object, const std::string& symbol,
                                       const void* address, std::string_view places = "");

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_CODE_REGISTRATION_H_
