// Binary operations of ExprCodegen.
#include <utility>
#include <vector>

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/PatternMatch.h"
#include "tenon/jit/llvm/expr_codegen.h"
#include "tenon/support/error.h"

namespace tenon::jit {
namespace {

using llvm::Value;
using loop::BinaryOp;

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

Value* ExprCodegen::EmitBinary(const loop::BinaryNode& node) {
  const DataType operand = node.a.dtype();
  if (Value* mask = EmitLanesByCount(node)) return mask;
  if (Value* sum = EmitFusedSum(node)) return sum;
  Value* a = EmitShared(node.a);
  Value* b = EmitShared(node.b);
  if (node.op == BinaryOp::kAnd) return builder_.CreateAnd(a, b);
  if (node.op == BinaryOp::kOr) return builder_.CreateOr(a, b);
  // A sum of bools is true when one of them is, as in the interpreter and in C.
  if (node.op == BinaryOp::kAdd && operand.is_bool()) return builder_.CreateOr(a, b);
  if (!operand.is_float()) return EmitIntBinary(node, a, b);
  // Only terms may be joined in another order. Within a term, operations keep their order, since a
  // product that is taken apart may overflow on the way.
  const llvm::IRBuilderBase::FastMathFlagGuard guard(builder_);
  if (&node == joining_) {
    llvm::FastMathFlags flags = builder_.getFastMathFlags();
    flags.setAllowReassoc();
    builder_.setFastMathFlags(flags);
  }
  if (!operand.is_half()) return EmitFloatBinary(node.op, a, b);
  Value* result = EmitFloatBinary(node.op, Widen(a, operand), Widen(b, operand));
  return result->getType()->isFPOrFPVectorTy() ? Narrow(result, operand) : result;
}

// A sum with a product, of which LLVM would otherwise decide whether it is fused. Of two products
// the second one is. Null for other operations, and where LLVM decides.
Value* ExprCodegen::EmitFusedSum(const loop::BinaryNode& node) {
  const DataType type = node.a.dtype();
  if (!options_.reproducible || node.op != BinaryOp::kAdd || !type.is_float() || type.is_half())
    return nullptr;
  for (const bool is_second : {true, false}) {
    const loop::Expr& term = is_second ? node.b : node.a;
    const auto* same = term.As<loop::BroadcastNode>();
    const auto* product = (same == nullptr ? term : same->value).As<loop::BinaryNode>();
    if (product == nullptr || product->op != BinaryOp::kMul) continue;
    const auto factor = [&](const loop::Expr& e) {
      Value* value = EmitShared(e);
      return same == nullptr ? value : Splat(value, type.lanes());
    };
    Value* const a = factor(product->a);
    Value* const b = factor(product->b);
    return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {RegisterType(type)},
                                    {a, b, EmitShared(is_second ? node.a : node.b)});
  }
  return nullptr;
}

// Whether indices in steps are below an end, or are not, for lanes that fill one register. It
// compares the number of each lane with the count of indices below the end. Null for other
// comparisons.
Value* ExprCodegen::EmitLanesByCount(const loop::BinaryNode& node) {
  constexpr int kMaxWithoutCount = 8;
  constexpr std::int64_t kMaxStep = 16;
  const auto* indices = node.a.As<loop::RampNode>();
  const auto* end = node.b.As<loop::BroadcastNode>();
  if ((node.op != BinaryOp::kLT && node.op != BinaryOp::kGE) || node.a.dtype().element() != Int64 ||
      indices == nullptr || end == nullptr || indices->lanes <= kMaxWithoutCount ||
      indices->lanes > 64 || end->value.dtype().lanes() > 1 || !index_.Proves(node.a) ||
      !index_.Proves(end->value - indices->base))
    return nullptr;
  const auto* step = indices->stride.As<loop::IntImmNode>();
  if (step == nullptr || step->value < 1 || step->value > kMaxStep) return nullptr;
  Value* first = EmitShared(indices->base);
  Value* below = EmitShared(end->value);
  if (llvm::isa<llvm::Constant>(first) && llvm::isa<llvm::Constant>(below)) return nullptr;
  const auto lanes = static_cast<unsigned>(indices->lanes);
  const auto steps = static_cast<std::uint64_t>(step->value);
  Value* count = builder_.CreateNSWSub(below, first);
  count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, count, builder_.getInt64(0));
  count = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count,
                                         builder_.getInt64(lanes * steps));
  if (steps > 1) {
    count = builder_.CreateUDiv(builder_.CreateNUWAdd(count, builder_.getInt64(steps - 1)),
                                builder_.getInt64(steps));
  }
  llvm::IntegerType* const number = builder_.getIntNTy(lanes <= 16 ? 32 : lanes <= 32 ? 16 : 8);
  std::vector<llvm::Constant*> numbers;
  for (unsigned lane = 0; lane < lanes; ++lane)
    numbers.push_back(llvm::ConstantInt::get(number, lane));
  return builder_.CreateICmp(
      node.op == BinaryOp::kLT ? llvm::CmpInst::ICMP_ULT : llvm::CmpInst::ICMP_UGE,
      llvm::ConstantVector::get(numbers),
      builder_.CreateVectorSplat(lanes, builder_.CreateTrunc(count, number)));
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

// NaN wins, as in NumPy. An ordered comparison picks b if either operand is NaN, so only a NaN in a
// needs a second look. A constant is put in a's place, where it needs none.
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
  flags.setNoSignedZeros(!options_.reproducible);
  builder_.setFastMathFlags(flags);
  return builder_.CreateBinaryIntrinsic(
      is_min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, a, b);
}

Value* ExprCodegen::EmitIntBinary(const loop::BinaryNode& node, Value* a, Value* b) {
  const DataType type = node.a.dtype();
  // Addresses are computed in int64 and stay far from its ends, so LLVM may widen and reorder them.
  // Sums of data wrap around.
  const IntRules rules = {.is_signed = type.is_int(),
                          .no_wrap = type.element() == Int64 &&
                                     index_.Proves(loop::Expr(Ref<const loop::ExprNode>(&node))),
                          .is_index_division = IsIndexDivision(node)};
  const int detail = static_cast<int>(node.op) * 8 + (rules.is_signed ? 4 : 0) +
                     (rules.no_wrap ? 2 : 0) + (rules.is_index_division ? 1 : 0);
  return reused_.Get({.kind = ReusedValues::Kind::kIntOperation, .detail = detail, .a = a, .b = b},
                     [&] { return EmitIntOperation(node.op, rules, a, b); });
}

Value* ExprCodegen::EmitIntOperation(BinaryOp op, const IntRules& rules, Value* a, Value* b) {
  const bool is_signed = rules.is_signed, no_wrap = rules.no_wrap;
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
      return EmitIntDivision(op, is_signed && !rules.is_index_division, a, b);
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
          b, llvm::ConstantInt::get(b->getType(), a->getType()->getScalarSizeInBits() - 1));
      if (op == BinaryOp::kShl) return builder_.CreateShl(a, distance);
      return is_signed ? builder_.CreateAShr(a, distance) : builder_.CreateLShr(a, distance);
    }
  }
  Unreachable("the switch over binary operations is exhaustive");
}

// Whether it divides what is not negative by a positive constant, so that all ways to round are the
// same.
bool ExprCodegen::IsIndexDivision(const loop::BinaryNode& node) {
  const auto* divisor = node.b.As<loop::IntImmNode>();
  return divisor != nullptr && divisor->value > 0 && node.a.dtype() == Int64 &&
         index_.Proves(node.a) && loop::RangeOf(node.a, bounds_).low >= 0;
}

// Division by 0 gives 0, and the lowest value divided by -1 gives itself, where the CPU would trap.
Value* ExprCodegen::EmitIntDivision(BinaryOp op, bool is_signed, Value* a, Value* b) {
  const llvm::APInt* power = nullptr;
  if (is_signed && llvm::PatternMatch::match(b, llvm::PatternMatch::m_Power2(power)) &&
      power->isStrictlyPositive()) {
    // Shifts round down, too, and LLVM does not find them in the general form.
    if (op == BinaryOp::kFloorDiv) return builder_.CreateAShr(a, power->logBase2());
    if (op == BinaryOp::kFloorMod)
      return builder_.CreateAnd(a, llvm::ConstantInt::get(a->getType(), *power - 1));
  }
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

}  // namespace tenon::jit
