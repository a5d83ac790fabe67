// Axes of a reduction that only a run knows. The rank stays; each extent of the result is that of
// the input or 1, and the run decides which.
//
//   RunTimeAxes axes(node, x, node.input(1), /*is_all_if_empty=*/true);
//   Expr sums = axes.Reduced(ops::Known().sum, x);   // (#ReduceSum, #ReduceSum_1)
#ifndef TENON_ONNX_CONVERT_RUN_TIME_AXES_H_
#define TENON_ONNX_CONVERT_RUN_TIME_AXES_H_

#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

class RunTimeAxes {
 public:
  // `axes` are typed integers, negative ones counted from the end; a run with others is refused.
  // Without any, all or no axes are meant. `node` must outlive this.
  RunTimeAxes(const Node& node, const Expr& x, const Expr& axes, bool is_all_if_empty);

  // `x`, or a value of its extents, reduced along the axes by an operator with ReduceAttrs that
  // gives one element as it is. Typed.
  Expr Reduced(const Expr& op, const Expr& x) const;
  // What was reduced, with the extents of `x` again: each result at all elements it was made of.
  Expr Spread(const Expr& reduced) const;
  // How many elements a result is made of: a scalar of int64.
  Expr Count() const;

 private:
  struct Axis {
    Dim from, to;  // extents of the input and of the result
    Expr extent;   // the first one as a scalar of int64
    Expr is_reduced;
  };

  const Node& node_;
  std::vector<Axis> axes_;
  // Where all extents are 1, the place of the one element, which a run with wrong axes does not
  // get; else null.
  Expr only_place_;
};

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_RUN_TIME_AXES_H_
