// RewriteAnnotatedOps: inserts copies between devices, call by call.
//
// A call that on_device wraps is on that device, every other call on `fallback`. Where a call reads
// the result of a call on another device, a device_copy is inserted, one per value and device. The
// marks go. Inputs and constants are on the device where they are read. PlanDevices, in contrast,
// spreads devices along the graph. Requires and keeps checked types.
//
//   Module placed = RewriteAnnotatedOps(InferType(module), *Device::Parse("cpu"));
#ifndef TENON_PASSES_DEVICE_REWRITE_ANNOTATED_OPS_H_
#define TENON_PASSES_DEVICE_REWRITE_ANNOTATED_OPS_H_

#include "tenon/ir/module.h"
#include "tenon/support/device.h"

namespace tenon::passes {

ir::Module RewriteAnnotatedOps(const ir::Module& module, const Device& fallback);

}  // namespace tenon::passes

#endif  // TENON_PASSES_DEVICE_REWRITE_ANNOTATED_OPS_H_
