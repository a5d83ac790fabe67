// The closed sets that expressions are made of: kinds of nodes, binary operations, intrinsics.
#ifndef TENON_LOOP_EXPR_KINDS_H_
#define TENON_LOOP_EXPR_KINDS_H_

namespace tenon::loop {

enum class ExprKind {
  kIntImm,
  kFloatImm,
  kVar,
  kCast,
  kBinary,
  kNot,
  kSelect,
  kLoad,
  kCall,
  kExternCall,
  kAddress,
  kRamp,
  kBroadcast,
  kShuffle,
  kLet,
};

enum class BinaryOp {
  kAdd,
  kSub,
  kMul,
  kDiv,  // integers truncate toward zero
  kMod,  // the remainder of kDiv
  kFloorDiv,
  kFloorMod,
  kMin,
  kMax,  // NaN wins
  kEQ,
  kNE,
  kLT,
  kLE,
  kGT,
  kGE,
  kAnd,
  kOr,  // of bools; both sides are evaluated
  kBitAnd,
  kBitOr,
  kBitXor,
  kShl,
  kShr,
};

enum class Intrinsic {
  kExp,
  kLog,
  kLog2,
  kLog10,
  kLog1p,
  kSqrt,
  kRsqrt,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kTanh,
  kAsinh,
  kAcosh,
  kAtanh,
  kErf,
  kSigmoid,
  kAbs,
  kFloor,
  kCeil,
  kRound,      // ties away from zero
  kNearbyint,  // ties to even
  kTrunc,
  kPow,
  kFmod,
  kAtan2,
  kPopcount,
  kIsNan,
  kIsInf,
  kIsFinite,
  kSign,
  kFma,
  kReinterpret,  // the bits under another type; Reinterpret() makes it
  // Dot products within lanes: lane l of the result is c[l] plus the sum over j of a[n * l + j] *
  // b[n * l + j], for an accumulator c of L lanes and operands of n * L lanes.
  // a may be given as L words of int32 that hold the elements, the first one lowest.
  kDotU8S8,  // n = 4, uint8 x int8, into int32, wrapping around
  kDotBF16,  // n = 2, bfloat16, into float32; j goes down, a rounding after each addition
  // Prefetches: instead of loading, they ask for the address of a load in the cache, to read it, to
  // write it, or to read it later. For the last the second level will do.
  kPrefetch,
  kPrefetchWrite,
  kPrefetchLater,
  // An optimisation barrier: the integer itself, about which code generators know nothing. Many
  // addresses at constant distances from it compile several times as fast as from a sum, which they
  // would take apart.
  kOpaque,
};

// Text of an operation for messages: "+", "min".
const char* ToString(BinaryOp op);
const char* ToString(Intrinsic intrinsic);
bool IsPrefetch(Intrinsic intrinsic);
bool IsComparison(BinaryOp op);

}  // namespace tenon::loop

#endif  // TENON_LOOP_EXPR_KINDS_H_
