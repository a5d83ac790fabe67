// Calls of intrinsics, of vector math and of external functions.
#include <algorithm>
#include <numeric>
#include <string>

#include "llvm/IR/Intrinsics.h"
#include "tenon/jit/llvm/expr_codegen.h"
#include "tenon/jit/llvm/extern_symbols.h"
#include "tenon/jit/llvm/inline_math.h"
#include "tenon/jit/llvm/opaque_value.h"
#include "tenon/jit/llvm/vector_math.h"
#include "tenon/jit/llvm/vector_pieces.h"
#include "tenon/support/arithmetic.h"
#include "tenon/support/error.h"

namespace tenon::jit {
namespace {

using llvm::Value;
using loop::Expr;
using loop::Intrinsic;

// The elementwise LLVM intrinsic of the same meaning, or not_intrinsic.
llvm::Intrinsic::ID LlvmIntrinsic(Intrinsic intrinsic) {
  switch (intrinsic) {
    case Intrinsic::kSqrt:
      return llvm::Intrinsic::sqrt;
    case Intrinsic::kFloor:
      return llvm::Intrinsic::floor;
    case Intrinsic::kCeil:
      return llvm::Intrinsic::ceil;
    case Intrinsic::kTrunc:
      return llvm::Intrinsic::trunc;
    case Intrinsic::kRound:
      return llvm::Intrinsic::round;
    case Intrinsic::kNearbyint:
      return llvm::Intrinsic::nearbyint;
    default:
      return llvm::Intrinsic::not_intrinsic;
  }
}

}  // namespace

Value* ExprCodegen::EmitCall(const loop::CallNode& node) {
  if (node.intrinsic == Intrinsic::kDotU8S8 || node.intrinsic == Intrinsic::kDotBF16)
    return EmitDot(node);
  DataType type = node.args[0].dtype();
  if (IsPrefetch(node.intrinsic)) return EmitPrefetch(node);
  std::vector<Value*> args;
  for (const Expr& arg : node.args) args.push_back(EmitShared(arg));
  if (node.intrinsic == Intrinsic::kReinterpret)
    return builder_.CreateBitCast(args[0], RegisterType(node.type));
  const bool half = type.is_half();
  const DataType narrow = type;
  if (half) {
    for (Value*& arg : args) arg = Widen(arg, narrow);
    type = Float32.WithLanes(type.lanes());
  }
  const auto constant = [&](double value) {
    return llvm::ConstantFP::get(RegisterType(type), value);
  };
  const auto finish = [&](Value* result) {
    return half && result->getType()->isFPOrFPVectorTy() ? Narrow(result, narrow) : result;
  };
  Value* x = args[0];
  if (const auto id = LlvmIntrinsic(node.intrinsic); id != llvm::Intrinsic::not_intrinsic) {
    return finish(type.is_float() ? builder_.CreateUnaryIntrinsic(id, x) : x);
  }
  switch (node.intrinsic) {
    case Intrinsic::kRsqrt:
      return finish(builder_.CreateFDiv(constant(1),
                                        builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x)));
    case Intrinsic::kSigmoid: {
      if (type.element() == Float32)
        return finish(EmitSigmoid(builder_, x, options_.math_by_table));
      Value* decay = EmitExponential(type, builder_.CreateFNeg(x));
      return finish(builder_.CreateFDiv(constant(1), builder_.CreateFAdd(constant(1), decay)));
    }
    case Intrinsic::kExp:
      return finish(EmitExponential(type, x));
    case Intrinsic::kAbs:
      if (type.is_float()) return finish(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x));
      if (!type.is_int()) return x;
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::abs, x, builder_.getFalse());
    case Intrinsic::kSign: {
      Value* zero = llvm::Constant::getNullValue(x->getType());
      if (!type.is_float()) {
        Value* positive = builder_.CreateZExt(
            type.is_int() ? builder_.CreateICmpSGT(x, zero) : builder_.CreateICmpNE(x, zero),
            x->getType());
        if (!type.is_int()) return positive;
        return builder_.CreateSub(
            positive, builder_.CreateZExt(builder_.CreateICmpSLT(x, zero), x->getType()));
      }
      // x itself if it is neither above nor below zero, which keeps NaN.
      Value* rest = builder_.CreateSelect(builder_.CreateFCmpOLT(x, zero), constant(-1), x);
      return finish(builder_.CreateSelect(builder_.CreateFCmpOGT(x, zero), constant(1), rest));
    }
    case Intrinsic::kIsNan:
      return builder_.CreateFCmpUNO(x, x);
    case Intrinsic::kIsInf:
      return builder_.CreateFCmpOEQ(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                                    constant(HUGE_VAL));
    case Intrinsic::kIsFinite:
      return builder_.CreateFCmpOLT(builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x),
                                    constant(HUGE_VAL));
    case Intrinsic::kFmod:
      return finish(builder_.CreateFRem(x, args[1]));
    case Intrinsic::kFma:
      return finish(builder_.CreateIntrinsic(llvm::Intrinsic::fma, {x->getType()}, args));
    case Intrinsic::kPopcount:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, x);
    case Intrinsic::kOpaque:
      return EmitOpaque(builder_, x, 'r');
    default: {
      if (Value* result = EmitByTable(node.intrinsic, type, x)) return finish(result);
      const std::optional<std::string_view> name = LibmName(node.intrinsic);
      CheckInvariant(name.has_value(), "every intrinsic has code");
      return finish(EmitLibraryCall(*name, type, args));
    }
  }
}

Value* ExprCodegen::EmitExponential(DataType type, Value* x) {
  if (type.element() == Float32) return EmitExp(builder_, x, options_.math_by_table);
  return EmitLibraryCall("exp", type, {x});
}

Value* ExprCodegen::EmitByTable(Intrinsic intrinsic, DataType type, Value* x) {
  if (!options_.math_by_table || type.element() != Float32) return nullptr;
  if (intrinsic == Intrinsic::kErf) return EmitErf(builder_, x);
  if (intrinsic == Intrinsic::kTanh) return EmitTanh(builder_, x);
  if (intrinsic == Intrinsic::kLog) return EmitLog(builder_, x);
  return nullptr;
}

// The address may lie outside the buffer, which a prefetch allows and an inbounds address does not.
Value* ExprCodegen::EmitPrefetch(const loop::CallNode& node) {
  const auto& load = *node.args[0].As<loop::LoadNode>();
  Value* address = builder_.CreateGEP(MemoryType(load.buffer->dtype), buffers_.at(load.buffer),
                                      EmitShared(load.indices[0]));
  constexpr std::uint32_t kAllLevels = 3, kAllButFirst = 2, kData = 1;
  const bool to_write = node.intrinsic == Intrinsic::kPrefetchWrite;
  const bool later = node.intrinsic == Intrinsic::kPrefetchLater;
  llvm::CallInst* const call = builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {address->getType()},
      {address, builder_.getInt32(to_write ? 1 : 0),
       builder_.getInt32(later ? kAllButFirst : kAllLevels), builder_.getInt32(kData)});
  // It changes no memory, so that sums beside it may stay in registers.
  call->setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
  return builder_.getTrue();
}

namespace {

// How many lanes one call of libmvec takes of so many: a whole register of the target, or 1 for a
// call of libm.
int LanesOfCall(int lanes, int bits, int vector_bits) {
  int chunk = lanes;
  while (chunk > 1 && chunk * bits > vector_bits) chunk /= 2;
  const bool is_whole = chunk * bits >= 128 && vector_bits / bits % chunk == 0;
  return is_whole && lanes % chunk == 0 ? chunk : 1;
}

// A number or a vector in so many lanes, of which further ones hold what the last one holds.
Value* WithRepeatedLast(llvm::IRBuilder<>& builder, Value* x, unsigned lanes) {
  if (!x->getType()->isVectorTy()) return builder.CreateVectorSplat(lanes, x);
  const unsigned had = LanesOf(x);
  llvm::SmallVector<int> picks(lanes, static_cast<int>(had) - 1);
  std::iota(picks.begin(), picks.begin() + std::min(had, lanes), 0);
  return builder.CreateShuffleVector(x, picks);
}

}  // namespace

// libmvec is called for whole registers. Wider vectors are cut, other widths go through libm lane
// by lane. In reproducible code all lanes of all loops go through the functions for 32 bytes.
Value* ExprCodegen::EmitLibraryCall(std::string_view name, DataType type,
                                    const std::vector<Value*>& args) {
  const int lanes = type.lanes();
  const int chunk = options_.reproducible ? 256 / type.bits()
                                          : LanesOfCall(lanes, type.bits(), options_.vector_bits);
  const int padded = RoundUp(lanes, chunk);
  const std::string symbol =
      chunk == 1 ? std::string(name) + (type.bits() == 32 ? "f" : "")
                 : LibmvecName(name, type.element(), chunk, static_cast<int>(args.size()));
  llvm::Type* operand = RegisterType(type.WithLanes(chunk));
  auto* signature =
      llvm::FunctionType::get(operand, std::vector<llvm::Type*>(args.size(), operand), false);
  const auto call = [&](const std::vector<Value*>& operands) {
    llvm::FunctionCallee callee = module_.getOrInsertFunction(symbol, signature);
    auto* declared = llvm::cast<llvm::Function>(callee.getCallee());
    declared->setDoesNotAccessMemory();
    declared->setDoesNotThrow();
    declared->setWillReturn();
    return builder_.CreateCall(callee, operands);
  };
  std::vector<Value*> whole = args;
  if (padded != lanes) {
    for (Value*& arg : whole) arg = WithRepeatedLast(builder_, arg, static_cast<unsigned>(padded));
  }
  const auto part = static_cast<unsigned>(chunk);
  Value* const results =
      ByPieces(builder_, static_cast<unsigned>(padded), part, [&](unsigned first) -> Value* {
        if (chunk == padded) return call(whole);
        std::vector<Value*> pieces;
        for (Value* arg : whole) pieces.push_back(Piece(builder_, arg, first, part));
        return call(pieces);
      });
  if (padded == lanes) return results;
  return lanes == 1 ? builder_.CreateExtractElement(results, std::uint64_t{0})
                    : Resized(builder_, results, static_cast<unsigned>(lanes));
}

namespace {

// The C calling convention passes integers of fewer than 32 bits widened, by their own sign.
void ExtendSmallIntegers(DataType type, llvm::CallInst* call, unsigned place) {
  if (type.is_float() || type.is_void() || type.bits() >= 32) return;
  const auto kind = type.is_int() ? llvm::Attribute::SExt : llvm::Attribute::ZExt;
  call->addAttributeAtIndex(place, llvm::Attribute::get(call->getContext(), kind));
}

}  // namespace

Value* ExprCodegen::EmitExternCall(const loop::ExternCallNode& node) {
  const loop::ExternFunctionNode& callee = *node.callee.operator->();
  std::vector<Value*> args;
  std::vector<llvm::Type*> types;
  bool has_pointers = false;
  for (const Expr& arg : node.args) {
    args.push_back(EmitShared(arg));
    types.push_back(RegisterType(arg.dtype().element()));
    has_pointers = has_pointers || arg.dtype() == loop::Handle;
  }
  auto* signature = llvm::FunctionType::get(RegisterType(callee.result), types, false);
  llvm::FunctionCallee function = module_.getOrInsertFunction(LinkSymbol(node.callee), signature);
  const auto call = [&](const std::vector<Value*>& operands) {
    llvm::CallInst* made = builder_.CreateCall(function, operands);
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      ExtendSmallIntegers(node.args[i].dtype(), made,
                          llvm::AttributeList::FirstArgIndex + static_cast<unsigned>(i));
    }
    ExtendSmallIntegers(callee.result, made, llvm::AttributeList::ReturnIndex);
    made->setDoesNotThrow();
    if (callee.effect == loop::Effect::kPure && !has_pointers) {
      made->setDoesNotAccessMemory();
      made->addFnAttr(llvm::Attribute::WillReturn);
    }
    return made;
  };
  reused_.ChangeMemory();
  const int lanes = node.args.empty() ? 1 : node.args[0].dtype().lanes();
  if (lanes == 1) return call(args);
  Value* result = llvm::PoisonValue::get(RegisterType(node.type));
  for (int lane = 0; lane < lanes; ++lane) {
    std::vector<Value*> operands;
    for (Value* arg : args)
      operands.push_back(builder_.CreateExtractElement(arg, static_cast<std::uint64_t>(lane)));
    result = builder_.CreateInsertElement(result, call(operands), static_cast<std::uint64_t>(lane));
  }
  return result;
}

}  // namespace tenon::jit
