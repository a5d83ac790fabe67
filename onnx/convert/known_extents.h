// The variables that extents of an import are expressions of, and values that have them.
//
//   extents.Add(x);                                 // (n, 3): n is the extent of x along axis 0
//   BroadcastTo(extents, zero, {n, 2 * n});         // zeros of that shape
#ifndef TENON_ONNX_CONVERT_KNOWN_EXTENTS_H_
#define TENON_ONNX_CONVERT_KNOWN_EXTENTS_H_

#include <cstddef>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/ops/extents/extent_places.h"
#include "tenon/passes/name_run_time_extents.h"

namespace tenon::onnx_import {

class KnownExtents : public ops::ExtentPlaces {
 public:
  // Of extents that values decide.
  passes::RunTimeExtentNames& names() { return names_; }

 private:
  passes::RunTimeExtentNames names_;
};

// `x` broadcast to a shape; both directions, as ONNX has it. Throws Unimplemented where no value is
// known that has a variable of it as an extent.
ir::Expr BroadcastTo(const KnownExtents& extents, const ir::Expr& x,
                     const std::vector<Dim>& target);
// The int64 numbers 0, 1, ... of that many.
ir::Expr Places(const KnownExtents& extents, const Dim& count);
// The first `count` elements of `x` along an axis, which needs to have so many.
ir::Expr FirstOf(const KnownExtents& extents, const ir::Expr& x, const Dim& count,
                 std::size_t axis);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_KNOWN_EXTENTS_H_
