// What jit/llvm/inline_math.h is written with. Only files inside jit/ include this header.
//
//   const Arithmetic math(builder, x->getType());
//   Value* y = math.Fma(x, 2.0, math.Real(1));
#ifndef TENON_JIT_LLVM_INLINE_ARITHMETIC_H_
#define TENON_JIT_LLVM_INLINE_ARITHMETIC_H_

#include <array>
#include <functional>

#include "llvm/IR/IRBuilder.h"

namespace tenon::jit {

// Adding and taking off 1.5 * 2^23 rounds a float to an integer, which then stands in its low bits.
inline constexpr double kRoundingShift = 12582912.0;
// What instructions of AVX-512 that take a rounding mode take to keep the current one.
inline constexpr int kCurrentRounding = 4;
// Floats of a register of AVX-512, and what one instruction looks up among.
inline constexpr unsigned kTableSize = 16;
using Table = std::array<float, kTableSize>;

// Arithmetic on values of one type, as it is written. As long as the object lives, the builder does
// not let sums be added up in another order.
class Arithmetic {
 public:
  Arithmetic(llvm::IRBuilder<>& builder, llvm::Type* type);

  llvm::Value* Real(double value) const { return llvm::ConstantFP::get(type_, value); }
  llvm::Value* Fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) const;
  llvm::Value* Fma(llvm::Value* a, double b, llvm::Value* c) const { return Fma(a, Real(b), c); }
  // The lesser one, and NaN if x is NaN, in one instruction.
  llvm::Value* AtMost(llvm::Value* x, double limit) const;
  llvm::Value* AtLeast(llvm::Value* x, double limit) const;
  // The entries whose numbers stand in the lowest bits of 16 lanes of 32 bits (AVX-512).
  llvm::Value* LookUp(const Table& table, llvm::Value* numbers) const;

 private:
  llvm::IRBuilder<>& builder_;
  llvm::Type* type_;
  llvm::IRBuilderBase::FastMathFlagGuard guard_;
};

// What `compute` makes of 16 floats at a time, for one float or a vector of any length. Fewer
// floats take some of the lanes, so that all lengths give the same bits.
llvm::Value* ByRegisters(llvm::IRBuilder<>& builder, llvm::Value* x,
                         const std::function<llvm::Value*(llvm::Value*)>& compute);

}  // namespace tenon::jit

#endif  // TENON_JIT_LLVM_INLINE_ARITHMETIC_H_
