// The positions of the values that max pooling picks.
#ifndef TENON_ONNX_CONVERT_POOL_PLACES_H_
#define TENON_ONNX_CONVERT_POOL_PLACES_H_

#include <optional>
#include <vector>

#include "tenon/onnx/convert/node.h"
#include "tenon/onnx/convert/window.h"

namespace tenon::onnx_import {

// A pooling of any operator: what is pooled, and the window over it.
struct Pooling {
  Expr data;
  Window window;
  bool ceil;  // whether the last window may reach past the end
  // How many windows of each spatial axis are kept; nothing where all are.
  std::vector<std::optional<Dim>> kept = {};
};

// The least value of a type: what padding is to a maximum.
double LeastOf(DataType type);

// The position in the tensor of each window's maximum; with `columns_first` the first spatial axis
// is the innermost. `maximum` is what the pooling gives. Throws InvalidArgument for tables of too
// many entries.
Expr PlacesOfMaxima(const Node& node, const Pooling& p, const Expr& maximum, bool columns_first);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_POOL_PLACES_H_
