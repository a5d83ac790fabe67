// The window of a convolution or pooling: its spatial attributes with their defaults.
//
//   const Window w = ReadWindow(node, DimsOf(x), kernel);
#ifndef TENON_ONNX_CONVERT_WINDOW_H_
#define TENON_ONNX_CONVERT_WINDOW_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

struct Window {
  Ints kernel, strides, dilations;
  Ints before, after;     // of each spatial axis
  std::string automatic;  // auto_pad
  Ints pads() const;      // before, then after
};

// Reads a window over one to three spatial axes. Leaves the padding zero where auto_pad asks for
// the same extents: convolutions and transposed convolutions compute it differently. Throws
// InvalidArgument for lists of a wrong length and unknown values of auto_pad.
Window ReadAttributes(Node& node, const std::vector<Dim>& data, const Ints& kernel);
// Also computes the padding for which auto_pad asks.
Window ReadWindow(Node& node, const std::vector<Dim>& data, const Ints& kernel);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_WINDOW_H_
