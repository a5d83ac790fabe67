// One pass over the statements with a builder. A parallel loop's body is outlined: everything in
// scope goes through a closure on the stack, and the runtime calls the body with a range of
// iterations. Small allocations of constant size, and all that ask for it, live on the stack
// (stack_frame.h), where LLVM promotes small ones to registers. Others come from the runtime's
// cache.
#include "tenon/jit/llvm/function_codegen.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "llvm/IR/IntrinsicsX86.h"
#include "tenon/jit/bounds/bounds_checks.h"
#include "tenon/jit/llvm/closure.h"
#include "tenon/jit/llvm/expr_codegen.h"
#include "tenon/jit/llvm/llvm_versions.h"
#include "tenon/jit/llvm/loop_hints.h"
#include "tenon/jit/llvm/stack_frame.h"
#include "tenon/jit/llvm/streaming_stores.h"
#include "tenon/jit/llvm/taken_memory.h"
#include "tenon/loop/simplify/simplify.h"
#include "tenon/loop/stmt.h"
#include "tenon/support/alignment.h"
#include "tenon/support/error.h"

namespace tenon::jit {
namespace {

using llvm::Value;
using loop::Stmt;
using loop::StmtKind;

// In this block and those that were made after it.
std::size_t InstructionsFrom(const llvm::BasicBlock& block) {
  std::size_t count = 0;
  for (auto at = block.getIterator(); at != block.getParent()->end(); ++at) count += at->size();
  return count;
}

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
    flags.setAllowContract(!options.reproducible);
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
    status_ = frame_.Slot(builder_.getInt32Ty(), 1);
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
      // An extent, or the address of a report of bounds.
      exprs_.Bound(function.scalars[i], {.low = 0});
    }
    EmitBody(function);
    builder_.CreateRet(builder_.CreateLoad(builder_.getInt32Ty(), status_));
  }

 private:
  void Enter(llvm::Function* function) {
    frame_ = StackFrame(function);
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
    auto* in_lines = frame_.NewBlock("in_lines");
    auto* anywhere = frame_.NewBlock("anywhere");
    auto* after = frame_.NewBlock("after");
    builder_.CreateCondBr(builder_.CreateICmpEQ(offset, builder_.getInt64(0)), in_lines, anywhere);
    exprs_.StreamTo(std::move(streamed));
    EmitBlock(in_lines, function.body, after);
    exprs_.StreamTo({});
    EmitBlock(anywhere, function.body, after);
    builder_.SetInsertPoint(after);
    // Other threads see non-temporal stores before they see that the kernel is done.
    FenceStreams();
  }

  void FenceStreams() {
    builder_.CreateCall(DeclareIntrinsic(&module_, llvm::Intrinsic::x86_sse_sfence));
  }

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
    auto* then_block = frame_.NewBlock("then");
    auto* after = frame_.NewBlock("after");
    const bool has_else = static_cast<bool>(node.else_case);
    auto* else_block = has_else ? frame_.NewBlock("else") : after;
    builder_.CreateCondBr(condition, then_block, else_block);
    EmitBlock(then_block, node.then_case, after);
    if (has_else) EmitBlock(else_block, node.else_case, after);
    builder_.SetInsertPoint(after);
  }

  void EmitBlock(llvm::BasicBlock* block, const Stmt& body, llvm::BasicBlock* next) {
    builder_.SetInsertPoint(block);
    const ReusedValues::Scope inside(exprs_.reused());
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
    auto* body = frame_.NewBlock(node.var.name() + ".loop");
    auto* after = frame_.NewBlock(node.var.name() + ".end");
    builder_.CreateCondBr(builder_.CreateICmpSLT(begin, end), body, after);
    builder_.SetInsertPoint(body);
    llvm::PHINode* var = builder_.CreatePHI(builder_.getInt64Ty(), 2, node.var.name());
    var->addIncoming(begin, before);
    {
      const ScopedEntry scope(exprs_.vars(), node.var, var);
      exprs_.Bound(node.var, ValuesOf(node));
      const ReusedValues::Scope inside(exprs_.reused());
      Emit(node.body);
    }
    // For numbers without a sign, the step from -1 to 0 wraps around.
    const bool is_unsigned = ValuesOf(node).low >= 0;
    Value* next = builder_.CreateAdd(var, builder_.getInt64(1), "", is_unsigned, true);
    var->addIncoming(next, builder_.GetInsertBlock());
    llvm::BranchInst* back = builder_.CreateCondBr(builder_.CreateICmpSLT(next, end), body, after);
    TellOf(node, InstructionsFrom(*body), options_.reassociate_reductions, back);
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

    const Closure closure(builder_, frame_, exprs_, node.body, {status_, min});
    auto* body_type = llvm::FunctionType::get(builder_.getVoidTy(), {pointer, int64, int64}, false);
    llvm::Function* body =
        llvm::Function::Create(body_type, llvm::Function::InternalLinkage,
                               frame_.function()->getName() + "." + node.var.name(), module_);
    auto* runtime_type =
        llvm::FunctionType::get(builder_.getVoidTy(), {pointer, pointer, int64}, false);
    builder_.CreateCall(module_.getOrInsertFunction("tenon_parallel_for", runtime_type),
                        {body, closure.address(), extent});

    const StackFrame outer_frame = frame_;
    const llvm::IRBuilderBase::InsertPoint resume = builder_.saveIP();
    Enter(body);
    ReusedValues outside;
    std::swap(exprs_.reused(), outside);
    const std::vector<Value*> more = closure.Open(builder_, body, exprs_);
    Value* outer_status = std::exchange(status_, more[0]);
    Value* first = more[1];
    EmitLoop(node, builder_.CreateAdd(first, body->getArg(1)),
             builder_.CreateAdd(first, body->getArg(2)));
    if (exprs_.streams()) FenceStreams();
    builder_.CreateRetVoid();
    closure.Close(exprs_);
    std::swap(exprs_.reused(), outside);
    exprs_.reused().ChangeMemory();
    frame_ = outer_frame;
    status_ = outer_status;
    builder_.restoreIP(resume);
  }

  void EmitAllocate(const loop::AllocateNode& node) {
    const loop::Buffer& buffer = node.buffer;
    llvm::Type* element = exprs_.MemoryType(buffer->dtype);
    const BufferSize size = SizeOf(buffer, builder_, exprs_);
    const auto bytes = static_cast<std::int64_t>(buffer->dtype.bytes());
    const bool wants_stack = buffer->memory == loop::Memory::kStack;
    CheckInvariant(size.count || !wants_stack, "a buffer on the stack has a constant size");
    if (size.count && (wants_stack || frame_.HasRoom(*size.count, bytes))) {
      frame_.Take(*size.count * bytes);
      Value* slot = frame_.Slot(element, std::max<std::int64_t>(*size.count, 1));
      slot->setName(buffer->name);
      const ScopedEntry scope(exprs_.buffers(), buffer, slot);
      Emit(node.body);
      return;
    }
    TakenMemory memory(builder_, frame_, buffer->name,
                       {.bytes = size.bytes, .slot = size.count ? nullptr : SlotOfFew(buffer)},
                       status_);
    {
      const ScopedEntry scope(exprs_.buffers(), buffer, memory.address());
      const ReusedValues::Scope inside(exprs_.reused());
      Emit(node.body);
    }
    memory.GiveBack();
  }

  // A slot on the stack for a buffer of any size that is often small. Null if the frame has no
  // room. A loop of short rows would spend more time on taking memory than on the rows.
  Value* SlotOfFew(const loop::Buffer& buffer) {
    const auto bytes = static_cast<std::int64_t>(buffer->dtype.bytes());
    const std::int64_t count = kMaxSlotBytes / bytes;
    if (!frame_.HasRoom(count, bytes)) return nullptr;
    frame_.Take(kMaxSlotBytes);
    return frame_.Slot(exprs_.MemoryType(buffer->dtype), count);
  }

  llvm::Module& module_;
  llvm::LLVMContext& context_;
  const CodegenOptions& options_;
  llvm::IRBuilder<> builder_;
  ExprCodegen exprs_;
  StackFrame frame_;         // of the function that is made now
  Value* status_ = nullptr;  // where the function's result is kept
};

}  // namespace

std::string EntrySymbol(const std::string& name) {
  std::string symbol = name + ".kernel";
  std::replace(symbol.begin(), symbol.end(), '\0', '_');  // a symbol ends there
  if (symbol.starts_with("llvm.")) symbol[4] = '_';       // the name of an intrinsic
  return symbol;
}

std::unique_ptr<llvm::Module> GenerateModule(llvm::LLVMContext& context,
                                             const loop::Function& function,
                                             const CodegenOptions& options) {
  auto module = std::make_unique<llvm::Module>(function.name, context);
  FunctionCodegen(*module, options)
      .Generate(options.check_bounds ? WithBoundsChecks(function).function : function);
  return module;
}

}  // namespace tenon::jit
