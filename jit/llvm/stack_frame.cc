#include "tenon/jit/llvm/stack_frame.h"

#include <limits>

namespace tenon::jit {
namespace {

using llvm::Value;

constexpr std::int64_t kStackBytes = 64 * 1024;
// The most bytes of all buffers in a frame. Threads of a host may have small stacks.
constexpr std::int64_t kFrameBytes = 256 * 1024;

// Requires that neither is negative.
Value* SizeProduct(llvm::IRBuilder<>& builder, Value* a, Value* b) {
  Value* product = builder.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, a, b);
  return builder.CreateSelect(builder.CreateExtractValue(product, 1),
                              builder.getInt64(std::numeric_limits<std::int64_t>::max()),
                              builder.CreateExtractValue(product, 0));
}

}  // namespace

llvm::BasicBlock* StackFrame::NewBlock(const std::string& name) const {
  return llvm::BasicBlock::Create(function_->getContext(), name, function_);
}

Value* StackFrame::Slot(llvm::Type* type, std::int64_t count) const {
  llvm::BasicBlock& entry = function_->getEntryBlock();
  llvm::IRBuilder<> at_entry(&entry, entry.begin());
  llvm::AllocaInst* slot =
      at_entry.CreateAlloca(type, at_entry.getInt64(static_cast<std::uint64_t>(count)));
  slot->setAlignment(llvm::Align(64));
  return slot;
}

bool StackFrame::HasRoom(std::int64_t count, std::int64_t element_bytes) const {
  return count <= kStackBytes / element_bytes && bytes_ + count * element_bytes <= kFrameBytes;
}

BufferSize SizeOf(const loop::Buffer& buffer, llvm::IRBuilder<>& builder, ExprCodegen& exprs) {
  BufferSize size = {builder.getInt64(static_cast<std::uint64_t>(buffer->dtype.bytes())), 1};
  for (const loop::Expr& extent : buffer->shape) {
    const auto* imm = extent.As<loop::IntImmNode>();
    if (imm == nullptr ||
        (size.count && __builtin_mul_overflow(*size.count, imm->value, &*size.count)))
      size.count.reset();
    size.bytes = SizeProduct(builder, size.bytes, exprs.Emit(extent));
  }
  return size;
}

}  // namespace tenon::jit
