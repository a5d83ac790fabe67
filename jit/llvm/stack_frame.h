// The stack of a made function, and how much memory a buffer takes. Only files inside jit/ include
// this header.
//
//   StackFrame frame(function);
//   if (size.count && frame.HasRoom(*size.count * bytes)) ... frame.Slot(type, *size.count)
#ifndef TENON_JIT_LLVM_STACK_FRAME_H_
#define TENON_JIT_LLVM_STACK_FRAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/IR/Function.h"
#include "tenon/jit/llvm/expr_codegen.h"

namespace tenon::jit {

class StackFrame {
 public:
  explicit StackFrame(llvm::Function* function = nullptr) : function_(function) {}

  llvm::Function* function() const { return function_; }
  llvm::BasicBlock* NewBlock(const std::string& name) const;
  // A slot in the entry block, so that a loop around what asks for it does not take more and more.
  llvm::Value* Slot(llvm::Type* type, std::int64_t count) const;

  // Whether a buffer of that many elements may go to the stack without being told to.
  bool HasRoom(std::int64_t count, std::int64_t element_bytes) const;
  void Take(std::int64_t bytes) { bytes_ += bytes; }

 private:
  llvm::Function* function_;
  std::int64_t bytes_ = 0;  // of its buffers
};

struct BufferSize {
  llvm::Value* bytes;  // the largest integer, which no memory has, where the product would wrap
  std::optional<std::int64_t> count;  // of elements, where it is constant
};
BufferSize SizeOf(const loop::Buffer& buffer, llvm::IRBuilder<>& builder, ExprCodegen& exprs);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_STACK_FRAME_H_
