// One pass over the statements with a builder. A parallel loop's body is outlined: everything in
// scope goes through a closure on the stack, and the runtime calls the body with a range of
// iterations. Allocations of constant size up to kStackBytes, while a frame holds no more than
// kFrameBytes of them, and all that ask for it, live on the stack, where LLVM promotes small ones
// to registers; others come from the runtime's cache.
#include "tenon/jit/llvm/function_codegen.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "llvm/IR/IntrinsicsX86.h"
#include "tenon/jit/bounds/bounds_checks.h"
#include "tenon/jit/llvm/expr_codegen.h"
#include "tenon/jit/llvm/loop_hints.h"
#include "tenon/jit/llvm/streaming_stores.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/stmt.h"
#include "tenon/support/alignment.h"
#include "tenon/support/error.h"

namespace tenon::jit {
namespace {

using llvm::Value;
using loop::Stmt;
using loop::StmtKind;

constexpr std::int64_t kStackBytes = 64 * 1024;
// Of all buffers in a frame: threads of a host may have small stacks.
constexpr std::int64_t kFrameBytes = 256 * 1024;

class FunctionCodegen {
 public:
  FunctionCodegen(llvm::Module& module, const CodegenOptions& options)
      : module_(module),
        context_(module.getContext()),
        options_(options),
        builder_(context_),
        exprs_(module, builder_, options) {
    llvm::FastMathFlags flags;
    // A product that feeds a sum may be fused: one rounding instead of two.
    flags.setAllowContract(true);
    builder_.setFastMathFlags(flags);
  }

  void Generate(const loop::Function& function) {
    auto* pointer = llvm::PointerType::getUnqual(context_);
    auto* type = llvm::FunctionType::get(builder_.getInt32Ty(), {pointer, pointer}, false);
    llvm::Function* made = llvm::Function::Create(type, llvm::Function::ExternalLinkage,
                                                  EntrySymbol(function.name), module_);
    made->getArg(0)->setName("buffers");
    made->getArg(1)->setName("extents");
    Enter(made);
    status_ = StackSlot(builder_.getInt32Ty(), 1);
    builder_.CreateStore(builder_.getInt32(0), status_);
    for (std::size_t i = 0; i < function.buffers.size(); ++i) {
      Value* slot = builder_.CreateConstInBoundsGEP1_64(pointer, made->getArg(0), i);
      exprs_.Define(function.buffers[i],
                    builder_.CreateLoad(pointer, slot, function.buffers[i]->name));
    }
    for (std::size_t i = 0; i < function.scalars.size(); ++i) {
      Value* slot = builder_.CreateConstInBoundsGEP1_64(builder_.getInt64Ty(), made->getArg(1), i);
      exprs_.Define(function.scalars[i],
                    builder_.CreateLoad(builder_.getInt64Ty(), slot, function.scalars[i].name()));
    }
    EmitBody(function);
    builder_.CreateRet(builder_.CreateLoad(builder_.getInt32Ty(), status_));
  }

 private:
  void Enter(llvm::Function* function) {
    function_ = function;
    builder_.SetInsertPoint(llvm::BasicBlock::Create(context_, "entry", function));
  }

  void EmitBody(const loop::Function& function) {
    std::vector<loop::Buffer> streamed = StreamedResults(function);
    if (streamed.empty()) return Emit(function.body);
    Value* offset = builder_.getInt64(0);
    for (const loop::Buffer& buffer : streamed) {
      Value* address = builder_.CreatePtrToInt(exprs_.buffers().at(buffer), builder_.getInt64Ty());
      offset = builder_.CreateOr(offset, address);
    }
    offset = builder_.CreateAnd(offset, kCacheLineBytes - 1);
    auto* in_lines = llvm::BasicBlock::Create(context_, "in_lines", function_);
    auto* anywhere = llvm::BasicBlock::Create(context_, "anywhere", function_);
    auto* after = llvm::BasicBlock::Create(context_, "after", function_);
    builder_.CreateCondBr(builder_.CreateICmpEQ(offset, builder_.getInt64(0)), in_lines, anywhere);
    exprs_.StreamTo(std::move(streamed));
    EmitBlock(in_lines, function.body, after);
    exprs_.StreamTo({});
    EmitBlock(anywhere, function.body, after);
    builder_.SetInsertPoint(after);
    // Other threads see what was stored past the caches before they see that the kernel is done.
    FenceStreams();
  }

  void FenceStreams() { builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {}); }

  void Emit(const Stmt& stmt) {
    switch (stmt.kind()) {
      case StmtKind::kFor:
        EmitFor(*stmt.As<loop::ForNode>());
        return;
      case StmtKind::kStore: {
        const auto& node = *stmt.As<loop::StoreNode>();
        exprs_.EmitStore(node, loop::MayReassociate(node) && options_.reassociate_reductions);
        return;
      }
      case StmtKind::kSeq:
        for (const Stmt& part : stmt.As<loop::SeqNode>()->stmts) Emit(part);
        return;
      case StmtKind::kIf:
        EmitIf(*stmt.As<loop::IfNode>());
        return;
      case StmtKind::kAllocate:
        EmitAllocate(*stmt.As<loop::AllocateNode>());
        return;
      case StmtKind::kLet: {
        const auto& node = *stmt.As<loop::LetStmtNode>();
        Value* value = exprs_.Emit(node.value);
        const ScopedEntry scope(exprs_.vars(), node.var, value);
        exprs_.StandsFor(node.var, node.value);
        Emit(node.body);
        return;
      }
      case StmtKind::kEvaluate:
        exprs_.Emit(stmt.As<loop::EvaluateNode>()->value);
        return;
    }
    Unreachable("the switch over statement kinds is exhaustive");
  }

  void EmitIf(const loop::IfNode& node) {
    Value* condition = exprs_.Emit(node.condition);
    auto* then_block = llvm::BasicBlock::Create(context_, "then", function_);
    auto* after = llvm::BasicBlock::Create(context_, "after", function_);
    const bool has_else = static_cast<bool>(node.else_case);
    auto* else_block = has_else ? llvm::BasicBlock::Create(context_, "else", function_) : after;
    builder_.CreateCondBr(condition, then_block, else_block);
    EmitBlock(then_block, node.then_case, after);
    if (has_else) EmitBlock(else_block, node.else_case, after);
    builder_.SetInsertPoint(after);
  }

  void EmitBlock(llvm::BasicBlock* block, const Stmt& body, llvm::BasicBlock* next) {
    builder_.SetInsertPoint(block);
    Emit(body);
    builder_.CreateBr(next);
  }

  void EmitFor(const loop::ForNode& node) {
    if (node.for_kind == loop::ForKind::kParallel) return EmitParallel(node);
    CheckInvariant(node.for_kind != loop::ForKind::kVectorized,
                   "vectorised loops are expanded before code generation");
    Value* begin = exprs_.Emit(node.min);
    Value* end = builder_.CreateAdd(begin, exprs_.Emit(node.extent), "", false, true);
    EmitLoop(node, begin, end);
  }

  // for (var = begin; var < end; ++var) body
  void EmitLoop(const loop::ForNode& node, Value* begin, Value* end) {
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    auto* body = llvm::BasicBlock::Create(context_, node.var.name() + ".loop", function_);
    auto* after = llvm::BasicBlock::Create(context_, node.var.name() + ".end", function_);
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), body, after);
    builder_.SetInsertPoint(body);
    llvm::PHINode* var = builder_.CreatePHI(builder_.getInt64Ty(), 2, node.var.name());
    var->addIncoming(begin, before);
    {
      const ScopedEntry scope(exprs_.vars(), node.var, var);
      exprs_.Bound(node.var, ValuesOf(node));
      Emit(node.body);
    }
    // From -1 to 0 is a wrap around of numbers without a sign.
    const bool is_unsigned = ValuesOf(node).low >= 0;
    Value* next = builder_.CreateAdd(var, builder_.getInt64(1), "", is_unsigned, true);
    var->addIncoming(next, builder_.GetInsertBlock());
    llvm::BranchInst* back = builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), body, after);
    TellOf(node, options_.reassociate_reductions, back);
    builder_.SetInsertPoint(after);
  }

  loop::Interval ValuesOf(const loop::ForNode& node) const {
    const loop::Expr last = node.min + node.extent - 1;
    return {loop::RangeOf(node.min, exprs_.bounds()).low,
            loop::RangeOf(last, exprs_.bounds()).high};
  }

  void EmitParallel(const loop::ForNode& node) {
    Value* min = exprs_.Emit(node.min);
    Value* extent = exprs_.Emit(node.extent);
    auto* pointer = llvm::PointerType::getUnqual(context_);
    auto* int64 = builder_.getInt64Ty();

    // The closure: every variable and buffer in scope, then the loop's first iteration.
    std::vector<llvm::Type*> types;
    std::vector<Value*> captured;
    const ExprCodegen::Vars outer_vars = exprs_.vars();
    const ExprCodegen::Buffers outer_buffers = exprs_.buffers();
    for (const auto& [var, value] : outer_vars) captured.push_back(value);
    for (const auto& [buffer, address] : outer_buffers) captured.push_back(address);
    captured.push_back(status_);
    captured.push_back(min);
    for (Value* value : captured) types.push_back(value->getType());
    auto* closure_type = llvm::StructType::get(context_, types);
    Value* closure = StackSlot(closure_type, 1);
    for (unsigned i = 0; i < captured.size(); ++i) {
      builder_.CreateStore(captured[i], builder_.CreateStructGEP(closure_type, closure, i));
    }

    auto* body_type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, int64, int64}, false);
    llvm::Function* body =
        llvm::Function::Create(body_type, llvm::Function::InternalLinkage,
                               function_->getName() + "." + node.var.name(), module_);
    auto* runtime_type =
        llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, int64}, false);
    builder_.CreateCall(module_.getOrInsertFunction("tenon_parallel_for", runtime_type),
                        {body, closure, extent});

    llvm::Function* outer_function = function_;
    const std::int64_t outer_bytes = std::exchange(frame_bytes_, 0);
    const llvm::IRBuilderBase::InsertPoint resume = builder_.saveIP();
    Enter(body);
    const auto restore = [&](unsigned i) {
      return builder_.CreateLoad(types[i],
                                 builder_.CreateStructGEP(closure_type, body->getArg(0), i));
    };
    unsigned i = 0;
    for (const auto& [var, value] : outer_vars) {
      Value* loaded = restore(i++);
      loaded->setName(loop::Var(var).name());
      exprs_.Define(var, loaded);
    }
    for (const auto& [buffer, address] : outer_buffers) {
      Value* loaded = restore(i++);
      loaded->setName(buffer->name);
      exprs_.Define(buffer, loaded);
    }
    Value* outer_status = std::exchange(status_, restore(i++));
    Value* first = restore(i);
    EmitLoop(node, builder_.CreateAdd(first, body->getArg(1)),
             builder_.CreateAdd(first, body->getArg(2)));
    if (exprs_.streams()) FenceStreams();
    builder_.CreateRetVoid();
    exprs_.vars() = outer_vars;
    exprs_.buffers() = outer_buffers;
    function_ = outer_function;
    frame_bytes_ = outer_bytes;
    status_ = outer_status;
    builder_.restoreIP(resume);
  }

  // Stack memory is taken in the entry block, so that a loop around it does not take more and more.
  Value* StackSlot(llvm::Type* type, std::int64_t count) {
    llvm::BasicBlock& entry = function_->getEntryBlock();
    llvm::IRBuilder<> at_entry(&entry, entry.begin());
    llvm::AllocaInst* slot =
        at_entry.CreateAlloca(type, at_entry.getInt64(static_cast<std::uint64_t>(count)));
    slot->setAlignment(llvm::Align(64));
    return slot;
  }

  // Of sizes, neither of which is negative; the largest integer, which no memory has, where the
  // product would wrap.
  Value* SizeProduct(Value* a, Value* b) {
    Value* product = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smul_with_overflow, a, b);
    return builder_.CreateSelect(builder_.CreateExtractValue(product, 1),
                                 builder_.getInt64(std::numeric_limits<std::int64_t>::max()),
                                 builder_.CreateExtractValue(product, 0));
  }

  void EmitAllocate(const loop::AllocateNode& node) {
    const loop::Buffer& buffer = node.buffer;
    llvm::Type* element = exprs_.MemoryType(buffer->dtype);
    std::int64_t constant_count = 1;
    bool is_constant = true;
    const auto bytes = static_cast<std::int64_t>(buffer->dtype.bytes());
    Value* size = builder_.getInt64(static_cast<std::uint64_t>(bytes));
    for (const loop::Expr& extent : buffer->shape) {
      if (const auto* imm = extent.As<loop::IntImmNode>()) {
        is_constant =
            is_constant && !__builtin_mul_overflow(constant_count, imm->value, &constant_count);
      } else {
        is_constant = false;
      }
      size = SizeProduct(size, exprs_.Emit(extent));
    }
    CheckInvariant(is_constant || buffer->memory != loop::Memory::kStack,
                   "a buffer on the stack has a constant size");
    if (is_constant && (buffer->memory == loop::Memory::kStack ||
                        (constant_count <= kStackBytes / bytes &&
                         frame_bytes_ + constant_count * bytes <= kFrameBytes))) {
      frame_bytes_ += constant_count * bytes;
      Value* slot = StackSlot(element, std::max<std::int64_t>(constant_count, 1));
      slot->setName(buffer->name);
      const ScopedEntry scope(exprs_.buffers(), buffer, slot);
      Emit(node.body);
      return;
    }
    auto* pointer = llvm::PointerType::getUnqual(context_);
    llvm::FunctionCallee take =
        module_.getOrInsertFunction("tenon_take_memory", pointer, builder_.getInt64Ty());
    llvm::FunctionCallee give =
        module_.getOrInsertFunction("tenon_give_memory", builder_.getVoidTy(), pointer);
    Value* memory = builder_.CreateCall(take, {size}, buffer->name);
    const ScopedEntry scope(exprs_.buffers(), buffer, memory);
    auto* use = llvm::BasicBlock::Create(context_, buffer->name + ".use", function_);
    auto* fail = llvm::BasicBlock::Create(context_, buffer->name + ".fail", function_);
    auto* after = llvm::BasicBlock::Create(context_, buffer->name + ".after", function_);
    builder_.CreateCondBr(builder_.CreateIsNotNull(memory), use, fail);
    builder_.SetInsertPoint(fail);
    // Threads may fail together; they all store the same.
    builder_.CreateStore(builder_.getInt32(kOutOfMemory), status_)
        ->setAtomic(llvm::AtomicOrdering::Monotonic);
    builder_.CreateBr(after);
    builder_.SetInsertPoint(use);
    Emit(node.body);
    builder_.CreateCall(give, {memory});
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const CodegenOptions& options_;
  llvm::IRBuilder<> builder_;
  ExprCodegen exprs_;
  llvm::Function* function_ = nullptr;
  Value* status_ = nullptr;       // where the function's result is kept
  std::int64_t frame_bytes_ = 0;  // of the buffers on its stack
};

}  // namespace

std::unique_ptr<llvm::Module> GenerateModule(llvm::LLVMContext& context,
                                             const loop::Function& function,
                                             const CodegenOptions& options) {
  auto module = std::make_unique<llvm::Module>(function.name, context);
  FunctionCodegen(*module, options)
      .Generate(options.check_bounds ? WithBoundsChecks(function).function : function);
  return module;
}

}  // namespace tenon::jit
