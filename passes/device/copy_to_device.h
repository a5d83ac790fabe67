// A value on another device. Only files inside passes/device/ include this header.
#ifndef TENON_PASSES_DEVICE_COPY_TO_DEVICE_H_
#define TENON_PASSES_DEVICE_COPY_TO_DEVICE_H_

#include "tenon/ir/expr.h"
#include "tenon/support/device.h"

namespace tenon::passes {

// A call of device_copy or, of a tuple, a tuple of one call for each tensor. Requires a checked
// type and keeps it.
ir::Expr CopyToDevice(const ir::Expr& value, const Device& from, const Device& to,
                      const Span& span);

}  // namespace tenon::passes

#endif  // TENON_PASSES_DEVICE_COPY_TO_DEVICE_H_
