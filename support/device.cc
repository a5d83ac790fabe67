#include "tenon/support/device.h"

#include <array>
#include <utility>

#include "tenon/support/error.h"
#include "tenon/support/strings.h"

namespace tenon {
namespace {

constexpr std::array<std::pair<DeviceType, std::string_view>, 6> kNames = {{
    {DeviceType::kCpu, "cpu"},
    {DeviceType::kCuda, "cuda"},
    {DeviceType::kOpenCl, "opencl"},
    {DeviceType::kVulkan, "vulkan"},
    {DeviceType::kMetal, "metal"},
    {DeviceType::kRocm, "rocm"},
}};

}  // namespace

std::string Device::ToString() const {
  for (const auto& [kind, name] : kNames) {
    if (kind == type) return StrCat(std::string(name), ":", index);
  }
  Unreachable("every kind of device has a name");
}

std::optional<Device> Device::Parse(std::string_view text) {
  const std::size_t colon = text.find(':');
  int index = 0;
  if (colon != std::string_view::npos) {
    const auto number = ParseNumber<int>(text.substr(colon + 1));
    if (!number || *number < 0) return std::nullopt;
    index = *number;
  }
  for (const auto& [kind, name] : kNames) {
    if (text.substr(0, colon) == name) return Device{kind, index};
  }
  return std::nullopt;
}

std::optional<Device> Device::FromNumbers(int type, int index) {
  if (index < 0) return std::nullopt;
  for (const auto& [kind, name] : kNames) {
    if (static_cast<int>(kind) == type) return Device{kind, index};
  }
  return std::nullopt;
}

}  // namespace tenon
