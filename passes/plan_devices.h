// PlanDevices: finds for every value the device that it is on, and copies where devices meet.
//
// A call of an operator has its inputs and its result on one device; on_device fixes that of its
// input (constrain_body), of its result (constrain_result), or is the place where they may differ;
// device_copy fixes both sides. What nothing fixes follows the mark before it, or is on `fallback`.
// The marks become device_copy calls or go; constants are wherever they are read. When any
// parameter or result of a function is not on cpu:0, the function says so: param_devices, a list,
// and result_device. Idempotent. Throws InvalidArgument for a value that must be on two devices,
// naming the operator and both. Requires and keeps checked types.
#ifndef TENON_PASSES_PLAN_DEVICES_H_
#define TENON_PASSES_PLAN_DEVICES_H_

#include <optional>
#include <vector>

#include "tenon/ir/module.h"
#include "tenon/support/device.h"

namespace tenon::passes {

ir::Module PlanDevices(const ir::Module& module, const Device& fallback = {});

// What param_devices says, for each parameter; nothing where it says nothing.
std::vector<std::optional<Device>> GivenDevices(const ir::FunctionNode& function);

}  // namespace tenon::passes

#endif  // TENON_PASSES_PLAN_DEVICES_H_
