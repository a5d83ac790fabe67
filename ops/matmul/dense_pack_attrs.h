// Attributes of a matrix product whose weight is in blocks.
#ifndef TENON_OPS_MATMUL_DENSE_PACK_ATTRS_H_
#define TENON_OPS_MATMUL_DENSE_PACK_ATTRS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "tenon/attrs/field.h"
#include "tenon/support/data_type.h"

namespace tenon::ops {

struct DensePackAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.DensePackAttrs";
  std::optional<std::int64_t> units;
  DataType out_dtype = DataType::Void();
  std::string weight_layout = "NC";
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("units", &DensePackAttrs::units,
                     "output features; taken from the weight if None")
            .AtLeast(1)
            .NoDefault(),
        attrs::Field("out_dtype", &DensePackAttrs::out_dtype,
                     "element type of the sum and the result"),
        attrs::Field("weight_layout", &DensePackAttrs::weight_layout,
                     "NC16n: blocks of 16 output features; NC: blocks of the last extent"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_MATMUL_DENSE_PACK_ATTRS_H_
