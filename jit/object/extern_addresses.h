// Where the external functions of a kernel are. Only files inside jit/ include this header.
#ifndef TENON_JIT_OBJECT_EXTERN_ADDRESSES_H_
#define TENON_JIT_OBJECT_EXTERN_ADDRESSES_H_

#include "tenon/jit/object/orc_session.h"
#include "tenon/loop/function.h"

namespace tenon::jit {

// The addresses of the functions that the kernel calls by address. Throws NotFound for a symbol
// that the session does not know, and InvalidArgument for two functions of one name and for one
// symbol with two signatures.
SymbolAddresses ExternAddresses(const loop::Function& function, OrcSession& session);

}  // namespace tenon::jit

#endif  // TENON_JIT_OBJECT_EXTERN_ADDRESSES_H_
