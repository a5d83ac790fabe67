#include "tenon/jit/expr_codegen.h"

#include <bit>
#include <numeric>

#include "llvm/IR/Intrinsics.h"
#include "tenon/jit/bfloat16.h"
#include "tenon/support/error.h"

namespace tenon::jit {
namespace {

using llvm::Value;
using loop::BinaryOp;
using loop::Expr;
using loop::ExprKind;

llvm::Type* WithLanes(llvm::Type* element, int lanes) {
  return lanes > 1 ? llvm::FixedVectorType::get(element, static_cast<unsigned>(lanes)) : element;
}

bool IsFiniteConstant(Value* value) {
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(value)) {
    if (constant->getType()->isVectorTy()) constant = constant->getSplatValue();
    const auto* number = llvm::dyn_cast_or_null<llvm::ConstantFP>(constant);
    return number != nullptr && !number->isNaN();
  }
  return false;
}

bool IsSafeDivisor(Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant != nullptr && constant->getType()->isVectorTy())
    constant = constant->getSplatValue();
  const auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
  return number != nullptr && !number->isZero() && !number->isMinusOne();
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
      if (part == 1) return builder_.CreateVectorSplat(static_cast<unsigned>(node.lanes), value);
      if (const int bits = part * type.bits(); bits == 32 || bits == 64) {
        // As one number: a broadcast of the CPU's own.
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
  emitted_.emplace_back();  // another let may give the variable another value
  Value* result = EmitShared(node.body);
  emitted_.pop_back();
  if (rebinds) std::swap(hidden, emitted_);
  return result;
}

Value* ExprCodegen::EmitBinary(const loop::BinaryNode& node) {
  const DataType operand = node.a.dtype();
  Value* a = EmitShared(node.a);
  Value* b = EmitShared(node.b);
  if (node.op == BinaryOp::kAnd) return builder_.CreateAnd(a, b);
  if (node.op == BinaryOp::kOr) return builder_.CreateOr(a, b);
  // A sum of bools is true when one of them is, as in the interpreter and in C.
  if (node.op == BinaryOp::kAdd && operand.is_bool()) return builder_.CreateOr(a, b);
  if (!operand.is_float()) return EmitIntBinary(node, a, b);
  // Only the joining of terms: the terms keep the order of their own operations, since a product
  // that is taken apart may overflow on the way.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  if (&node == joining_) {
    llvm::FastMathFlags flags = builder_.getFastMathFlags();
    flags.setAllowReassoc();
    flags.setNoSignedZeros();
    builder_.setFastMathFlags(flags);
  }
  if (!IsHalf(operand)) return EmitFloatBinary(node.op, a, b);
  Value* result = EmitFloatBinary(node.op, Widen(a, operand), Widen(b, operand));
  return result->getType()->isFPOrFPVectorTy() ? Narrow(result, operand) : result;
}

Value* ExprCodegen::EmitFloatBinary(BinaryOp op, Value* a, Value* b) {
  switch (op) {
    case BinaryOp::kAdd:
      return builder_.CreateFAdd(a, b);
    case BinaryOp::kSub:
      return builder_.CreateFSub(a, b);
    case BinaryOp::kMul:
      return builder_.CreateFMul(a, b);
    case BinaryOp::kDiv:
      return builder_.CreateFDiv(a, b);
    case BinaryOp::kMod:
      return builder_.CreateFRem(a, b);
    case BinaryOp::kFloorDiv:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, builder_.CreateFDiv(a, b));
    case BinaryOp::kFloorMod: {
      // The remainder takes the divisor's sign: one more divisor where the signs differ.
      Value* remainder = builder_.CreateFRem(a, b);
      Value* zero = llvm::Constant::getNullValue(a->getType());
      Value* differs = builder_.CreateXor(builder_.CreateFCmpOLT(remainder, zero),
                                          builder_.CreateFCmpOLT(b, zero));
      Value* wrong = builder_.CreateAnd(builder_.CreateFCmpUNE(remainder, zero), differs);
      return builder_.CreateSelect(wrong, builder_.CreateFAdd(remainder, b), remainder);
    }
    case BinaryOp::kMin:
      return EmitMinMax(true, a, b);
    case BinaryOp::kMax:
      return EmitMinMax(false, a, b);
    case BinaryOp::kEQ:
      return builder_.CreateFCmpOEQ(a, b);
    case BinaryOp::kNE:
      return builder_.CreateFCmpUNE(a, b);
    case BinaryOp::kLT:
      return builder_.CreateFCmpOLT(a, b);
    case BinaryOp::kLE:
      return builder_.CreateFCmpOLE(a, b);
    case BinaryOp::kGT:
      return builder_.CreateFCmpOGT(a, b);
    case BinaryOp::kGE:
      return builder_.CreateFCmpOGE(a, b);
    default:
      Unreachable("bit operations have integer operands");
  }
}

// NaN wins, as in NumPy. An ordered comparison picks b when either operand is NaN, so that only a
// NaN in a needs a second look; a constant stands in a's place, where it needs none.
Value* ExprCodegen::EmitMinMax(bool is_min, Value* a, Value* b) {
  if (IsFiniteConstant(b)) std::swap(a, b);
  if (IsFiniteConstant(a)) {
    // One instruction: the operand that is compared second is kept when one is NaN.
    Value* a_wins = is_min ? builder_.CreateFCmpOLT(a, b) : builder_.CreateFCmpOGT(a, b);
    return builder_.CreateSelect(a_wins, a, b);
  }
  // LLVM vectorises reductions that are written with these intrinsics.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  llvm::FastMathFlags flags = builder_.getFastMathFlags();
  flags.setNoSignedZeros();
  builder_.setFastMathFlags(flags);
  return builder_.CreateBinaryIntrinsic(
      is_min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, a, b);
}

Value* ExprCodegen::EmitIntBinary(const loop::BinaryNode& node, Value* a, Value* b) {
  const BinaryOp op = node.op;
  const DataType type = node.a.dtype();
  const bool is_signed = type.is_int();
  // Addresses are computed in int64 and stay far from its ends, which lets LLVM widen and reorder
  // them. Sums of data wrap around.
  const bool no_wrap = type.element() == Int64 && !reads_data_(node.a) && !reads_data_(node.b);
  switch (op) {
    case BinaryOp::kAdd:
      return builder_.CreateAdd(a, b, "", false, no_wrap);
    case BinaryOp::kSub:
      return builder_.CreateSub(a, b, "", false, no_wrap);
    case BinaryOp::kMul:
      return builder_.CreateMul(a, b, "", false, no_wrap);
    case BinaryOp::kDiv:
    case BinaryOp::kMod:
    case BinaryOp::kFloorDiv:
    case BinaryOp::kFloorMod:
      return EmitIntDivision(op, is_signed, a, b);
    case BinaryOp::kMin:
      return builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smin : llvm::Intrinsic::umin, a, b);
    case BinaryOp::kMax:
      return builder_.CreateBinaryIntrinsic(
          is_signed ? llvm::Intrinsic::smax : llvm::Intrinsic::umax, a, b);
    case BinaryOp::kEQ:
      return builder_.CreateICmpEQ(a, b);
    case BinaryOp::kNE:
      return builder_.CreateICmpNE(a, b);
    case BinaryOp::kLT:
      return is_signed ? builder_.CreateICmpSLT(a, b) : builder_.CreateICmpULT(a, b);
    case BinaryOp::kLE:
      return is_signed ? builder_.CreateICmpSLE(a, b) : builder_.CreateICmpULE(a, b);
    case BinaryOp::kGT:
      return is_signed ? builder_.CreateICmpSGT(a, b) : builder_.CreateICmpUGT(a, b);
    case BinaryOp::kGE:
      return is_signed ? builder_.CreateICmpSGE(a, b) : builder_.CreateICmpUGE(a, b);
    case BinaryOp::kBitAnd:
    case BinaryOp::kAnd:
      return builder_.CreateAnd(a, b);
    case BinaryOp::kBitOr:
    case BinaryOp::kOr:
      return builder_.CreateOr(a, b);
    case BinaryOp::kBitXor:
      return builder_.CreateXor(a, b);
    case BinaryOp::kShl:
    case BinaryOp::kShr: {
      // A distance of the width or more has no meaning in LLVM; its low bits are taken, as the CPU
      // does.
      Value* distance = builder_.CreateAnd(
          b, llvm::ConstantInt::get(b->getType(), static_cast<std::uint64_t>(type.bits() - 1)));
      if (op == BinaryOp::kShl) return builder_.CreateShl(a, distance);
      return is_signed ? builder_.CreateAShr(a, distance) : builder_.CreateLShr(a, distance);
    }
  }
  Unreachable("the switch over binary operations is exhaustive");
}

// Division by 0 gives 0, and the lowest value divided by -1 gives itself, where the CPU would trap.
Value* ExprCodegen::EmitIntDivision(BinaryOp op, bool is_signed, Value* a, Value* b) {
  Value* zero = llvm::Constant::getNullValue(a->getType());
  Value* one = llvm::ConstantInt::get(a->getType(), 1);
  Value* minus_one = llvm::Constant::getAllOnesValue(a->getType());
  const bool safe = IsSafeDivisor(b);
  Value* divisor = b;
  Value* by_zero = nullptr;
  Value* by_minus_one = nullptr;
  if (!safe) {
    by_zero = builder_.CreateICmpEQ(b, zero);
    Value* bad = by_zero;
    if (is_signed) {
      by_minus_one = builder_.CreateICmpEQ(b, minus_one);
      bad = builder_.CreateOr(by_zero, by_minus_one);
    }
    divisor = builder_.CreateSelect(bad, one, b);
  }
  Value* quotient = is_signed ? builder_.CreateSDiv(a, divisor) : builder_.CreateUDiv(a, divisor);
  Value* remainder = builder_.CreateSub(a, builder_.CreateMul(quotient, divisor));
  if (is_signed && (op == BinaryOp::kFloorDiv || op == BinaryOp::kFloorMod)) {
    Value* differs = builder_.CreateICmpSLT(builder_.CreateXor(remainder, divisor), zero);
    Value* wrong = builder_.CreateAnd(builder_.CreateICmpNE(remainder, zero), differs);
    quotient = builder_.CreateSelect(wrong, builder_.CreateSub(quotient, one), quotient);
    remainder = builder_.CreateSelect(wrong, builder_.CreateAdd(remainder, divisor), remainder);
  }
  if (op == BinaryOp::kMod || op == BinaryOp::kFloorMod) {
    return safe ? remainder : builder_.CreateSelect(by_zero, zero, remainder);
  }
  if (safe) return quotient;
  if (by_minus_one != nullptr) {
    quotient = builder_.CreateSelect(by_minus_one, builder_.CreateNeg(a), quotient);
  }
  return builder_.CreateSelect(by_zero, zero, quotient);
}

Value* ExprCodegen::EmitCast(const loop::CastNode& node) {
  const bool from_half = IsHalf(node.value.dtype());
  const DataType from = from_half ? Float32.WithLanes(node.type.lanes()) : node.value.dtype();
  const DataType to = node.type;
  Value* value = EmitShared(node.value);
  if (from_half) value = Widen(value, node.value.dtype());
  llvm::Type* target = RegisterType(to);
  if (to.is_bool()) {
    Value* zero = llvm::Constant::getNullValue(value->getType());
    return from.is_float() ? builder_.CreateFCmpUNE(value, zero)
                           : builder_.CreateICmpNE(value, zero);
  }
  if (from.is_float() && to.is_float()) {
    if (to.bits() < from.bits()) return Narrow(value, to);
    return builder_.CreateFPCast(value, target);
  }
  if (from.is_float()) {
    // Saturates, and NaN becomes 0: plain conversion leaves both undefined.
    return builder_.CreateIntrinsic(
        to.is_int() ? llvm::Intrinsic::fptosi_sat : llvm::Intrinsic::fptoui_sat,
        {target, value->getType()}, {value});
  }
  if (to.is_float()) {
    if (to.element() == BFloat16) {  // float64 keeps all that 53 bits can
      target = RegisterType(Float64.WithLanes(to.lanes()));
      return Narrow(from.is_int() ? builder_.CreateSIToFP(value, target)
                                  : builder_.CreateUIToFP(value, target),
                    to);
    }
    return from.is_int() ? builder_.CreateSIToFP(value, target)
                         : builder_.CreateUIToFP(value, target);
  }
  return builder_.CreateIntCast(value, target, from.is_int());
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

Value* ExprCodegen::ElementAddress(const loop::Buffer& buffer, Value* index) {
  const auto found = buffers_.find(buffer);
  CheckInvariant(found != buffers_.end(),
                 "every buffer of lowered loops is a parameter or allocated");
  return builder_.CreateInBoundsGEP(MemoryType(buffer->dtype.element()), found->second, index);
}

// Distinct buffers never overlap; the alias scopes say so even where the addresses come out of a
// closure.
void ExprCodegen::Annotate(llvm::Instruction* access, const loop::Buffer& buffer) {
  llvm::LLVMContext& context = module_.getContext();
  for (const auto& [other, address] : buffers_) {
    llvm::MDNode*& scope = alias_scopes_[other];
    if (scope == nullptr) {
      scope = llvm::MDBuilder(context).createAnonymousAliasScope(alias_domain_, other->name);
    }
  }
  std::vector<llvm::Metadata*> others;
  for (const auto& [other, scope] : alias_scopes_) {
    if (other != buffer) others.push_back(scope);
  }
  access->setMetadata(llvm::LLVMContext::MD_alias_scope,
                      llvm::MDNode::get(context, {alias_scopes_.at(buffer)}));
  if (!others.empty()) {
    access->setMetadata(llvm::LLVMContext::MD_noalias, llvm::MDNode::get(context, others));
  }
}

// A mask of the vector that holds `lanes`, true for these.
Value* ExprCodegen::FirstLanes(int lanes) {
  const unsigned wide = std::bit_ceil(static_cast<unsigned>(lanes));
  llvm::SmallVector<llvm::Constant*> mask;
  for (unsigned i = 0; i < wide; ++i)
    mask.push_back(builder_.getInt1(i < static_cast<unsigned>(lanes)));
  return llvm::ConstantVector::get(mask);
}

Value* ExprCodegen::EmitLoad(const loop::LoadNode& node) {
  const DataType element = node.buffer->dtype.element();
  const llvm::Align align(element.bytes());
  const Expr& index = node.indices[0];
  const int lanes = index.dtype().lanes();
  if (lanes == 1) {
    auto* load = builder_.CreateAlignedLoad(MemoryType(element),
                                            ElementAddress(node.buffer, EmitShared(index)), align);
    Annotate(load, node.buffer);
    return ToRegister(load, element);
  }
  if (const auto* splat = index.As<loop::BroadcastNode>();
      splat != nullptr && !node.predicate.defined()) {
    auto* load = builder_.CreateAlignedLoad(
        MemoryType(element), ElementAddress(node.buffer, EmitShared(splat->value)), align);
    Annotate(load, node.buffer);
    return builder_.CreateVectorSplat(static_cast<unsigned>(lanes), ToRegister(load, element));
  }
  const DataType type = element.WithLanes(lanes);
  const auto* ramp = index.As<loop::RampNode>();
  if (node.predicate.defined()) return EmitMaskedLoad(node, type);
  if (ramp != nullptr && loop::IsConstInt(ramp->stride, 1)) {
    Value* address = ElementAddress(node.buffer, EmitShared(ramp->base));
    if (!std::has_single_bit(static_cast<unsigned>(lanes))) {
      const DataType wide =
          type.WithLanes(static_cast<int>(std::bit_ceil(static_cast<unsigned>(lanes))));
      llvm::CallInst* load =
          builder_.CreateMaskedLoad(MemoryType(wide), address, align, FirstLanes(lanes));
      Annotate(load, node.buffer);
      llvm::SmallVector<int> kept(static_cast<std::size_t>(lanes));
      std::iota(kept.begin(), kept.end(), 0);
      return ToRegister(builder_.CreateShuffleVector(load, kept), type);
    }
    auto* load = builder_.CreateAlignedLoad(MemoryType(type), address, align);
    Annotate(load, node.buffer);
    return ToRegister(load, type);
  }
  if (ramp != nullptr && loop::IsConstInt(ramp->stride, 2) && lanes > 1)
    return ToRegister(EmitEverySecond(node.buffer, EmitShared(ramp->base), type), type);
  auto* gather = builder_.CreateMaskedGather(MemoryType(type),
                                             ElementAddress(node.buffer, EmitShared(index)), align);
  Annotate(gather, node.buffer);
  return ToRegister(gather, type);
}

// Lanes without a true predicate read 0 and touch no memory. LLVM writes these as loads under a
// mask register where the CPU has them, otherwise as a branch for each lane.
Value* ExprCodegen::EmitMaskedLoad(const loop::LoadNode& node, DataType type) {
  const llvm::Align align(type.element().bytes());
  const Expr& index = node.indices[0];
  const auto* ramp = index.As<loop::RampNode>();
  Value* mask = EmitShared(node.predicate);
  Value* nothing = llvm::Constant::getNullValue(MemoryType(type));
  const bool contiguous = ramp != nullptr && loop::IsConstInt(ramp->stride, 1);
  Value* address = ElementAddress(node.buffer, EmitShared(contiguous ? ramp->base : index));
  llvm::CallInst* load =
      contiguous ? builder_.CreateMaskedLoad(MemoryType(type), address, align, mask, nothing)
                 : builder_.CreateMaskedGather(MemoryType(type), address, align, mask, nothing);
  Annotate(load, node.buffer);
  return ToRegister(load, type);
}

// Elements base, base + 2, ... from two plain loads, of which the second ends with the last element
// wanted, so that nothing beyond it is read. A gather costs a load for each lane.
Value* ExprCodegen::EmitEverySecond(const loop::Buffer& buffer, Value* base, DataType type) {
  const int lanes = type.lanes();
  const auto load = [&](int offset) {
    Value* index = builder_.CreateAdd(
        base, llvm::ConstantInt::get(base->getType(), static_cast<std::uint64_t>(offset)), "",
        false, true);
    auto* part = builder_.CreateAlignedLoad(MemoryType(type), ElementAddress(buffer, index),
                                            llvm::Align(type.element().bytes()));
    Annotate(part, buffer);
    return part;
  };
  std::vector<int> picks;
  for (int lane = 0; lane < lanes; ++lane) {
    const int element = 2 * lane;
    // In the second part, which starts at element lanes - 1.
    picks.push_back(element < lanes ? element : lanes + element - (lanes - 1));
  }
  Value* first = load(0);
  return builder_.CreateShuffleVector(first, load(lanes - 1), picks);
}

void ExprCodegen::EmitStore(const loop::StoreNode& node, bool reassociate) {
  const loop::Buffer& buffer = node.buffer;
  const Expr& index = node.indices[0];
  const DataType element = buffer->dtype.element();
  const llvm::Align align(element.bytes());
  joining_ = reassociate ? node.value.get() : nullptr;
  Value* stored = ToMemory(Emit(node.value), node.value.dtype());
  joining_ = nullptr;
  const auto* ramp = index.As<loop::RampNode>();
  const bool contiguous = ramp != nullptr && loop::IsConstInt(ramp->stride, 1);
  Value* address = ElementAddress(buffer, Emit(contiguous ? ramp->base : index));
  Value* mask = node.predicate.defined() ? Emit(node.predicate) : nullptr;
  llvm::Instruction* store = nullptr;
  if (index.dtype().lanes() > 1 && !contiguous) {
    store = builder_.CreateMaskedScatter(stored, address, align, mask);
  } else if (mask != nullptr) {
    store = builder_.CreateMaskedStore(stored, address, align, mask);
  } else if (const int lanes = index.dtype().lanes();
             !std::has_single_bit(static_cast<unsigned>(lanes))) {
    const unsigned wide = std::bit_ceil(static_cast<unsigned>(lanes));
    llvm::SmallVector<int> widened(wide, -1);
    std::iota(widened.begin(), widened.begin() + lanes, 0);
    store = builder_.CreateMaskedStore(builder_.CreateShuffleVector(stored, widened), address,
                                       align, FirstLanes(lanes));
  } else {
    store = builder_.CreateAlignedStore(stored, address, align);
  }
  Annotate(store, buffer);
}

}  // namespace tenon::jit
