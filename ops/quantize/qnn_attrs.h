// Attributes of quantised operators that the operators on real numbers do not have.
//
// A quantised tensor q with a scale and a zero point stands for (q - zero_point) * scale. Scale and
// zero point have rank 0, or one element per channel along an axis.
#ifndef TENON_OPS_QUANTIZE_QNN_ATTRS_H_
#define TENON_OPS_QUANTIZE_QNN_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct QuantizeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.QuantizeAttrs";
  DataType out_dtype = Int8;
  std::int64_t axis = -1;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("out_dtype", &QuantizeAttrs::out_dtype, "int8, uint8, int16, uint16 or int32")
            .Required(),
        attrs::Field("axis", &QuantizeAttrs::axis, "axis of the channels"));
  }
};

struct DequantizeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.DequantizeAttrs";
  DataType out_dtype = Float32;
  std::int64_t axis = -1;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("out_dtype", &DequantizeAttrs::out_dtype, "float32 or float16"),
        attrs::Field("axis", &DequantizeAttrs::axis, "axis of the channels"));
  }
};

struct RequantizeAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.RequantizeAttrs";
  std::int64_t axis = -1;
  std::string rounding = "None";
  std::string compute_dtype = "None";
  DataType out_dtype = DataType::Void();
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("axis", &RequantizeAttrs::axis, "axis of the channels"),
        attrs::Field("rounding", &RequantizeAttrs::rounding,
                     "of halves: None to even, UPWARD to the greater, TONEAREST away from zero")
            .OneOf("None UPWARD TONEAREST"),
        attrs::Field("compute_dtype", &RequantizeAttrs::compute_dtype,
                     "floating type of the scaled values; None is float64")
            .OneOf("None float32 float64"),
        attrs::Field("out_dtype", &RequantizeAttrs::out_dtype,
                     "int8, uint8, int16, uint16 or int32; int8 when void"));
  }
};

struct QnnBinaryAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.BroadcastAttrs";
  std::int64_t lhs_axis = -1;
  std::int64_t rhs_axis = -1;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("lhs_axis", &QnnBinaryAttrs::lhs_axis, "axis of the first one's channels"),
        attrs::Field("rhs_axis", &QnnBinaryAttrs::rhs_axis, "axis of the second one's channels"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_QUANTIZE_QNN_ATTRS_H_
