// Attributes of products.
#ifndef TENON_OPS_MATMUL_MATMUL_ATTRS_H_
#define TENON_OPS_MATMUL_MATMUL_ATTRS_H_

#include <cstdint>
#include <optional>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct DenseAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.DenseAttrs";
  std::optional<std::int64_t> units;
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("units", &DenseAttrs::units, "output features; taken from the weight if None")
            .AtLeast(1)
            .NoDefault(),
        attrs::Field("out_dtype", &DenseAttrs::out_dtype,
                     "element type of the sum and the result"));
  }
};

struct MatmulAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.MatmulAttrs";
  std::optional<std::int64_t> units;
  DataType out_dtype = DataType::Void();
  bool transpose_a = false;
  bool transpose_b = false;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("units", &MatmulAttrs::units, "columns of the result").AtLeast(1).NoDefault(),
        attrs::Field("out_dtype", &MatmulAttrs::out_dtype,
                     "element type of the sum and the result"),
        attrs::Field("transpose_a", &MatmulAttrs::transpose_a, "the left operand is transposed"),
        attrs::Field("transpose_b", &MatmulAttrs::transpose_b, "the right operand is transposed"));
  }
};

struct BatchMatmulAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.BatchMatmulAttrs";
  DataType out_dtype = DataType::Void();
  bool transpose_a = false;
  bool transpose_b = false;
  static constexpr auto Fields() {
    return attrs::Fields(attrs::Field("out_dtype", &BatchMatmulAttrs::out_dtype,
                                      "element type of the sum and the result"),
                         attrs::Field("transpose_a", &BatchMatmulAttrs::transpose_a,
                                      "the left operand is transposed"),
                         attrs::Field("transpose_b", &BatchMatmulAttrs::transpose_b,
                                      "the right operand is transposed"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_MATMUL_MATMUL_ATTRS_H_
