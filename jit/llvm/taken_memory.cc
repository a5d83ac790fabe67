#include "tenon/jit/llvm/taken_memory.h"

#include <utility>

#include "llvm/IR/Module.h"
#include "tenon/jit/llvm/function_codegen.h"

namespace tenon::jit {

TakenMemory::TakenMemory(llvm::IRBuilder<>& builder, const StackFrame& frame, std::string name,
                         const Size& size, llvm::Value* status)
    : builder_(builder), frame_(frame), name_(std::move(name)) {
  auto* pointer = llvm::PointerType::getUnqual(builder_.getContext());
  llvm::FunctionCallee take = frame_.function()->getParent()->getOrInsertFunction(
      "tenon_take_memory", pointer, builder_.getInt64Ty());
  auto* use = frame_.NewBlock(name_ + ".use");
  auto* fail = frame_.NewBlock(name_ + ".fail");
  after_ = frame_.NewBlock(name_ + ".after");
  llvm::BasicBlock* before = builder_.GetInsertBlock();
  if (size.slot != nullptr) {
    is_few_ = builder_.CreateICmpULE(size.bytes, builder_.getInt64(kMaxSlotBytes));
    auto* many = frame_.NewBlock(name_ + ".many");
    builder_.CreateCondBr(is_few_, use, many);
    builder_.SetInsertPoint(many);
  }
  llvm::Value* taken = builder_.CreateCall(take, {size.bytes}, name_);
  llvm::BasicBlock* taking = builder_.GetInsertBlock();
  builder_.CreateCondBr(builder_.CreateIsNotNull(taken), use, fail);
  builder_.SetInsertPoint(fail);
  // Threads may fail together; they all store the same.
  builder_.CreateStore(builder_.getInt32(kOutOfMemory), status)
      ->setAtomic(llvm::AtomicOrdering::Monotonic);
  builder_.CreateBr(after_);
  builder_.SetInsertPoint(use);
  address_ = taken;
  if (size.slot != nullptr) {
    llvm::PHINode* either = builder_.CreatePHI(pointer, 2, name_);
    either->addIncoming(size.slot, before);
    either->addIncoming(taken, taking);
    address_ = either;
  }
}

void TakenMemory::GiveBack() {
  if (is_few_ != nullptr) {
    auto* give_back = frame_.NewBlock(name_ + ".give");
    builder_.CreateCondBr(is_few_, after_, give_back);
    builder_.SetInsertPoint(give_back);
  }
  llvm::FunctionCallee give = frame_.function()->getParent()->getOrInsertFunction(
      "tenon_give_memory", builder_.getVoidTy(),
      llvm::PointerType::getUnqual(builder_.getContext()));
  builder_.CreateCall(give, {address_});
  builder_.CreateBr(after_);
  builder_.SetInsertPoint(after_);
}

}  // namespace tenon::jit
