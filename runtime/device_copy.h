// Copies between devices: one path for every pair, hosts among themselves as well.
//
//   CopyBetweenDevices({.type = DeviceType::kCpu, .index = 0}, from, {.index = 1}, to, bytes);
#ifndef TENON_RUNTIME_DEVICE_COPY_H_
#define TENON_RUNTIME_DEVICE_COPY_H_

#include <cstddef>

#include "tenon/support/device.h"

namespace tenon::runtime {

// Whether this program can use the memory of the device. It can use that of every CPU instance.
bool IsAvailable(const Device& device);

// Throws Unimplemented for a device that is not available, naming it.
void CopyBetweenDevices(const Device& source_device, const void* source,
                        const Device& target_device, void* target, std::size_t bytes);

}  // namespace tenon::runtime

#endif  // TENON_RUNTIME_DEVICE_COPY_H_
