// Attributes of operators on sparse tensors.
#ifndef TENON_OPS_INDEX_SPARSE_ATTRS_H_
#define TENON_OPS_INDEX_SPARSE_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"
#include "tenon/ops/ints.h"

namespace tenon::ops {

struct SparseToDenseAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SparseToDenseAttrs";
  Ints output_shape;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("output_shape", &SparseToDenseAttrs::output_shape,
                                      "extents of the dense tensor")
                             .Required()
                             .AtLeast(0));
  }
};

struct SparseDenseAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SparseDenseAttrs";
  bool sparse_lhs = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("sparse_lhs", &SparseDenseAttrs::sparse_lhs,
                     "the sparse matrix is the left operand, whose rows are the result's"));
  }
};

struct SparseConv2DAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.SparseConv2DAttrs";
  std::string layout = "NHWC";
  Ints kernel_size = {1, 1};
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("layout", &SparseConv2DAttrs::layout, "order of the axes of the data")
            .OneOf("NHWC NCHW"),
        attrs::Field("kernel_size", &SparseConv2DAttrs::kernel_size,
                     "[1, 1] or [3, 3]; the latter with one zero around the image"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_INDEX_SPARSE_ATTRS_H_
