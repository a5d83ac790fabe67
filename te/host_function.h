// Calls of external functions from the interpreter. Only files inside te/ include this header.
#ifndef TENON_TE_HOST_FUNCTION_H_
#define TENON_TE_HOST_FUNCTION_H_

#include <cstdint>
#include <vector>

#include "tenon/loop/extern_function.h"

namespace tenon::te {

using loop::HostValue;

// Numbers as a C function takes and gives them.
HostValue ToHost(DataType type, double value);
HostValue ToHost(DataType type, std::int64_t value);
double FloatFromHost(DataType type, const HostValue& value);
std::int64_t IntFromHost(DataType type, const HostValue& value);

class HostFunction {
 public:
  // Throws NotFound for a symbol that the process does not have, and Unimplemented for a function
  // without a C++ signature.
  explicit HostFunction(loop::ExternFunction callee);
  HostValue operator()(const std::vector<HostValue>& args) const;

 private:
  loop::ExternFunction callee_;
  const void* address_;
};

}  // namespace tenon::te

#endif  // TENON_TE_HOST_FUNCTION_H_
