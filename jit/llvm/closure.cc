#include "tenon/jit/llvm/closure.h"

#include <unordered_set>

#include "tenon/loop/visit.h"

namespace tenon::jit {

using llvm::Value;

namespace {

// What a statement names: variables, and the buffers that it loads, stores or allocates. Sizes of
// allocations are expressions of variables, too.
struct Names {
  std::unordered_set<const loop::ExprNode*> vars;
  std::unordered_set<const loop::BufferNode*> buffers;
};

Names NamesIn(const loop::Stmt& body) {
  Names names;
  const auto add = [&](const loop::Expr& root) {
    loop::VisitExpr(root, [&](const loop::Expr& e) {
      if (e.kind() == loop::ExprKind::kVar) names.vars.insert(e.get());
      if (const auto* load = e.As<loop::LoadNode>()) names.buffers.insert(load->buffer.get());
      if (const auto* address = e.As<loop::AddressNode>())
        names.buffers.insert(address->buffer.get());
    });
  };
  loop::VisitExprs(body, add);
  loop::VisitStmts(body, [&](const loop::Stmt& stmt) {
    if (const auto* store = stmt.As<loop::StoreNode>()) names.buffers.insert(store->buffer.get());
    if (const auto* allocate = stmt.As<loop::AllocateNode>()) {
      for (const loop::Expr& extent : allocate->buffer->shape) add(extent);
    }
  });
  return names;
}

}  // namespace

Closure::Closure(llvm::IRBuilder<>& builder, const StackFrame& frame, ExprCodegen& exprs,
                 const loop::Stmt& body, const std::vector<Value*>& more)
    : outer_vars_(exprs.vars()), outer_buffers_(exprs.buffers()) {
  const Names used = NamesIn(body);
  std::vector<Value*> captured;
  for (const auto& [var, value] : outer_vars_) {
    if (!used.vars.contains(var.get())) continue;
    vars_.push_back(var);
    captured.push_back(value);
  }
  for (const auto& [buffer, address] : outer_buffers_) {
    if (!used.buffers.contains(buffer.get())) continue;
    buffers_.push_back(buffer);
    captured.push_back(address);
  }
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
  exprs.vars() = {};
  exprs.buffers() = {};
  for (const loop::Expr& var : vars_) {
    Value* loaded = restore();
    loaded->setName(loop::Var(var).name());
    exprs.Define(var, loaded);
  }
  for (const loop::Buffer& buffer : buffers_) {
    Value* loaded = restore();
    loaded->setName(buffer->name);
    exprs.Define(buffer, loaded);
  }
  std::vector<Value*> more;
  while (i < type_->getNumElements()) more.push_back(restore());
  return more;
}

void Closure::Close(ExprCodegen& exprs) const {
  exprs.vars() = outer_vars_;
  exprs.buffers() = outer_buffers_;
}

}  // namespace tenon::jit
