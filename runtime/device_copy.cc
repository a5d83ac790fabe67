#include "tenon/runtime/device_copy.h"

#include <cstring>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon::runtime {

bool IsAvailable(const Device& device) { return device.type == DeviceType::kCpu; }

void CopyBetweenDevices(const Device& source_device, const void* source,
                        const Device& target_device, void* target, std::size_t bytes) {
  for (const Device& device : {source_device, target_device}) {
    if (!IsAvailable(device))
      throw Unimplemented(StrCat("there is no memory of ", device.ToString(),
                                 " in this program; cpu:0, cpu:1 and so on can be used"));
  }
  if (bytes > 0) std::memcpy(target, source, bytes);
}

}  // namespace tenon::runtime
