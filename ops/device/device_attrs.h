// Attributes of operators that say where values live. A device is text such as "cpu:1"; an empty
// text means any device.
#ifndef TENON_OPS_DEVICE_DEVICE_ATTRS_H_
#define TENON_OPS_DEVICE_DEVICE_ATTRS_H_

#include <string>

#include "tenon/attrs/attrs.h"

namespace tenon::ops {

struct OnDeviceAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.OnDeviceAttrs";
  std::string virtual_device;
  bool constrain_result = false;
  bool constrain_body = true;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("virtual_device", &OnDeviceAttrs::virtual_device, "such as cpu:1"),
        attrs::Field("constrain_result", &OnDeviceAttrs::constrain_result,
                     "the value that is read from here must be there"),
        attrs::Field("constrain_body", &OnDeviceAttrs::constrain_body,
                     "the input must be computed there"));
  }
};

struct DeviceCopyAttrs {
  static constexpr const char* kTypeKey = "relay.attrs.DeviceCopyAttrs";
  std::string src_virtual_device;
  std::string dst_virtual_device;
  static constexpr auto Fields() {
    return attrs::Fields(
        attrs::Field("src_virtual_device", &DeviceCopyAttrs::src_virtual_device, "copied from"),
        attrs::Field("dst_virtual_device", &DeviceCopyAttrs::dst_virtual_device, "copied to"));
  }
};

}  // namespace tenon::ops

#endif  // TENON_OPS_DEVICE_DEVICE_ATTRS_H_
