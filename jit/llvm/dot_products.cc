// Dot products within lanes. If the CPU has an instruction for it (Intel SDM volume 2, VPDPBUSD and
// VDPBF16PS), it is one per register. On AVX2 it is two for 16-bit words (VPMADDWD). Elsewhere it
// is widening products and a sum of strided picks, with the same results.
#include <array>

#include "llvm/IR/IntrinsicsX86.h"
#include "tenon/jit/llvm/expr_codegen.h"
#include "tenon/jit/llvm/llvm_versions.h"
#include "tenon/jit/llvm/vector_pieces.h"

namespace tenon::jit {
namespace {

using llvm::Value;
using loop::Intrinsic;

llvm::Intrinsic::ID DotInstruction(bool bytes, int lanes) {
  switch (lanes) {
    case 4:
      return bytes ? llvm::Intrinsic::x86_avx512_vpdpbusd_128
                   : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_128;
    case 8:
      return bytes ? llvm::Intrinsic::x86_avx512_vpdpbusd_256
                   : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_256;
    default:
      return bytes ? llvm::Intrinsic::x86_avx512_vpdpbusd_512
                   : llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512;
  }
}

}  // namespace

Value* ExprCodegen::EmitDot(const loop::CallNode& node) {
  const bool bytes = node.intrinsic == Intrinsic::kDotU8S8;
  const int lanes = node.type.lanes();
  std::vector<Value*> args;
  for (const loop::Expr& arg : node.args) args.push_back(EmitShared(arg));
  const int group = bytes ? 4 : 2;
  const DataType factor = (bytes ? UInt8 : BFloat16).WithLanes(group * lanes);
  // Words hold their elements in the order of memory, as the code is for little-endian CPUs.
  if (node.args[1].dtype().element() == Int32)
    args[1] = builder_.CreateBitCast(args[1], RegisterType(factor));
  const bool has_instruction = bytes ? options_.byte_dots : options_.bfloat_dots;
  if (has_instruction && (lanes % 16 == 0 || (options_.narrow_dots && (lanes == 8 || lanes == 4))))
    return EmitDotInstructions(bytes, lanes, args);

  if (bytes && options_.word_dots && lanes % 8 == 0) return EmitDotsOfWords(lanes, args);

  llvm::Type* wide = RegisterType((bytes ? Int32 : Float32).WithLanes(group * lanes));
  Value* sum = args[0];
  Value* a = bytes ? builder_.CreateZExt(args[1], wide) : Widen(args[1], factor);
  Value* b = bytes ? builder_.CreateSExt(args[2], wide) : Widen(args[2], node.args[2].dtype());
  // A product of two bfloat16 is exact in float32, so it makes no difference whether it is rounded.
  Value* products = bytes ? builder_.CreateMul(a, b) : builder_.CreateFMul(a, b);
  for (int j = group; j-- > 0;) {
    std::vector<int> picks;
    for (int lane = 0; lane < lanes; ++lane) picks.push_back(group * lane + j);
    Value* part = lanes == 1
                      ? builder_.CreateExtractElement(products, static_cast<std::uint64_t>(j))
                      : builder_.CreateShuffleVector(products, picks);
    sum = bytes ? builder_.CreateAdd(sum, part) : builder_.CreateFAdd(sum, part);
  }
  return sum;
}

// Each 16-bit half of a lane holds two bytes. Those at even places of the lane are one pair of
// words, those at odd places another, and the sum of both pairs' products is exact in 32 bits.
Value* ExprCodegen::EmitDotsOfWords(int lanes, const std::vector<Value*>& args) {
  constexpr unsigned kLanes = 8, kBytes = 4 * kLanes;
  llvm::Function* instruction = DeclareIntrinsic(&module_, llvm::Intrinsic::x86_avx2_pmadd_wd);
  llvm::Type* words = llvm::FixedVectorType::get(builder_.getInt16Ty(), 2 * kLanes);
  return ByPieces(builder_, static_cast<unsigned>(lanes), kLanes, [&](unsigned first) -> Value* {
    const auto words_of = [&](Value* bytes) {
      return builder_.CreateBitCast(Piece(builder_, bytes, 4 * first, kBytes), words);
    };
    Value *a = words_of(args[1]), *b = words_of(args[2]);
    Value* even = builder_.CreateCall(
        instruction,
        {builder_.CreateAnd(a, 0xff), builder_.CreateAShr(builder_.CreateShl(b, 8), 8)});
    Value* odd =
        builder_.CreateCall(instruction, {builder_.CreateLShr(a, 8), builder_.CreateAShr(b, 8)});
    Value* sum = Piece(builder_, args[0], first, kLanes);
    return builder_.CreateAdd(builder_.CreateAdd(sum, even), odd);
  });
}

Value* ExprCodegen::EmitDotInstructions(bool bytes, int lanes, const std::vector<Value*>& args) {
  const int chunk = std::min(lanes, 16);
  const unsigned group = bytes ? 4 : 2;
  llvm::Function* instruction = DeclareIntrinsic(&module_, DotInstruction(bytes, chunk));
  const auto lane_count = static_cast<unsigned>(lanes), part = static_cast<unsigned>(chunk);
  return ByPieces(builder_, lane_count, part, [&](unsigned first) -> Value* {
    Value* sum = Piece(builder_, args[0], first, part);
    // LLVM names the bytes four at a time, and has a type of its own for bfloat16.
    llvm::Type* operand =
        bytes ? sum->getType() : llvm::FixedVectorType::get(builder_.getBFloatTy(), group * part);
    const auto factor = [&](Value* vector) {
      return builder_.CreateBitCast(Piece(builder_, vector, group * first, group * part), operand);
    };
    Value *a = factor(args[1]), *b = factor(args[2]);
    return builder_.CreateCall(instruction, {sum, a, b});
  });
}

}  // namespace tenon::jit
