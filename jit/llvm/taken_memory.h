// Memory that made code takes while it runs, for buffers of sizes that are not constant. Only files
// inside jit/ include this header.
//
//   TakenMemory memory(builder, frame, buffer->name, {.bytes = bytes, .slot = slot}, status);
//   ... code that uses memory.address() ...
//   memory.GiveBack();
#ifndef TENON_JIT_LLVM_TAKEN_MEMORY_H_
#define TENON_JIT_LLVM_TAKEN_MEMORY_H_

#include <cstdint>
#include <string>

#include "tenon/jit/llvm/stack_frame.h"

namespace tenon::jit {

// The most bytes that a buffer of any size has on the stack: the padded rows of a small image, or a
// row of a softmax.
inline constexpr std::int64_t kMaxSlotBytes = 16 * 1024;

class TakenMemory {
 public:
  struct Size {
    llvm::Value* bytes;
    llvm::Value* slot;  // of kMaxSlotBytes on the stack, for when these are enough; null for none
  };
  // If there is no memory, the code stores kOutOfMemory in `status` and goes on after GiveBack.
  TakenMemory(llvm::IRBuilder<>& builder, const StackFrame& frame, std::string name,
              const Size& size, llvm::Value* status);

  llvm::Value* address() const { return address_; }
  void GiveBack();

 private:
  llvm::IRBuilder<>& builder_;
  const StackFrame& frame_;
  const std::string name_;
  llvm::Value* is_few_ = nullptr;  // whether it is the slot; null where it never is
  llvm::Value* address_ = nullptr;
  llvm::BasicBlock* after_ = nullptr;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_TAKEN_MEMORY_H_
