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
  kRamp,
  kBroadcast,
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
};

// Text of an operation for messages: "+", "min".
const char* ToString(BinaryOp op);
const char* ToString(Intrinsic intrinsic);
bool IsComparison(BinaryOp op);

}  // namespace tenon::loop

#endif  // TENON_LOOP_EXPR_KINDS_H_
