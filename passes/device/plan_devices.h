// PlanDevices: finds the device of every value, and inserts copies where devices meet.
//
// A call of an operator has its inputs and its result on one device. on_device fixes the device of
// its input (constrain_body) or of its result (constrain_result), or only marks a place where they
// may differ; device_copy fixes both sides. A value that nothing fixes follows the mark before it,
// or is on `fallback`. The marks become device_copy calls or go. Constants are on the device where
// they are read. When any parameter or result of a function is not on cpu:0, the function gets the
// attributes param_devices (a list) and result_device. Idempotent. Throws InvalidArgument for a
// value that must be on two devices, naming the operator and both. Of a tuple, each field has a
// device and is copied alone. Requires and keeps checked types.
#ifndef TENON_PASSES_DEVICE_PLAN_DEVICES_H_
#define TENON_PASSES_DEVICE_PLAN_DEVICES_H_

#include <optional>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/device.h"

namespace tenon::passes {

ir::Module PlanDevices(const ir::Module& module, const Device& fallback = {});

// The device that param_devices names for each parameter; nothing where it names none.
std::vector<std::optional<Device>> GivenDevices(const ir::FunctionNode& function);

}  // namespace tenon::passes

#endif  // TENON_PASSES_DEVICE_PLAN_DEVICES_H_
