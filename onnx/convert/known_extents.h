// The variables that extents of an import are expressions of, and values that have them.
//
//   extents.Add(x);                                 // (n, 3): n is the extent of x along axis 0
//   BroadcastTo(extents, zero, {n, 2 * n});         // zeros of that shape
#ifndef TENON_ONNX_CONVERT_KNOWN_EXTENTS_H_
#define TENON_ONNX_CONVERT_KNOWN_EXTENTS_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tenon/ir/expr.h"
#include "tenon/passes/name_run_time_extents.h"

namespace tenon::onnx_import {

class KnownExtents {
 public:
  // The variables that are extents of the value alone and were not known before. Of values that are
  // no tensors there are none.
  void Add(const ir::Expr& value);

  // A value that has the variable as an extent, and its axis.
  struct Place {
    ir::Expr value;
    std::size_t axis;
  };
  const Place* Find(const std::string& symbol) const;

  // Of extents that values decide.
  passes::RunTimeExtentNames& names() { return names_; }

 private:
  std::map<std::string, Place> places_;
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
