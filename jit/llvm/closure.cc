#include "tenon/jit/llvm/closure.h"

namespace tenon::jit {

using llvm::Value;

Closure::Closure(llvm::IRBuilder<>& builder, const StackFrame& frame, ExprCodegen& exprs,
                 const std::vector<Value*>& more)
    : vars_(exprs.vars()), buffers_(exprs.buffers()) {
  std::vector<Value*> captured;
  for (const auto& [var, value] : vars_) captured.push_back(value);
  for (const auto& [buffer, address] : buffers_) captured.push_back(address);
  captured.insert(captured.end(), more.begin(), more.end());
  std::vector<llvm::Type*> types;
  for (Value* value : captured) types.push_back(value->getType());
  type_ = llvm::StructType::get(builder.getContext(), types);
  address_ = frame.Slot(type_, 1);
  for (unsigned i = 0; i < captured.size(); ++i)
    builder.CreateStore(captured[i], builder.CreateStructGEP(type_, address_, i));
}

std::vector<Value*> Closure::Open(llvm::IRBuilder<>& builder, llvm::Function* body,
                                  ExprCodegen& exprs) const {
  unsigned i = 0;
  const auto restore = [&] {
    Value* place = builder.CreateStructGEP(type_, body->getArg(0), i);
    return builder.CreateLoad(type_->getElementType(i++), place);
  };
  for (const auto& [var, value] : vars_) {
    Value* loaded = restore();
    loaded->setName(loop::Var(var).name());
    exprs.Define(var, loaded);
  }
  for (const auto& [buffer, address] : buffers_) {
    Value* loaded = restore();
    loaded->setName(buffer->name);
    exprs.Define(buffer, loaded);
  }
  std::vector<Value*> more;
  while (i < type_->getNumElements()) more.push_back(restore());
  return more;
}

void Closure::Close(ExprCodegen& exprs) const {
  exprs.vars() = vars_;
  exprs.buffers() = buffers_;
}

}  // namespace tenon::jit
