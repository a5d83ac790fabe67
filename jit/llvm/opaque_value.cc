#include "tenon/jit/llvm/opaque_value.h"

#include <string>

#include "llvm/IR/InlineAsm.h"

namespace tenon::jit {

llvm::Value* EmitOpaque(llvm::IRBuilder<>& builder, llvm::Value* x, char registers) {
  auto* const type = llvm::FunctionType::get(x->getType(), {x->getType()}, false);
  const std::string constraints = {'=', registers, ',', '0'};
  llvm::CallInst* const same = builder.CreateCall(
      llvm::InlineAsm::get(type, "", constraints, /*hasSideEffects=*/false), {x});
  same->setDoesNotAccessMemory();
  same->setDoesNotThrow();
  return same;
}

}  // namespace tenon::jit
