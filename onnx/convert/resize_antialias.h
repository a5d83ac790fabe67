// Resizing to fewer elements with a filter that is as wide as the step between them, so that every
// element of the data counts (attribute antialias of Resize, opset 18).
#ifndef TENON_ONNX_CONVERT_RESIZE_ANTIALIAS_H_
#define TENON_ONNX_CONVERT_RESIZE_ANTIALIAS_H_

#include <string>

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

struct AntialiasedResize {
  Ints size;                  // of the result, for every axis
  std::vector<double> scale;  // of coordinates
  std::string transformation = "half_pixel";
  bool cubic = false;  // else linear
  double alpha = -0.75;
  bool excludes_outside = false;  // taps outside the data have no weight, else that of the edge
};

// What was summed up in a float type, in the type of the data. Integers are rounded to the nearest,
// because rounded weights do not add up to exactly 1.
Expr AsElements(const Node& node, const Expr& sums, DataType type);

// Typed. Throws Unimplemented for tf_crop_and_resize.
Expr Antialiased(const Node& node, const Expr& x, const AntialiasedResize& resize);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_RESIZE_ANTIALIAS_H_
