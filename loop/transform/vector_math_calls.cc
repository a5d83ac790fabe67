// Which functions a vector math library has.
#include "tenon/loop/transform/transforms.h"
#include "tenon/loop/visit.h"

namespace tenon::loop {
namespace {

bool CallsVectorMathItself(const Expr& e) {
  const auto* call = e.As<CallNode>();
  return call != nullptr && IsVectorMath(call->intrinsic);
}

}  // namespace

bool IsVectorMath(Intrinsic intrinsic) {
  switch (intrinsic) {
    case Intrinsic::kExp:
    case Intrinsic::kLog:
    case Intrinsic::kLog2:
    case Intrinsic::kLog10:
    case Intrinsic::kLog1p:
    case Intrinsic::kSin:
    case Intrinsic::kCos:
    case Intrinsic::kTan:
    case Intrinsic::kAsin:
    case Intrinsic::kAcos:
    case Intrinsic::kAtan:
    case Intrinsic::kSinh:
    case Intrinsic::kCosh:
    case Intrinsic::kTanh:
    case Intrinsic::kAsinh:
    case Intrinsic::kAcosh:
    case Intrinsic::kAtanh:
    case Intrinsic::kErf:
    case Intrinsic::kSigmoid:
    case Intrinsic::kPow:
    case Intrinsic::kAtan2:
      return true;
    default:
      return false;
  }
}

bool CallsVectorMath(const Expr& e) {
  bool calls = false;
  VisitExpr(e, [&](const Expr& x) { calls = calls || CallsVectorMathItself(x); });
  return calls;
}

bool CallsVectorMath(const Stmt& stmt) {
  bool calls = false;
  VisitExprs(stmt, [&](const Expr& x) { calls = calls || CallsVectorMathItself(x); });
  return calls;
}

}  // namespace tenon::loop
