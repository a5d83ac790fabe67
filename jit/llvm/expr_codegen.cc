#include "tenon/jit/llvm/expr_codegen.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "llvm/IR/Intrinsics.h"
#include "tenon/jit/llvm/bfloat16.h"
#include "tenon/loop/visit.h"
#include "tenon/support/error.h"

namespace tenon::jit {
namespace {

using llvm::Value;
using loop::Expr;
using loop::ExprKind;

llvm::Type* WithLanes(llvm::Type* element, int lanes) {
  return lanes > 1 ? llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes)) : element;
}

}  // namespace

ExprCodegen::ExprCodegen(llvm::Module& module, llvm::IRBuilder<>& builder,
                         const CodegenOptions& options)
    : module_(module), builder_(builder), options_(options) {
  alias_domain_ = llvm::MDBuilder(module_.getContext()).createAnonymousAliasScopeDomain("buffers");
}

llvm::Type* ExprCodegen::RegisterType(DataType type) const {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Type* element = nullptr;
  if (type.is_void()) return llvm::Type::getVoidTy(context);
  switch (type.code()) {
    case TypeCode::kBool:
      element = llvm::Type::getInt1Ty(context);
      break;
    case TypeCode::kInt:
    case TypeCode::kUInt:
      element = llvm::Type::getIntNTy(context, static_cast<unsigned>(type.bits()));
      break;
    case TypeCode::kBFloat:
      element = llvm::Type::getInt16Ty(context);  // its bits, see bfloat16.cc
      break;
    case TypeCode::kFloat:
      element = type.bits() == 64   ? llvm::Type::getDoubleTy(context)
                : type.bits() == 32 ? llvm::Type::getFloatTy(context)
                                    : llvm::Type::getHalfTy(context);
      break;
    case TypeCode::kHandle:
      element = llvm::PointerType::getUnqual(context);
      break;
  }
  return WithLanes(element, type.lanes());
}

llvm::Type* ExprCodegen::MemoryType(DataType type) const {
  if (!type.is_bool()) return RegisterType(type);
  return WithLanes(llvm::Type::getInt8Ty(module_.getContext()), type.lanes());
}

Value* ExprCodegen::ToRegister(Value* loaded, DataType type) {
  if (!type.is_bool()) return loaded;
  return builder_.CreateICmpNE(loaded, llvm::Constant::getNullValue(loaded->getType()));
}

Value* ExprCodegen::ToMemory(Value* value, DataType type) {
  return type.is_bool() ? builder_.CreateZExt(value, MemoryType(type)) : value;
}

Value* ExprCodegen::Widen(Value* half, DataType type) {
  if (type.element() == BFloat16) return FromBfloat16(builder_, half);
  return builder_.CreateFPExt(half, RegisterType(Float32.WithLanes(type.lanes())));
}

Value* ExprCodegen::Narrow(Value* value, DataType type) {
  if (type.element() == BFloat16) return ToBfloat16(builder_, value, options_.native_bfloat16);
  return builder_.CreateFPTrunc(value, RegisterType(type));
}

Value* ExprCodegen::Emit(const Expr& expr) {
  std::vector<Emitted> outer;
  outer.emplace_back();
  std::swap(outer, emitted_);
  Value* value = EmitShared(expr);
  std::swap(outer, emitted_);
  return value;
}

Value* ExprCodegen::EmitShared(const Expr& expr) {
  for (const Emitted& scope : emitted_) {
    if (const auto found = scope.find(expr); found != scope.end()) return found->second;
  }
  Value* value = EmitNew(expr);
  emitted_.back().emplace(expr, value);
  return value;
}

Value* ExprCodegen::EmitNew(const Expr& expr) {
  const DataType type = expr.dtype();
  switch (expr.kind()) {
    case ExprKind::kIntImm:
      return llvm::ConstantInt::get(RegisterType(type),
                                    static_cast<std::uint64_t>(expr.As<loop::IntImmNode>()->value),
                                    type.is_int());
    case ExprKind::kFloatImm:
      return EmitConstant(type, expr.As<loop::FloatImmNode>()->value);
    case ExprKind::kVar: {
      const auto found = vars_.find(expr);
      CheckInvariant(found != vars_.end(), "every variable of lowered loops is defined");
      return found->second;
    }
    case ExprKind::kCast:
      return EmitCast(*expr.As<loop::CastNode>());
    case ExprKind::kBinary:
      return EmitBinary(*expr.As<loop::BinaryNode>());
    case ExprKind::kNot:
      return builder_.CreateNot(EmitShared(expr.As<loop::NotNode>()->a));
    case ExprKind::kSelect: {
      const auto& node = *expr.As<loop::SelectNode>();
      if (node.lazy) return EmitLazySelect(node);
      Value* condition = EmitShared(node.condition);
      Value* on_true = EmitShared(node.on_true);
      if (llvm::isa<llvm::Constant>(condition) && IsZeroOutside(node)) return on_true;
      return builder_.CreateSelect(condition, on_true, EmitShared(node.on_false));
    }
    case ExprKind::kLoad:
      return EmitLoad(*expr.As<loop::LoadNode>());
    case ExprKind::kCall:
      return EmitCall(*expr.As<loop::CallNode>());
    case ExprKind::kExternCall:
      return EmitExternCall(*expr.As<loop::ExternCallNode>());
    case ExprKind::kAddress:
      return ElementAddress(expr.As<loop::AddressNode>()->buffer,
                            EmitShared(expr.As<loop::AddressNode>()->indices[0]));
    case ExprKind::kRamp: {
      const auto& node = *expr.As<loop::RampNode>();
      const auto lanes = static_cast<unsigned>(node.lanes);
      Value* base = EmitShared(node.base);
      std::vector<llvm::Constant*> steps;
      for (unsigned lane = 0; lane < lanes; ++lane) {
        steps.push_back(llvm::ConstantInt::get(base->getType(), lane));
      }
      Value* stride = builder_.CreateVectorSplat(lanes, EmitShared(node.stride));
      Value* offsets = builder_.CreateMul(llvm::ConstantVector::get(steps), stride);
      return builder_.CreateAdd(builder_.CreateVectorSplat(lanes, base), offsets);
    }
    case ExprKind::kShuffle: {
      const auto& node = *expr.As<loop::ShuffleNode>();
      return builder_.CreateShuffleVector(EmitShared(node.a), EmitShared(node.b), node.lanes);
    }
    case ExprKind::kBroadcast: {
      const auto& node = *expr.As<loop::BroadcastNode>();
      Value* value = EmitShared(node.value);
      const int part = node.value.dtype().lanes();
      if (part == 1) return Splat(value, node.lanes);
      if (const int bits = part * type.bits(); bits == 32 || bits == 64) {
        // As one number, so that it is a broadcast of the CPU's own.
        Value* number =
            builder_.CreateBitCast(value, builder_.getIntNTy(static_cast<unsigned>(bits)));
        return builder_.CreateBitCast(
            builder_.CreateVectorSplat(static_cast<unsigned>(node.lanes / part), number),
            RegisterType(type));
      }
      std::vector<int> picks;
      for (int lane = 0; lane < node.lanes; ++lane) picks.push_back(lane % part);
      return builder_.CreateShuffleVector(value, picks);
    }
    case ExprKind::kLet:
      return EmitLet(*expr.As<loop::LetNode>());
  }
  Unreachable("the switch over expression kinds is exhaustive");
}

Value* ExprCodegen::Splat(Value* value, int lanes) {
  return reused_.Get({.kind = ReusedValues::Kind::kSplat, .detail = lanes, .a = value}, [&] {
    return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), value);
  });
}

Value* ExprCodegen::EmitConstant(DataType type, double value) {
  if (type.element() != BFloat16) return llvm::ConstantFP::get(RegisterType(type), value);
  return ToBfloat16(builder_, llvm::ConstantFP::get(builder_.getDoubleTy(), value), false);
}

Value* ExprCodegen::EmitLet(const loop::LetNode& node) {
  Value* value = EmitShared(node.value);
  // Inside a let of the same variable, what was emitted with its other value does not count.
  std::vector<Emitted> hidden;
  const bool rebinds = vars_.contains(node.var);
  if (rebinds) std::swap(hidden, emitted_);
  const ScopedEntry scope(vars_, node.var, value);
  StandsFor(node.var, node.value);
  emitted_.emplace_back();  // another let may give the variable another value
  Value* result = EmitShared(node.body);
  emitted_.pop_back();
  if (rebinds) std::swap(hidden, emitted_);
  return result;
}

// Whether the select takes a load that reads 0 where the select gives 0. LLVM sees that for masks
// that it does not know, but leaves one more instruction if they are constant.
bool ExprCodegen::IsZeroOutside(const loop::SelectNode& node) {
  const auto* load = node.on_true.As<loop::LoadNode>();
  if (load == nullptr || !load->predicate.defined() ||
      !loop::StructuralEqual(load->predicate, node.condition))
    return false;
  const auto* zero = llvm::dyn_cast<llvm::Constant>(EmitShared(node.on_false));
  return zero != nullptr && zero->isNullValue();
}

Value* ExprCodegen::EmitLazySelect(const loop::SelectNode& node) {
  llvm::LLVMContext& context = module_.getContext();
  llvm::Function* function = builder_.GetInsertBlock()->getParent();
  Value* condition = EmitShared(node.condition);
  auto* then_block = llvm::BasicBlock::Create(context, "then", function);
  auto* else_block = llvm::BasicBlock::Create(context, "else", function);
  auto* join = llvm::BasicBlock::Create(context, "join", function);
  builder_.CreateCondBr(condition, then_block, else_block);
  const auto emit_branch = [&](llvm::BasicBlock* block, const Expr& value) {
    builder_.SetInsertPoint(block);
    emitted_.emplace_back();  // what a branch computes is only there inside it
    const ReusedValues::Scope inside(reused_);
    Value* result = EmitShared(value);
    emitted_.pop_back();
    builder_.CreateBr(join);
    return std::pair(result, builder_.GetInsertBlock());
  };
  const auto [on_true, true_end] = emit_branch(then_block, node.on_true);
  const auto [on_false, false_end] = emit_branch(else_block, node.on_false);
  builder_.SetInsertPoint(join);
  llvm::PHINode* result = builder_.CreatePHI(on_true->getType(), 2);
  result->addIncoming(on_true, true_end);
  result->addIncoming(on_false, false_end);
  return result;
}

}  // namespace tenon::jit
