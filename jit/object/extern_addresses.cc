#include "tenon/jit/object/extern_addresses.h"

#include <map>
#include <vector>

#include "tenon/jit/llvm/extern_symbols.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::jit {

SymbolAddresses ExternAddresses(const loop::Function& function, OrcSession& session) {
  SymbolAddresses addresses;
  std::map<std::string, std::vector<DataType>> signatures;
  loop::VisitExprs(function.body, [&](const loop::Expr& e) {
    const auto* call = e.As<loop::ExternCallNode>();
    if (call == nullptr) return;
    const loop::ExternFunctionNode& callee = *call->callee.operator->();
    const std::string symbol = LinkSymbol(call->callee);
    std::vector<DataType> signature = {callee.result};
    for (const loop::Expr& arg : call->args) signature.push_back(arg.dtype().element());
    if (const auto known = signatures.emplace(symbol, signature).first;
        known->second != signature) {
      throw InvalidArgument(StrCat("kernel ", function.name, " calls the external function ",
                                   callee.symbol, " with two signatures"));
    }
    if (callee.address == nullptr) {
      if (!session.Knows(symbol)) {
        throw NotFound(StrCat("kernel ", function.name, " calls the external function ", symbol,
                              ", which this process does not have; link or load its library, ",
                              "export the symbol, or give the function by its address"));
      }
    } else if (addresses.emplace(symbol, callee.address).first->second != callee.address) {
      throw InvalidArgument(StrCat("kernel ", function.name, " calls two functions named ",
                                   callee.symbol, "; give them different names"));
    }
  });
  return addresses;
}

}  // namespace tenon::jit
