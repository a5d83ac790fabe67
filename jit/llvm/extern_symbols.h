// The symbols of external functions. Only files inside jit/ include this header.
#ifndef TENON_JIT_LLVM_EXTERN_SYMBOLS_H_
#define TENON_JIT_LLVM_EXTERN_SYMBOLS_H_

#include <string>

#include "tenon/loop/extern_function.h"

namespace tenon::jit {

// The symbol that a call of the function refers to. A function given by its address has a symbol
// that nothing else has, whatever its name.
inline std::string LinkSymbol(const loop::ExternFunction& callee) {
  return callee->address == nullptr ? callee->symbol : callee->symbol + ".extern";
}

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_EXTERN_SYMBOLS_H_
