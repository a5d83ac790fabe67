// What the body of a parallel loop, a function of its own, sees of the function around it. Only
// files inside jit/ include this header.
//
//   const Closure closure(builder, frame, exprs, loop.body, {status});  // in the function
//   std::vector<Value*> more = closure.Open(builder, body, exprs);  // in the body
//   closure.Close(exprs);                                   // in the function again
#ifndef TENON_JIT_LLVM_CLOSURE_H_
#define TENON_JIT_LLVM_CLOSURE_H_

#include <vector>

#include "tenon/jit/llvm/expr_codegen.h"
#include "tenon/jit/llvm/stack_frame.h"

namespace tenon::jit {

class Closure {
 public:
  // Stores the variables and buffers in scope that `body` uses, then `more`, in a struct on the
  // frame's stack.
  Closure(llvm::IRBuilder<>& builder, const StackFrame& frame, ExprCodegen& exprs,
          const loop::Stmt& body, const std::vector<llvm::Value*>& more);

  llvm::Value* address() const { return address_; }

  // Defines what was stored by what `body` finds in its first argument, and gives `more`. Nothing
  // else is in scope.
  std::vector<llvm::Value*> Open(llvm::IRBuilder<>& builder, llvm::Function* body,
                                 ExprCodegen& exprs) const;
  // Defines what was in scope as it was.
  void Close(ExprCodegen& exprs) const;

 private:
  const ExprCodegen::Vars outer_vars_;
  const ExprCodegen::Buffers outer_buffers_;
  std::vector<loop::Expr> vars_;
  std::vector<loop::Buffer> buffers_;
  llvm::StructType* type_;
  llvm::Value* address_;
};

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_CLOSURE_H_
