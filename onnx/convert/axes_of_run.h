// Axes at an input that only a run knows, where their number is known at import.
//
//   AxesOfRun axes(node, node.input(1), rank);
//   node.Typed(ops::Where(axes.IsNamed(0), ...));
#ifndef TENON_ONNX_CONVERT_AXES_OF_RUN_H_
#define TENON_ONNX_CONVERT_AXES_OF_RUN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

// Whether an input of the model decides which axes an input names.
bool HasAxesOfRun(const Node& node, std::size_t input);

// Axes as an input gives them to a run: typed integers, negative ones counted from the end.
struct GivenAxes {
  Expr axes;                   // a vector of int64
  std::vector<Expr> is_meant;  // by axis: for each that is given, whether it is this one
  std::vector<Expr> times;     // by axis: how often it is given
  Expr is_wrong;               // whether one is not there, or is given twice
};
GivenAxes FindGivenAxes(const Node& node, const Expr& axes, std::int64_t rank);
// 0, an int64 without axes, in a run that is taken. A run with wrong axes is refused if anything
// reads this. `rule` is that of ExtentOf.
Expr ZeroUnlessWrong(const Node& node, const GivenAxes& given, const std::string& rule = "");

class AxesOfRun {
 public:
  // `axes` are typed integers, negative ones counted from the end of `rank` axes. A run is refused
  // that names one twice, or one that is not there, if anything reads what follows. `node` must
  // outlive this. Throws Unimplemented if their number is not known.
  AxesOfRun(const Node& node, const Expr& axes, std::int64_t rank);

  std::int64_t count() const { return count_; }
  // Whether a run names the axis: a bool without axes.
  const Expr& IsNamed(std::size_t axis) const { return is_named_[axis]; }
  // Of `values`, as many int64 as axes, that of this axis; `other` if the axis is not named.
  Expr ValueAt(std::size_t axis, const Expr& values, const Expr& other) const;
  // How many axes before this one are named.
  const Expr& NamedBefore(std::size_t axis) const { return named_before_[axis]; }

 private:
  const Node& node_;
  std::int64_t count_ = 0;
  GivenAxes given_;
  std::vector<Expr> is_named_, named_before_;
};

// Input 0 with further axes of one element. Input 1 says where they stand.
Expr UnsqueezedByValues(const Node& node);
// `x`, without the axes that `axes` name. A run is refused in which one has not one element.
Expr SqueezedByValues(const Node& node, const Expr& x, const Expr& axes);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_AXES_OF_RUN_H_
