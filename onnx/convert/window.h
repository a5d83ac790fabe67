// The window of a convolution or pooling: its spatial attributes with their defaults.
//
//   Expr x = node.input(0);
//   const Window w = ReadWindow(node, kernel, 0, &x);
#ifndef TENON_ONNX_CONVERT_WINDOW_H_
#define TENON_ONNX_CONVERT_WINDOW_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

struct Window {
  Ints kernel, strides, dilations;
  Ints before, after;     // of each spatial axis
  std::string automatic;  // auto_pad
  // The padding before each axis as a value, where it depends on an extent that is a variable; null
  // for all others. The data has it then.
  std::vector<Expr> in_data;
  Ints pads() const;  // before, then after
};

// Reads a window over one to three spatial axes. Leaves the padding zero where auto_pad asks for
// the same extents: convolutions and transposed convolutions compute it differently. Throws
// InvalidArgument for lists of a wrong length and unknown values of auto_pad.
Window ReadAttributes(Node& node, const std::vector<Dim>& data, const Ints& kernel);
// How much of the padding along an axis comes before the elements, as auto_pad has it.
std::int64_t BeforeOf(const Window& w, std::int64_t total);
// Also computes the padding for which auto_pad asks. Along an axis where a variable decides how
// much of it comes before the elements, `x` gets it, and `fill` is its value.
Window ReadWindow(Node& node, const Ints& kernel, double fill, Expr* x);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_WINDOW_H_
