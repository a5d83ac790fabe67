// The external functions of a kernel and their symbols. Only files inside jit/ include this header.
#ifndef TENON_JIT_LLVM_EXTERN_SYMBOLS_H_
#define TENON_JIT_LLVM_EXTERN_SYMBOLS_H_

#include <string>

#include "tenon/jit/object/orc_session.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

// The symbol that a call of the function refers to. A function given by its address has a symbol
// that nothing else has, whatever its name.
std::string LinkSymbol(const loop::ExternFunction& callee);

// The addresses of those that the kernel calls by address. Throws NotFound for a symbol that the
// session does not know, InvalidArgument for two functions of one name and for one symbol with two
// signatures.
SymbolAddresses ExternSymbols(const loop::Function& function, OrcSession& session);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_EXTERN_SYMBOLS_H_
