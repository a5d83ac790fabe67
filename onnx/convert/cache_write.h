// Writing new elements into a cache of keys or values, at a place that each sequence of the batch
// has of its own.
//
//   Expr present = WrittenAt(node, past, update, begins, {.axis = 2});
#ifndef TENON_ONNX_CONVERT_CACHE_WRITE_H_
#define TENON_ONNX_CONVERT_CACHE_WRITE_H_

#include "tenon/onnx/convert/node.h"

namespace tenon::onnx_import {

struct CacheWrite {
  std::int64_t axis = 2;  // along which elements are written; not the batch, which is axis 0
  bool circular = false;  // whether places past the end go on at the begin
};

// `cache` with `update` in place of its elements begin, begin + 1, ... along the axis. `begins` has
// one integer for each sequence. Except along the axis, both have the same extents. Elements
// outside the cache are lost. Throws InvalidArgument when the shapes do not fit.
Expr WrittenAt(const Node& node, const Expr& cache, const Expr& update, const Expr& begins,
               const CacheWrite& how);

}  // namespace tenon::onnx_import

#endif  // TENON_ONNX_CONVERT_CACHE_WRITE_H_
