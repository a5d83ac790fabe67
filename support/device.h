// Where a value lives: a kind of device, numbered as in DLPack, and which one of that kind.
//
//   Device d = *Device::Parse("cuda:1");  d.ToString() == "cuda:1";  Device() ==
//   *Device::Parse("cpu");
#ifndef TENON_SUPPORT_DEVICE_H_
#define TENON_SUPPORT_DEVICE_H_

#include <compare>
#include <optional>
#include <string>
#include <string_view>

namespace tenon {

enum class DeviceType { kCpu = 1, kCuda = 2, kOpenCl = 4, kVulkan = 7, kMetal = 8, kRocm = 10 };

struct Device {
  DeviceType type = DeviceType::kCpu;
  int index = 0;

  std::string ToString() const;  // "cpu:0"
  // "cpu", "cuda:1"; nothing for text that does not name a device.
  static std::optional<Device> Parse(std::string_view text);
  // By DLPack's number of the kind; nothing for an unknown kind or a negative index.
  static std::optional<Device> FromNumbers(int type, int index);
  friend auto operator<=>(const Device&, const Device&) = default;
};

}  // namespace tenon

#endif  // TENON_SUPPORT_DEVICE_H_
