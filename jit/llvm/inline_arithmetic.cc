#include "tenon/jit/llvm/inline_arithmetic.h"

#include "llvm/IR/IntrinsicsX86.h"
#include "tenon/jit/llvm/vector_pieces.h"

namespace tenon::jit {

using llvm::Value;

Arithmetic::Arithmetic(llvm::IRBuilder<>& builder, llvm::Type* type)
    : builder_(builder), type_(type), guard_(builder) {
  llvm::FastMathFlags flags = builder.getFastMathFlags();
  flags.setAllowReassoc(false);
  builder.setFastMathFlags(flags);
}

Value* Arithmetic::Fma(Value* a, Value* b, Value* c) const {
  return builder_.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type_}, {a, b, c});
}

Value* Arithmetic::AtMost(Value* x, double limit) const {
  return builder_.CreateSelect(builder_.CreateFCmpOGT(x, Real(limit)), Real(limit), x);
}

Value* Arithmetic::AtLeast(Value* x, double limit) const {
  return builder_.CreateSelect(builder_.CreateFCmpOLT(x, Real(limit)), Real(limit), x);
}

Value* Arithmetic::LookUp(const Table& table, Value* numbers) const {
  Value* index = builder_.CreateBitCast(
      numbers, llvm::FixedVectorType::get(builder_.getInt32Ty(), kTableSize));
  return builder_.CreateIntrinsic(
      llvm::Intrinsic::x86_avx512_permvar_sf_512, {},
      {llvm::ConstantDataVector::get(builder_.getContext(), table), index});
}

Value* ByRegisters(llvm::IRBuilder<>& builder, Value* x,
                   const std::function<Value*(Value*)>& compute) {
  if (!x->getType()->isVectorTy()) {
    auto* lanes = llvm::FixedVectorType::get(x->getType(), kTableSize);
    x = builder.CreateInsertElement(llvm::PoisonValue::get(lanes), x, std::uint64_t{0});
    return builder.CreateExtractElement(compute(x), std::uint64_t{0});
  }
  const unsigned lanes = LanesOf(x);
  const unsigned whole = (lanes + kTableSize - 1) / kTableSize * kTableSize;
  x = Resized(builder, x, whole);
  Value* result = ByPieces(builder, whole, kTableSize, [&](unsigned first) {
    return compute(Piece(builder, x, first, kTableSize));
  });
  return Resized(builder, result, lanes);
}

}  // namespace tenon::jit
