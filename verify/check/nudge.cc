#include "tenon/verify/check/nudge.h"

#include <set>
#include <string>

#include "tenon/ops/op.h"
#include "tenon/ops/pass_rules.h"

namespace tenon::verify {

bool HasOpenSigns(const ir::Expr& e) {
  static const std::set<std::string>& closed = *new std::set<std::string>{
      "abs",           "asin",        "asinh",
      "atan",          "atanh",       "broadcast_to",
      "cast",          "concatenate", "copy",
      "divide",        "expand_dims", "full",
      "gather",        "gather_nd",   "layout_transform",
      "multiply",      "negative",    "nn.batch_flatten",
      "ones",          "reinterpret", "repeat",
      "reshape",       "reverse",     "sign",
      "sin",           "sinh",        "split",
      "sqrt",          "squeeze",     "stack",
      "strided_slice", "take",        "take_first",
      "tan",           "tanh",        "tile",
      "transpose",     "where",       "zeros",
  };
  const auto* call = e.As<ir::CallNode>();
  return call != nullptr && call->op() != nullptr && !closed.contains(call->op()->name);
}

NDArray Nudge::operator()(const NDArray& array) const {
  constexpr double kLarge = 0x1p22;
  return keeps_large_ && LeastMagnitude(array) >= kLarge ? array
                                                         : Nudged(array, relative_, random_);
}

NDArray Nudge::operator()(const NDArray& array, const ir::Expr& of) const {
  const NDArray nudged = (*this)(array);
  const auto* call = of.As<ir::CallNode>();
  if (call == nullptr) return nudged;
  // A sum of halves is rounded from float32, where it may lie near the middle of two of them.
  if (array.dtype().is_half() && call->op() != nullptr &&
      ops::OpOf(*call)->Column<ops::HalfSums>() != nullptr)
    return Nudged(array, 2 * RoundingError(array.dtype()), random_);
  const NDArray flushed = WithoutTinyValues(nudged, random_);
  return HasOpenSigns(of) ? WithOtherSigns(flushed, random_) : flushed;
}

}  // namespace tenon::verify
